package discover

import (
	stdcmp "cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/storage"
	"tagnet/formats/storage/storagetest"
	"tagnet/formats/workspace/metrics"
	"tagnet/formats/workspace/parquet"
	"tagnet/model"
	"tagnet/model/answer/discovery"
	"tagnet/model/answer/probability"
	modelgraph "tagnet/model/graph"
	"tagnet/model/graph/kg"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/preprocess"
	"tagnet/pipelines/internal/probabilities"
	"tagnet/pipelines/internal/scoring/scoringtest"
	"tagnet/pipelines/internal/train"
	"tagnet/stages/evaluation"
	stage "tagnet/stages/predict"
	"tagnet/stages/predict/discover"
	"tagnet/stages/stagetest"
)

func TestMain(m *testing.M) { os.Exit(pipelinetest.Main(m, Pipeline())) }

// factRows returns the list in a folder of answers.
func factRows(t *testing.T, w, name string) []parquet.Fact {
	t.Helper()
	return stagetest.Rows[parquet.Fact](t, filepath.Join(w, "runs/main/facts", name, discover.Table))
}

// looped returns a workspace whose model is of a ring with loops and a symmetric relation.
func looped(t *testing.T) string {
	t.Helper()
	return pipelinetest.Template(t, "looped", func(workspace string) {
		files := pipelinetest.Ring("e", 60)
		for i := range 60 {
			if i%3 > 0 {
				files["train.txt"] += fmt.Sprintf("e%03d\tlikes\te%03d\n", i, i)
			}
			if other := (i + 7) % 60; i%4 > 0 {
				files["train.txt"] += fmt.Sprintf("e%03d\tknows\te%03d\ne%03d\tknows\te%03d\n", i, other, other, i)
			}
		}
		pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", workspace, "--dataset", pipelinetest.Dataset(t, files))
		pipelinetest.Succeed(t, train.Pipeline(), "--workspace", workspace, "--layers", "3", "--dim", "8", "--epochs", "1", "--negatives", "8")
	})
}

// asked are queries whose best candidates are listed.
type asked struct {
	sources, relations, among []int32 // nil is all
}

