package scoring_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/google/go-cmp/cmp"

	"tagnet/model"
	"tagnet/model/weights/checkpoint"
	"tagnet/model/weights/parameters"
	"tagnet/pipelines/internal/ask"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/discover"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/preprocess"
	"tagnet/pipelines/internal/score"
	"tagnet/pipelines/internal/scoring"
	"tagnet/pipelines/internal/scoring/scoringtest"
	"tagnet/pipelines/internal/train"
	"tagnet/stages/worker"
)

// grown makes the graph of a trained workspace again, of the ring with a new entity, a new fact to test and more.
func grown(t testing.TB, kind string, more map[string]string) (workspace, prefix string) {
	t.Helper()
	workspace, prefix = scoringtest.Trained(t, kind), map[string]string{"plain": "e", "inductive": "o"}[kind]
	entities := map[string]int{"plain": 60, "inductive": 40}[kind]
	files := pipelinetest.Ring(prefix, entities)
	files["train.txt"] += strings.NewReplacer("PREFIX", prefix).Replace("PREFIXnew\tnext\tPREFIX000\nPREFIX000\tback\tPREFIXnew\n")
	files["test.txt"] += strings.NewReplacer("PREFIX", prefix).Replace("PREFIXnew\tskip\tPREFIX001\n")
	for name, text := range more {
		files[name] += strings.NewReplacer("PREFIX", prefix).Replace(text)
	}
	flags := []string{"--workspace", workspace, "--force", "--dataset", pipelinetest.Dataset(t, files)}
	if prefix == "o" { // whose relations are those of training facts
		training := pipelinetest.Ring("e", 60)
		training["train.txt"] += strings.NewReplacer("PREFIX", "e").Replace(more["train.txt"])
		flags = append(flags[:len(flags)-1], pipelinetest.Dataset(t, training), "--inference", pipelinetest.Dataset(t, files))
	}
	pipelinetest.Succeed(t, preprocess.Pipeline(), flags...)
	return workspace, prefix
}

// results returns the files of a folder of results that do not name the graph.
func results(t testing.TB, workspace, name string) map[string]string {
	files := pipelinetest.Files(t, filepath.Join(workspace, "runs/main", name))
	maps.DeleteFunc(files, func(file, _ string) bool { return file == "manifest.json" || strings.HasSuffix(file, ".lock") })
	return files
}

// TestFactsOfUnknownRelationsAreLeftOut scores with a model that was trained before the graph had a new entity and
// facts of a relation that the model does not know: with the results that it has on the graph without these facts.
func TestFactsOfUnknownRelationsAreLeftOut(t *testing.T) {
	above := map[string]string{
		"train.txt": "PREFIX001\tabove\tPREFIX002\nPREFIX003\tabove\tPREFIX020\nPREFIX003\tzone\tPREFIX004\n",
		"valid.txt": "PREFIX005\tabove\tPREFIX006\n", "test.txt": "PREFIX007\tabove\tPREFIX008\n",
	}
	for _, kind := range []string{"plain", "inductive"} {
		t.Run(kind, func(t *testing.T) {
			with, prefix := grown(t, kind, above)
			without, _ := grown(t, kind, nil)
			pairs := scoringtest.File(t, "pairs.tsv", prefix+"001\t?\t"+prefix+"003\n")
			for name, c := range map[string]line{
				"evaluation/test":       {score.Pipeline(), nil},
				"answers/relation-skip": {ask.Pipeline(), []string{"--relation", "skip", "--explain", "--top_k", "1"}},
				"answers/pairs":         {ask.Pipeline(), []string{"--queries", pairs}}, "facts/all": {discover.Pipeline(), []string{"--top_k", "2"}},
			} {
				out := pipelinetest.Succeed(t, c.pipeline, append(c.flags, "--device", "cpu", "--workspace", with)...)
				for _, want := range []string{
					`the model does not know 2 of the graph's relations ("above", "zone"): their 3 facts are left out, and queries of a split about them`,
					"the model was trained on another graph and may know the answers",
				} {
					if !strings.Contains(out, want) {
						t.Errorf("%s: no %q in\n%s", name, want, out)
					}
				}
				pipelinetest.Succeed(t, c.pipeline, append(c.flags, "--device", "cpu", "--workspace", without)...)
				got := results(t, with, name)
				if len(got) < 2 {
					t.Errorf("%s has the files %q", name, slices.Collect(maps.Keys(got)))
				}
				pipelinetest.Same(t, got, results(t, without, name))
			}
			pipelinetest.Succeed(t, score.Pipeline(), "--workspace", with, "--limit", "5", "--force")
			pipelinetest.Succeed(t, score.Pipeline(), "--workspace", without, "--limit", "5", "--force")
			pipelinetest.Same(t, results(t, with, "evaluation/test"), results(t, without, "evaluation/test"))
			pipelinetest.Fail(t, ask.Pipeline(), pipelinetest.Failure{Code: command.ExitFailure,
				Says: []string{`queries.tsv:1: the model was not trained with the relation "above" of the graph`}},
				"--workspace", with, "--queries", scoringtest.File(t, "queries.tsv", prefix+"001\tabove\n"))

			query := model.Query{Source: prefix + "new", Relation: "skip"}
			var answers [2]model.Answers
			for i, w := range []string{with, without} {
				m, err := model.Open(t.Context(), w)
				if err != nil {
					t.Fatal(err)
				}
				if want := []string{"back", "next", "skip"}; !slices.Equal(m.Relations(), want) {
					t.Errorf("the relations of the model are %q, want %q", m.Relations(), want)
				}
				if answers[i], err = m.Ask(t.Context(), query, 10); err != nil {
					t.Fatal(err)
				}
				_, err = m.Ask(t.Context(), model.Query{Source: prefix + "001", Relation: "above"}, 1)
				if unknown := new(model.UnknownNameError); !errors.As(err, &unknown) || unknown.Untrained != (w == with) {
					t.Errorf("a query about a relation that the model does not know: %v", err)
				}
			}
			if diff := cmp.Diff(answers[1], answers[0]); diff != "" || answers[0].List[0].Probability == nil {
				t.Errorf("answers, with probabilities (-without +with the facts):\n%s", diff)
			}
		})
	}
}

