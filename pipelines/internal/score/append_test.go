package score

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/model"
	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/distances"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/preprocess"
	"tagnet/pipelines/internal/train"
)

// arrived are facts of a new entity of the ring of a prefix.
func arrived(prefix string) string {
	return prefix + "new\tnext\t" + prefix + "000\n" + prefix + "000\tback\t" + prefix + "new\n"
}

// TestAppendedFacts scores with a model that was trained before facts of a new entity were appended. Its answers are those of the same
// checkpoint over the graph of all facts, and everything that was made before is outdated.
func TestAppendedFacts(t *testing.T) {
	for _, kind := range []string{"plain", "inductive"} {
		t.Run(kind, func(t *testing.T) {
			w := trained(t, kind)
			pipelinetest.Succeed(t, distances.Pipeline(), "--workspace", w, "--split", "test")
			pipelinetest.Succeed(t, Pipeline(), "--workspace", w)
			prefix := map[string]string{"plain": "e", "inductive": "o"}[kind]
			out := pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", w, "--append", file(t, "more.tsv", arrived(prefix)))
			if !strings.Contains(out, "models that stay valid, with the weights of the earlier graph: main\n") {
				t.Errorf("%s", out)
			}
			for _, p := range []command.Pipeline{distances.Pipeline(), Pipeline(), train.Pipeline()} {
				flags := []string{"--workspace", w}
				if p.Name == "distances" {
					flags = append(flags, "--split", "test")
				}
				if p.Name == "train" {
					flags = append(flags, "--layers", "3", "--dim", "8", "--epochs", "3", "--learning_rate", "0.02", "--negatives", "8", "--resume")
				}
				pipelinetest.Fail(t, p, pipelinetest.Failure{Code: command.ExitFailure, Says: []string{"was made from another version of " + w + "/graph", "--force overwrites it"}}, flags...)
			}
			unfinished := filepath.Join(w, "runs/main/checkpoints/manifest.json")
			complete := pipelinetest.Read(t, unfinished)
			pipelinetest.Remove(t, unfinished)
			pipelinetest.Fail(t, train.Pipeline(), pipelinetest.Failure{Code: command.ExitFailure, Says: []string{"preprocess --append has added facts since, and a training stays on one graph"}}, "--workspace", w, "--resume")
			pipelinetest.Write(t, unfinished, complete)
			out = pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--force")
			if want := "before preprocess --append added 2 facts"; !strings.Contains(out, want) || strings.Contains(out, "no probabilities") {
				t.Errorf("%s: want %q, and probabilities", out, want)
			}

			query := model.Query{Source: prefix + "new", Relation: "skip"}
			appended, err := model.Open(t.Context(), w)
			if err != nil {
				t.Fatal(err)
			}
			got, err := appended.Ask(t.Context(), query, 10)
			if err != nil {
				t.Fatal(err)
			}
			count := map[string]int{"plain": 60, "inductive": 40}[kind]
			files := pipelinetest.Ring(prefix, count)
			files["train.txt"] += arrived(prefix)
			var all model.Facts
			for name, into := range map[string]*[]model.Triple{"train": &all.Train, "valid": &all.Valid, "test": &all.Test} {
				if *into, err = model.ReadTriples(t.Context(), file(t, name, files[name+".txt"])); err != nil {
					t.Fatal(err)
				}
			}
			whole, err := model.LoadFacts(t.Context(), all, filepath.Join(w, "runs/main/checkpoints/best"))
			if err != nil {
				t.Fatal(err)
			}
			want, err := whole.Ask(t.Context(), query, 10)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" || got[0].Probability == nil {
				t.Errorf("answers, with probabilities (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAppendedRelation appends a fact of a relation that the model has not seen.
func TestAppendedRelation(t *testing.T) {
	w := trained(t, "plain")
	out := pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", w, "--append", file(t, "more.tsv", "e001\tabove\te002\n"))
	for _, want := range []string{"new relations: above\n", `the model of the run main does not fit the new graph: it never saw the relation "above"; `} {
		if !strings.Contains(out, want) {
			t.Errorf("%s: want %q", out, want)
		}
	}
	pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{
		Code: command.ExitFailure, Says: []string{`it never saw the relation "above"; preprocess --append has added facts since: go run ./pipelines/train --workspace ` + w + " --force with the flags it had"},
	}, "--workspace", w)
}

// TestInductiveAppendRefusesRelations names the line of a fact with a relation that no training fact has.
func TestInductiveAppendRefusesRelations(t *testing.T) {
	w := trained(t, "inductive")
	before := pipelinetest.Files(t, w)
	more := file(t, "more.tsv", arrived("o")+"o001\tabove\to002\n")
	pipelinetest.Fail(t, preprocess.Pipeline(), pipelinetest.Failure{Code: command.ExitFailure, Begin: more + `:3: relation "above" is in no training fact`}, "--workspace", w, "--append", more)
	pipelinetest.Same(t, pipelinetest.Files(t, w), before)
	pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", w, "--append", more, "--on_bad_line", "reject")
	if text := pipelinetest.Files(t, filepath.Join(w, "graph"))["rejects.tsv"]; !strings.HasPrefix(strings.SplitAfter(text, "\n")[1], more+"\t3\trelation ") {
		t.Errorf("rejects.tsv: %q", text)
	}
}