// listed returns the list that a model makes of the best new answers of some queries, all held in memory, as the table
// has it, and the number of queries that are queried backward.
func listed(t *testing.T, w, graph string, best int, all ...asked) (rows []parquet.Fact, backward int) {
	t.Helper()
	ctx := t.Context()
	m, estimator := scoringtest.Model(t, w, graph)
	facts := map[modelgraph.Fact]probability.Observation{}
	answers := map[modelgraph.Query]map[int32]bool{} // that are listed
	for _, a := range all {
		var queries []modelgraph.Query
		for _, source := range upTo(a.sources, m.Graph.Entities) {
			for _, relation := range upTo(a.relations, m.Graph.RelationCount()) {
				queries = append(queries, modelgraph.Query{Source: source, Relation: relation, Answer: modelgraph.None})
			}
		}
		observed, err := m.NewCandidates(ctx, queries, best, a.among, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, list := range observed {
			answers[queries[i]] = map[int32]bool{}
			for _, o := range list {
				if before, seen := facts[o.Fact]; seen && before != o {
					t.Errorf("%+v, and by its other query %+v", before, o)
				}
				facts[o.Fact] = o
				tail := o.Head == queries[i].Source && o.Relation == queries[i].Relation
				answers[queries[i]][map[bool]int32{true: o.Tail, false: o.Head}[tail]] = true
			}
		}
	}
	asked := map[modelgraph.Query]bool{}
	var entries []discovery.Entry
	for _, o := range facts {
		e := discovery.Entry{Observation: o}
		if estimator != nil {
			e.Estimate = estimator.Estimate(&o)
		}
		entries = append(entries, e)
		tail, head := o.Queries(int32(m.Graph.BaseRelations))
		for _, q := range []modelgraph.Query{tail, head} {
			answer := q.Answer
			if q.Answer = modelgraph.None; !answers[q][answer] {
				asked[q] = true
			}
		}
	}
	slices.SortFunc(entries, func(a, b discovery.Entry) int { return a.Compare(&b) })
	names := evaluation.Names{Entity: func(id int32) string { return m.View.Entities[id] }, Relations: m.KG.Relations}
	return names.Facts(entries, 0), len(asked)
}

// upTo returns a list, or all numbers below n.
func upTo(list []int32, n int) []int32 {
	if list != nil {
		return list
	}
	all := make([]int32, n)
	for i := range all {
		all[i] = int32(i)
	}
	return all
}

// TestFacts compares lists with those of all candidates in memory: of both directions and one, with lists of entities,
// of a graph with loops and a symmetric relation, and of one that lacks the held-out facts.
func TestFacts(t *testing.T) {
	fizz := []int32{} // of the type, every third entity
	for i := int32(0); i < 60; i += 3 {
		fizz = append(fizz, i)
	}
	inverse := func(relations ...int32) []int32 { // of three relations
		for i := range relations {
			relations[i] += 3
		}
		return relations
	}
	for name, c := range map[string]struct {
		kind  string
		flags []string
		k     int
		graph string
		asked []asked
	}{
		"large":     {kind: "large", flags: []string{"--relation", "skip", "--top_k", "5"}, k: 5, asked: []asked{{relations: []int32{2, 5}}}},
		"inductive": {kind: "inductive", flags: []string{"--relation", "next", "--top_k", "5"}, k: 5, asked: []asked{{relations: []int32{1, 4}}}},
		"one each":  {kind: "plain", flags: []string{"--top_k", "1"}, k: 1, asked: []asked{{}}},
		"all pairs": {kind: "plain", flags: []string{"--relation", "skip", "--top_k", "100"}, k: 100, asked: []asked{{relations: []int32{2, 5}}}},
		"loops":     {kind: "looped", flags: []string{"--top_k", "4"}, k: 4, asked: []asked{{}}},
		"training": {kind: "plain", flags: []string{"--relation", "back", "--top_k", "3", "--graph", "train"}, k: 3, graph: "test",
			asked: []asked{{relations: []int32{0, 3}}}},
		"typed": {
			kind: "typed", flags: []string{"--relation", "next,skip", "--top_k", "3", "--sources", "type:Fizz", "--candidates", "type:Fizz"}, k: 3,
			asked: []asked{{fizz, []int32{1, 2}, fizz}, {fizz, inverse(1, 2), fizz}},
		},
		"of heads": {kind: "typed", flags: []string{"--top_k", "3", "--sources", "type:Fizz"}, k: 3, asked: []asked{{fizz, []int32{0, 1, 2}, nil}}},
		"of tails": {kind: "typed", flags: []string{"--relation", "back", "--top_k", "3", "--candidates", "type:Fizz"}, k: 3,
			asked: []asked{{fizz, inverse(0), nil}}},
	} {
		t.Run(name, func(t *testing.T) {
			var w string
			if w = looped(t); c.kind != "looped" {
				w = scoringtest.Trained(t, c.kind)
			}
			pipelinetest.Succeed(t, Pipeline(), append([]string{"--workspace", w, "--most", "100000", "--output", "list"}, c.flags...)...)
			want, backward := listed(t, w, stdcmp.Or(c.graph, kg.All), c.k, c.asked...)
			got := factRows(t, w, "list")
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("(-want +got):\n%.4000s", d)
			}
			if c.graph == "" {
				storagetest.EveryField(t, got)
			}
			if len(got) < 50 || (got[0].Probability == nil) != (c.graph != "") {
				t.Errorf("%d facts, the first is %+v", len(got), got[0])
			}
			checkDiscovery(t, w, min(c.k, 60), got, backward)
		})
	}
}