// TestReplacedMeanwhile replaces the graph or the checkpoint while a folder is made: the error says so, instead of what
// a step misses.
func TestReplacedMeanwhile(t *testing.T) {
	graph := line{preprocess.Pipeline(), []string{"--dataset", pipelinetest.Dataset(t, pipelinetest.Ring("e", 50))}}
	training := func() line {
		return line{train.Pipeline(), []string{"--epochs", "1", "--layers", "2", "--dim", "8", "--negatives", "8", "--seed", "5"}}
	}
	for name, c := range map[string]struct {
		other line
		flags []string
		want  string
	}{
		"nothing": {want: "index out of range\n"},
		"graph":   {graph, nil, "W/graph was replaced while W/runs/main/made was made from it: run again\n"},
		"checkpoint": {training(), nil, "epoch-001 of W/runs/main/checkpoints was removed or replaced, as by a training, while W/runs/main/made was " +
			"made from it: run again\n"},
		"no checkpoint": {training(), []string{"--model", "zero"}, "index out of range\n"},
		"other checkpoint": {training(), []string{"--model", "last"},
			"epoch-003 of W/runs/main/checkpoints was removed or replaced, as by a training, while W/runs/main/made was made from it: run again\n"},
	} {
		t.Run(name, func(t *testing.T) {
			w := scoringtest.Trained(t, "plain")
			code, stderr := writing(t, func(context.Context, *scoring.Run) error {
				if c.other.flags != nil {
					pipelinetest.Succeed(t, c.other.pipeline, append(c.other.flags, "--workspace", w, "--force")...)
				}
				return errors.New("index out of range")
			}, append(c.flags, "--workspace", w)...)
			if want := strings.ReplaceAll(c.want, "W/", w+"/"); code != command.ExitFailure || !strings.HasSuffix(stderr, want) {
				t.Errorf("exit code %d: %s, want %s", code, stderr, want)
			}
		})
	}
}

// writing runs a command that makes a folder with the work of a job, and returns its exit code and what it
// printed on standard error.
func writing(t *testing.T, work func(context.Context, *scoring.Run) error, flags ...string) (code int, stderr string) {
	t.Helper()
	f := &scoring.Flags{}
	p := command.Pipeline{Name: "made", Flags: func(set *flag.FlagSet) { f.Register(set, "") }}
	p.Run = func(ctx context.Context, e *command.Environment) error {
		r, err := f.Open(ctx, e, "test", false)
		if err != nil {
			return err
		}
		output := r.NewOutput("made", "runs/main/made", 1, nil, func() []*beam.Pipeline { return nil })
		_, err = r.Write(ctx, &output, func() (map[string]int64, error) { return nil, work(ctx, r) })
		return err
	}
	code, _, stderr = pipelinetest.Run(t, p, flags...)
	return code, stderr
}

// TestWeightsAreReadOnce holds that a worker in the process of the command computes with the parameters that the
// command has opened, or saved beside its results.
func TestWeightsAreReadOnce(t *testing.T) {
	w := scoringtest.Trained(t, "plain")
	for _, name := range []string{"best", "zero"} {
		code, stderr := writing(t, func(ctx context.Context, r *scoring.Run) error {
			m, err := worker.Model(ctx, r.Model.Folder, r.Model.Record.Name(), r.Loaded)
			if err == nil && m.Parameters != r.Model.Parameters {
				t.Errorf("%s: a worker reads the weights again", name)
			}
			return err
		}, "--workspace", w, "--model", name, "--force")
		if code != command.ExitOK {
			t.Errorf("%s: exit code %d, %s", name, code, stderr)
		}
	}
}