// checkDiscovery checks facts.json of a list of all candidates, and that nothing else is left in the folder.
func checkDiscovery(t *testing.T, w string, k int, got []parquet.Fact, backward int) {
	t.Helper()
	folder := filepath.Join(w, "runs/main/facts/list")
	d, err := storage.ReadJSON[metrics.Discovery](t.Context(), filepath.Join(folder, metrics.DiscoveryFile))
	if err != nil || d.TopK != k {
		t.Errorf("%+v, error %v", d, err)
	}
	if d.Listed != int64(len(got)) || d.Candidates != d.Listed {
		t.Errorf("%d facts of %d candidates, want %d", d.Listed, d.Candidates, len(got))
	}
	if d.BackwardQueries != int64(backward) {
		t.Errorf("%d queries were asked backward, want %d", d.BackwardQueries, backward)
	}
	if p := d.Probabilities; (p == nil) != (got[0].Probability == nil) || p != nil && p.Missing != probability.DefaultMissing {
		t.Errorf("probabilities presume %+v", p)
	}
	for name := range pipelinetest.Files(t, folder) {
		if first, _, _ := strings.Cut(filepath.ToSlash(name), "/"); !slices.Contains([]string{"facts", "facts.tsv", "facts.json", "rules.tsv", "manifest.json"},
			first) {
			t.Errorf("%s is left", name)
		}
	}
}

// TestFactsAreMadeOnce checks that a list that is complete is only shown, with what was said of it.
func TestFactsAreMadeOnce(t *testing.T) {
	w := scoringtest.Trained(t, "plain")
	list := []string{"--workspace", w, "--top_k", "2"}
	first := pipelinetest.Succeed(t, Pipeline(), list...)
	again := pipelinetest.Succeed(t, Pipeline(), list...)
	if strings.Contains(again, "wrote ") {
		t.Errorf("the list is made again:\n%s", again)
	}
	for _, line := range []string{"probabilities presume that 5.0% of the facts are missing", "queries that were asked backward: "} {
		if strings.Count(first, line) != 1 || strings.Count(again, line) != 1 {
			t.Errorf("no %q, or several, in\n%s\nand\n%s", line, first, again)
		}
	}
	found := pipelinetest.Read(t, w, "runs/main/facts/all", probabilities.RulesFile)
	if !strings.HasPrefix(found, "kind\trelation\trule\t") || !strings.Contains(found, "\nrule\tback\t~next\t") {
		t.Errorf("%s is\n%s", probabilities.RulesFile, found)
	}
}

// TestFactsOfTypes checks that a list, like one of the library, has types of entities only if --relation names theirs.
func TestFactsOfTypes(t *testing.T) {
	w := pipelinetest.Template(t, "is_a", func(workspace string) {
		files := pipelinetest.Ring("e", 60)
		for i := range 40 {
			files["train.txt"] += fmt.Sprintf("e%03d\tis_a\tkind%d\n", i, i%3)
		}
		pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", workspace, "--dataset", pipelinetest.Dataset(t, files), "--type_relation", "is_a")
		pipelinetest.Succeed(t, train.Pipeline(), "--workspace", workspace, "--layers", "2", "--dim", "4", "--epochs", "1", "--negatives", "4")
	})
	says := "facts of is_a, the relation of types, are not listed unless --relation names it, as all,is_a\n"
	for relation, want := range map[string][]string{
		"all": {"back", "next", "skip"}, "all,is_a": {"back", "is_a", "next", "skip"}, "is_a": {"is_a"}, "all,-back": {"next", "skip"},
	} {
		out := pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--relation", relation, "--output", "list", "--force")
		if got := relationsOf(factRows(t, w, "list")); !slices.Equal(got, want) || strings.Contains(out, says) != !slices.Contains(want, "is_a") {
			t.Errorf("--relation %s lists facts of %v\n%s", relation, got, out)
		}
	}
	m, err := model.Open(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	list, err := m.Discover(t.Context(), model.Discovery{})
	if err != nil || len(list) == 0 || slices.ContainsFunc(list, func(f model.ScoredTriple) bool { return f.Relation == "is_a" }) {
		t.Errorf("%d facts, some of is_a: %v, error %v", len(list), list[:min(3, len(list))], err)
	}
}

// relationsOf returns the relations of facts, in their order.
func relationsOf(facts []parquet.Fact) []string {
	of := map[string]bool{}
	for _, f := range facts {
		of[f.Relation] = true
	}
	return slices.Sorted(maps.Keys(of))
}

// TestBoundsOfFacts checks that the number of facts and the lowest probability bound a list, and that what it has is
// the same however it is computed.
func TestBoundsOfFacts(t *testing.T) {
	w := pipelinetest.Template(t, "lacking", func(workspace string) { // facts of a rule
		files := pipelinetest.Ring("e", 150)
		delete(files, "test.txt")
		pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", workspace, "--dataset", pipelinetest.Dataset(t, files))
		pipelinetest.Succeed(t, train.Pipeline(), "--workspace", workspace, "--layers", "3", "--dim", "8", "--epochs", "3", "--learning_rate", "0.02",
			"--negatives", "8")
	})
	ask := []string{"--workspace", w, "--relation", "next,skip", "--top_k", "4", "--force"}
	first := pipelinetest.Succeed(t, Pipeline(), ask...)
	all, found := factRows(t, w, "next-skip"), pipelinetest.Read(t, w, "runs/main/facts/next-skip", probabilities.RulesFile)
	_, lacks, _ := strings.Cut(first, "what the graph lacks by its rules:\n")
	if again := pipelinetest.Succeed(t, Pipeline(), ask[:len(ask)-1]...); lacks == "" || !strings.Contains(again, strings.SplitAfter(lacks, "\n")[0]) {
		t.Errorf("no findings in\n%s\nand\n%s\nof\n%s", first, again, found)
	}
	pipelinetest.Remove(t, filepath.Join(w, "probabilities"))
	pipelinetest.Succeed(t, Pipeline(), append(ask, "--threads", "3", "--most", "7")...)
	pipelinetest.SameText(t, "rules with other threads", pipelinetest.Read(t, w, "runs/main/facts/next-skip", probabilities.RulesFile), found)
	if d := cmp.Diff(all[:7], factRows(t, w, "next-skip")); d != "" {
		t.Error(d)
	}
	least := *all[0].Probability
	more := slices.IndexFunc(all, func(f parquet.Fact) bool { return *f.Probability < least })
	pipelinetest.Succeed(t, Pipeline(), append(ask, "--threshold", fmt.Sprint(least))...)
	if d := cmp.Diff(all[:max(0, more)], factRows(t, w, "next-skip")); d != "" || more < 1 {
		t.Errorf("%d facts have a probability of %v or more\n%s", more, least, d)
	}
	out := pipelinetest.Succeed(t, Pipeline(), append(ask, "--threshold", "0.9999999")...)
	if rows := factRows(t, w, "next-skip"); len(rows) > 0 || !strings.Contains(out, "no new fact has a probability of --threshold 0.9999999 or more\n") {
		t.Errorf("%d facts\n%s", len(rows), out)
	}
}

// TestMissingOfARelation checks what is recorded of shares, and that a list made with other ones is another list.
func TestMissingOfARelation(t *testing.T) {
	w := scoringtest.Trained(t, "plain")
	list := []string{"--workspace", w, "--top_k", "3", "--output", "list", "--missing", ".1", "--missing", "skip=0.4"}
	pipelinetest.Succeed(t, Pipeline(), list...)
	d, err := storage.ReadJSON[metrics.Discovery](t.Context(), filepath.Join(w, "runs/main/facts/list", metrics.DiscoveryFile))
	if err != nil {
		t.Fatal(err)
	}
	p := d.Probabilities
	if p.Missing != .1 || !maps.Equal(p.Shares, map[string]float64{"skip": .4}) || len(p.Most) == 0 || slices.Min(slices.Collect(maps.Values(p.Most))) <= 0 {
		t.Errorf("probabilities presume %+v", p)
	}
	made := pipelinetest.Read(t, w, "runs/main/facts/list", "manifest.json")
	for _, want := range []string{`"missing":0.1`, `"missing_by_relation":{"skip":0.4}`} {
		if text := strings.Join(strings.Fields(made), ""); !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	if out := pipelinetest.Succeed(t, Pipeline(), list...); strings.Contains(out, "wrote ") {
		t.Errorf("the list is made again:\n%s", out)
	}
	pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: 1, Says: []string{"missing_by_relation"}}, append(list, "--missing", "skip=.5")...)
	pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: 2, Begin: `--missing: relation "next" has too few facts`},
		append(list, "--missing", "next=2")...)
}