// TestEntitiesOfUnknownRelationsAloneAreLeftOut adds facts of a relation that the model does not know between new
// entities: they change no score, whatever split they are in. They are entities all the same, which ranks count.
func TestEntitiesOfUnknownRelationsAloneAreLeftOut(t *testing.T) {
	above := map[string]string{"valid.txt": "PREFIXv1\tabove\tPREFIXv2\n", "test.txt": "PREFIXt1\tabove\tPREFIXt2\nPREFIXa01\tabove\tPREFIXt1\n"}
	for i := range 30 {
		above["train.txt"] += fmt.Sprintf("PREFIXa%02d\tabove\tPREFIXa%02d\n", i, i+1)
	}
	for _, kind := range []string{"plain", "inductive"} {
		var answers []model.Answers
		for _, more := range []map[string]string{nil, above} {
			w, prefix := grown(t, kind, more)
			m, err := model.Open(t.Context(), w)
			if err != nil {
				t.Fatal(err)
			}
			got, err := m.Ask(t.Context(), model.Query{Source: prefix + "010", Relation: "skip"}, 10)
			if err != nil {
				t.Fatal(err)
			}
			for i := range got.List {
				got.List[i].Rank, got.List[i].OtherRank = 0, 0
			}
			answers = append(answers, got)
		}
		if diff := cmp.Diff(answers[0], answers[1]); diff != "" {
			t.Errorf("%s: answers (-without +with the facts):\n%s", kind, diff)
		}
	}
}

// TestModelLeavesOutUnknownRelations does so with a model that tagnet comes with.
func TestModelLeavesOutUnknownRelations(t *testing.T) {
	w := t.TempDir()
	files := pipelinetest.RenamedRing("e", 60, "above", "_hypernym", "_also_see")
	pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", w, "--dataset", pipelinetest.Dataset(t, files))
	out := pipelinetest.Succeed(t, score.Pipeline(), "--workspace", w, "--model", "wn18rr_v1")
	if want := `the model does not know 1 of the graph's relations ("above"): their 60 facts are left out`; !strings.Contains(out, want) {
		t.Errorf("no %q in\n%s", want, out)
	}
}

// TestBundlesRefuseUnknownRelations holds that parts of the graph are not read for a model that does not know all
// relations in them.
func TestBundlesRefuseUnknownRelations(t *testing.T) {
	w, _ := grown(t, "plain", map[string]string{"train.txt": "PREFIX001\tabove\tPREFIX002\n"})
	pipelinetest.Fail(t, score.Pipeline(), pipelinetest.Failure{Code: command.ExitFailure, Says: []string{`("above")`, "leave --bundles out"}}, "--workspace",
		w, "--bundles", "--reach", "20")
}

// TestRelationsAreMatchedByName scores with the weights of relations in another order.
func TestRelationsAreMatchedByName(t *testing.T) {
	w := scoringtest.Trained(t, "plain")
	pipelinetest.Succeed(t, score.Pipeline(), "--workspace", w)
	want := rankingsOf(results(t, w, "evaluation/test"))
	folder, reversed := checkpoint.Folder(filepath.Join(w, "runs/main/checkpoints")), checkpoint.Folder(t.TempDir())
	r, weights, err := folder.Load(t.Context(), "best")
	if err != nil {
		t.Fatal(err)
	}
	relations := slices.Clone(r.Vocabulary.Relations)
	slices.Reverse(relations)
	of := parameters.OfRelations(r.Configuration)
	for i, tensor := range weights {
		if !of[i] {
			continue
		}
		n := len(relations)
		block := len(tensor.Data) / (2 * n)
		weights[i].Data = nil
		for row := range 2 * n { // those of the relations, then those of their inverses
			from := row/n*n + n - 1 - row%n
			weights[i].Data = append(weights[i].Data, tensor.Data[from*block:][:block]...)
		}
	}
	r.Vocabulary.Relations = relations
	if err := reversed.Save(t.Context(), r, weights, nil); err != nil {
		t.Fatal(err)
	}
	pipelinetest.Succeed(t, score.Pipeline(), "--workspace", w, "--force", "--model", filepath.Join(string(reversed), r.Name()+".safetensors"))
	pipelinetest.Same(t, rankingsOf(results(t, w, "evaluation/test")), want)
}

// rankingsOf returns the files of the table of ranks.
func rankingsOf(files map[string]string) map[string]string {
	maps.DeleteFunc(files, func(file, _ string) bool { return !strings.HasPrefix(file, "rankings/") })
	return files
}