// TestFactsWithoutProbabilities checks that a list without probabilities says so, and is ordered by the lower score.
func TestFactsWithoutProbabilities(t *testing.T) {
	few := pipelinetest.Template(t, "few", func(workspace string) {
		pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", workspace,
			"--dataset", scoringtest.File(t, "facts.tsv", "a\tr\tb\nb\tr\tc\nc\ts\ta\nc\tr\td\n"))
		pipelinetest.Succeed(t, train.Pipeline(), "--workspace", workspace, "--layers", "2", "--dim", "4", "--epochs", "1", "--negatives", "2")
	})
	for _, c := range []struct {
		workspace string
		flags     []string
		says      string
	}{
		{few, nil, "answers have scores, but no probabilities: "},
		{scoringtest.Trained(t, "plain"), []string{"--graph", "train", "--relation", "skip", "--top_k", "3"}, "which --graph train leaves out"},
	} {
		ask := append([]string{"--workspace", c.workspace, "--output", "list", "--force"}, c.flags...)
		out := pipelinetest.Succeed(t, Pipeline(), ask...)
		for _, line := range []string{c.says, "the list is in the order of the lower one of a fact's two scores\n"} {
			if strings.Count(out, line) != 1 {
				t.Errorf("no %q, or several, in\n%s", line, out)
			}
		}
		got := factRows(t, c.workspace, "list")
		for i, f := range got {
			if f.Probability != nil {
				t.Errorf("%+v has a probability", f)
			}
			if i > 0 && min(f.TailScore, f.HeadScore) > min(got[i-1].TailScore, got[i-1].HeadScore) {
				t.Errorf("%+v after %+v", f, got[i-1])
			}
		}
		if len(got) == 0 {
			t.Error("no facts")
		}
		out = pipelinetest.Succeed(t, Pipeline(), append(ask, "--threshold", ".5")...)
		if !strings.Contains(out, "scores, and --threshold plays no part") || len(factRows(t, c.workspace, "list")) != len(got) {
			t.Error(out)
		}
	}
}

// TestFactsOfNoAnswers checks that a list of queries without a candidate is empty.
func TestFactsOfNoAnswers(t *testing.T) {
	w := scoringtest.Trained(t, "plain")
	one := scoringtest.File(t, "one.txt", "e001\n")
	pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--relation", "next", "--sources", one, "--candidates", one, "--explain", "--output", "list")
	if got := factRows(t, w, "list"); len(got) > 0 {
		t.Errorf("%d facts of an entity with itself", len(got))
	}
	if rows := stagetest.Rows[parquet.Explanation](t, filepath.Join(w, "runs/main/facts/list", stage.ExplanationsTable)); len(rows) > 0 {
		t.Errorf("%d explanations of no facts", len(rows))
	}
}

// TestExplainFacts explains the facts of a list, and compares with the library.
func TestExplainFacts(t *testing.T) {
	w := scoringtest.Trained(t, "plain")
	out := pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--top_k", "3", "--most", "200", "--explain", "--paths", "2")
	folder := filepath.Join(w, "runs/main/facts/all")
	m, err := model.Open(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	rows, explained := stagetest.Rows[parquet.Explanation](t, filepath.Join(folder, stage.ExplanationsTable)), 0
	for _, f := range factRows(t, w, "all") {
		found, err := m.Explain(t.Context(), model.Query{Source: f.Head, Relation: f.Relation}, f.Tail, 10)
		var texts, printed []string
		for _, reason := range found.Reasons {
			texts, printed = append(texts, reason.Text()), append(printed, reason.String())
		}
		for _, path := range found.Paths {
			texts, printed = append(texts, path.Text()), append(printed, path.String())
		}
		if err != nil || len(texts) > len(rows) {
			t.Fatalf("%+v: %d reasons for %d rows, error %v", f, len(texts), len(rows), err)
		}
		for i, want := range texts {
			r := rows[i]
			if r.Query != f.Position || r.Source != f.Head || r.Relation != f.Relation || r.Direction != metrics.Tail || r.Entity != f.Tail ||
				r.Path != int32(i+1) || r.Text != want {
				t.Fatalf("%+v is explained by %+v, want %v", f, r, want)
			}
			if f.Position <= 20 && i < 2 && !strings.Contains(out, printed[i]+"\n") {
				t.Errorf("a reason of fact %d is not printed: %s\n%s", f.Position, printed[i], out)
			}
		}
		rows = rows[len(texts):]
		explained += min(1, len(texts))
	}
	if len(rows) > 0 || explained < 100 {
		t.Errorf("%d rows too many; %d facts are explained", len(rows), explained)
	}
	if !strings.Contains(out, "wrote "+filepath.Join(folder, stage.ExplanationsFile)) {
		t.Error(out)
	}
}

// TestMistakes checks the values of flags.
func TestMistakes(t *testing.T) {
	w := scoringtest.Trained(t, "plain")
	for _, c := range []struct {
		flags []string
		says  string
	}{
		{[]string{"--relation", "~next"}, "--relation: a list has no direction"},
		{[]string{"--relation", "nixt"}, `--relation: unknown relation "nixt"; closest: "next"`},
		{[]string{"--relation", ""}, `--relation is ""`},
		{[]string{"--most", "0"}, "--most is 0: want 1 to 10000000"},
		{[]string{"--threshold", "1"}, "--threshold is 1: want 0 or more, less than 1"},
		{[]string{"--missing", "0"}, `--missing is "0": want a share of the graph's facts, more than 0 and at most 1`},
		{[]string{"--top_k", "0"}, "--top_k is 0: want 1 or more"},
	} {
		pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: 2, Says: []string{c.says}}, append([]string{"--workspace", w}, c.flags...)...)
	}
}

// TestGraphsOfFacts compares the pipelines of a list with golden files.
func TestGraphsOfFacts(t *testing.T) {
	command.InitBeam()
	place := discover.SpillFolder{Folder: "mem://list/candidates"}
	list := discover.ListParams{Spills: place, Of: []string{"both"}, Folder: "mem://list"}
	pass, backward := discover.CandidatesParams{Spills: place, Name: "both"}, discover.BackwardParams{Spills: place, Of: []string{"both"}}
	pipelinetest.Golden(t, "candidates", pipelinetest.Graph(t, command.BeamPipeline(discover.Candidates, pass)))
	pipelinetest.Golden(t, "backward", pipelinetest.Graph(t, command.BeamPipeline(discover.Backward, backward)))
	pipelinetest.Golden(t, "list", pipelinetest.Graph(t, command.BeamPipeline(discover.List, list)))
	list.Queries.Paths = 10
	pipelinetest.Golden(t, "explained", pipelinetest.Graph(t, command.BeamPipeline(discover.List, list)))
}
