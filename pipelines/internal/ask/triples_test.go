package ask

import (
	stdcmp "cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/storage/storagetest"
	"tagnet/formats/workspace/parquet"
	"tagnet/model"
	"tagnet/model/answer/rules"
	"tagnet/model/graph"
	"tagnet/model/graph/kg"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/scoring/scoringtest"
	"tagnet/stages/evaluation"
	"tagnet/stages/predict"
	"tagnet/stages/stagetest"
)

// tripleRows returns the table of a folder of scored triples or pairs.
func tripleRows(t *testing.T, w, name string) []parquet.Triple {
	t.Helper()
	return stagetest.Rows[parquet.Triple](t, filepath.Join(w, "runs/main/answers", name, predict.TriplesTable))
}

// rowOf returns the row of a triple that the library has scored, in a line of the file.
func rowOf(s model.ScoredTriple, line int) parquet.Triple {
	r := parquet.Triple{
		Query: int64(line), Head: s.Head, Relation: s.Relation, Tail: s.Tail, TailScore: s.AsTail.Score, TailRank: s.AsTail.Rank,
		HeadScore: s.AsHead.Score, HeadRank: s.AsHead.Rank, Probability: s.Probability, Known: s.Known, Hops: int32(s.Hops),
	}
	r.LogOdds, r.BelowUsual = &s.LogOdds, &s.BelowUsual // also where there is no probability, as of a fact of an entity with itself
	return r
}

// opposed sets what rules say against rows.
func opposed(t *testing.T, w string, rows []parquet.Triple) {
	t.Helper()
	m, _ := scoringtest.Model(t, w, kg.All)
	mined, err := rules.Mine(t.Context(), m.Graph, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	names := evaluation.Names{Entity: func(id int32) string { return m.View.Entities[id] }, Relations: m.KG.Relations}
	for i := range rows {
		r := &rows[i]
		f := graph.Fact{
			Head: int32(slices.Index(m.View.Entities, r.Head)), Relation: int32(slices.Index(m.KG.Relations, r.Relation)),
			Tail: int32(slices.Index(m.View.Entities, r.Tail)),
		}
		r.Against = names.Against(f, mined.Against(m.Graph, f))
	}
}

// TestTriples compares the table and the text with the library: facts of the graph, of another split, triples that are
// neither, a loop and one whose tail is out of reach.
func TestTriples(t *testing.T) {
	for kind, prefix := range map[string]string{"plain": "e", "inductive": "o"} {
		t.Run(kind, func(t *testing.T) {
			w := scoringtest.Trained(t, kind)
			var triples []model.Triple
			for _, line := range strings.Fields("012-next-013 003-skip-005 005-skip-007 003-next-007 020-next-020 003-back-002 001-next-025 003-skip-006") {
				names := strings.Split(line, "-")
				triples = append(triples, model.Triple{Head: prefix + names[0], Relation: names[1], Tail: prefix + names[2]})
			}
			var text strings.Builder
			for _, f := range append(triples, triples[1]) {
				fmt.Fprintf(&text, "%s\t%s\t%s\n", f.Head, f.Relation, f.Tail)
			}
			flags := []string{"--workspace", w, "--queries", scoringtest.File(t, "triples.tsv", text.String())}
			out := pipelinetest.Succeed(t, Pipeline(), flags...)
			for _, want := range []string{"duplicate triples: 1; each is answered once", "triples: 8 (in the graph, and scored without themselves: 4)",
				"the least plausible of their relations first", "  unreached", "answers/triples/triples.tsv",
				"\n        against it: ~back gives " + prefix + "004 (so in "} {
				if !strings.Contains(out, want) {
					t.Errorf("no %q in\n%s", want, out)
				}
			}
			m, err := model.Open(t.Context(), w)
			if err != nil {
				t.Fatal(err)
			}
			scored, err := m.Score(t.Context(), triples)
			if err != nil {
				t.Fatal(err)
			}
			var want []parquet.Triple
			for i, s := range scored {
				want = append(want, rowOf(s, i))
			}
			opposed(t, w, want)
			storagetest.EveryField(t, want)
			slices.SortFunc(want, func(a, b parquet.Triple) int {
				return stdcmp.Or(stdcmp.Compare(a.Head, b.Head), stdcmp.Compare(a.Relation, b.Relation), stdcmp.Compare(a.Tail, b.Tail))
			})
			if diff := cmp.Diff(want, tripleRows(t, w, "triples")); diff != "" {
				t.Errorf("triples (-library +score):\n%s", diff)
			}
			slices.SortStableFunc(want, evaluation.LeastPlausible)
			pipelinetest.SameText(t, "triples.tsv", pipelinetest.Read(t, w, "runs/main/answers/triples/triples.tsv"),
				evaluation.TriplesHeading+string(evaluation.TripleLines(want)))
			if worst, first := fmt.Sprintf("   1  %s  %s  %s", want[0].Head, want[0].Relation, want[0].Tail),
				out[strings.Index(out, "   1  "):]; !strings.HasPrefix(first, worst) {
				t.Errorf("the first is not %s in\n%s", worst, out)
			}
			if again := pipelinetest.Succeed(t, Pipeline(), flags...); again != strings.ReplaceAll(out, "wrote ", "already exists: ") {
				t.Errorf("a second run says\n%s\nthe first said\n%s", again, out)
			}
		})
	}
}

// TestPairs compares the relations of pairs with the library.
func TestPairs(t *testing.T) {
	w := scoringtest.Trained(t, "plain")
	flags := []string{"--workspace", w, "--queries", scoringtest.File(t, "pairs.tsv", "e012\t?\te013\ne003\t?\te002\ne012\t?\te013\ne020\t?\te050\n"),
		"--top_k", "2"}
	out := pipelinetest.Succeed(t, Pipeline(), flags...)
	m, err := model.Open(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	var want []parquet.Triple
	for _, pair := range []struct {
		line       int
		head, tail string
	}{{1, "e003", "e002"}, {0, "e012", "e013"}, {3, "e020", "e050"}} {
		best, err := m.Between(t.Context(), pair.head, pair.tail, 2)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range best {
			want = append(want, rowOf(s, pair.line))
		}
	}
	if diff := cmp.Diff(want, tripleRows(t, w, "pairs")); diff != "" {
		t.Errorf("pairs (-library +score):\n%s", diff)
	}
	if want[0].Relation != "back" || !want[0].Known || want[2].Relation != "next" {
		t.Errorf("the best relations are %s and %s", want[0].Relation, want[2].Relation)
	}
	if text := pipelinetest.Read(t, w, "runs/main/answers/pairs/triples.tsv"); text != evaluation.TriplesHeading+string(evaluation.TripleLines(want)) {
		t.Errorf("triples.tsv is\n%s", text)
	}
	for _, line := range []string{"duplicate pairs: 1", "\ne003  ?  e002\n   1  back", "  known\n"} {
		if !strings.Contains(out, line) {
			t.Errorf("no %q in\n%s", line, out)
		}
	}
}

// TestTriplesRefused has files and flags that do not fit each other.
func TestTriplesRefused(t *testing.T) {
	w := scoringtest.Trained(t, "plain")
	list := scoringtest.File(t, "list.txt", "e003\n")
	for text, c := range map[string]struct {
		want  string
		flags []string
	}{
		"e003\tnext\te004\nnobody\tnext\te001\n": {`:2: unknown entity "nobody"`, nil},
		"e003\tnext\tnobody\n":                   {`:1: unknown entity "nobody"`, nil},
		"e003\tnex\te004\n":                      {`:1: unknown relation "nex"; closest: "next"`, nil},
		"e003\t?\te004\ne003\t?\tnobody\n":       {`:2: unknown entity "nobody"`, nil},
		"e003\tnext\te004\ne003\t?\te004\n":      {":2: one of the pairs among triples; put them into files of their own", nil},
		"e003\t~next\te004\n":                    {":1: the relation of a triple begins with ~; exchange head and tail", nil},
		"e003\tnext\ne003\tnext\te004\n":         {":2: 3 fields instead of 2", nil},
		"e003\tnext\te004\ne003\tnext\n":         {":2: 2 fields instead of 3", nil},
		"e001\tnext\te002\n":                     {"--candidates is for queries, lines of source and relation; ", []string{"--candidates", list}},
		"e001\tnext\te003\n":                     {"--known is for queries", []string{"--known"}},
		"e001\t?\te003\n":                        {"--explain is for queries", []string{"--explain"}},
		"e001\t?\te004\n":                        {"--memory 1 is too small: scoring triples on this graph with ", []string{"--memory", "1"}},
	} {
		code, _, stderr := pipelinetest.Run(t, Pipeline(),
			append([]string{"--workspace", w, "--queries", scoringtest.File(t, "queries.tsv", text)}, c.flags...)...)
		if code == 0 || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: exit code %d, %s, want %s", text, code, stderr, c.want)
		}
	}
	if files := pipelinetest.Files(t, filepath.Join(w, "runs/main")); slices.ContainsFunc(slices.Collect(maps.Keys(files)),
		func(name string) bool { return strings.HasPrefix(name, "evaluation") }) {
		t.Error("a refused run left files")
	}
}

// TestTriplesOnADevice scores triples on a device, as on the CPU.
func TestTriplesOnADevice(t *testing.T) {
	w := scoringtest.Trained(t, "inductive")
	flags := []string{"--workspace", w, "--queries", scoringtest.File(t, "triples.tsv", "o003\tskip\to005\no012\tnext\to013\no001\tnext\to020\n"), "--force"}
	pipelinetest.Succeed(t, Pipeline(), append(flags, "--device", "cpu")...)
	want := tripleRows(t, w, "triples")
	card := pipelinetest.UseDevices(t, 1)[0]
	code, _, stderr := pipelinetest.Run(t, Pipeline(), flags...)
	if code != 0 || !strings.Contains(stderr, "computing on cuda:0 (") || card.Count("score") == 0 {
		t.Fatalf("%d, %s, operations %q, want what it computes on", code, stderr, card.Operations)
	}
	if diff := cmp.Diff(want, tripleRows(t, w, "triples")); diff != "" {
		t.Errorf("triples (-CPU +device):\n%s", diff)
	}
}

// TestULTRATriples compares triples and a pair, that ULTRA scores, with the library.
func TestULTRATriples(t *testing.T) {
	w, weights := scoringtest.WordNet(t), scoringtest.ULTRAFile(t, nil)
	base := []string{"--workspace", w, "--model", weights,
		"--queries", scoringtest.File(t, "triples.tsv", "e003\t_has_part\te004\ne005\t_hypernym\te006\ne007\t_has_part\te007\n")}
	out := pipelinetest.Succeed(t, Pipeline(), append(base, "--threads", "2")...)
	if !strings.Contains(out, "  probability ") {
		t.Errorf("it says\n%s", out)
	}
	m, err := model.Open(t.Context(), w, model.WithCheckpoint(weights))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range tripleRows(t, w, "triples") {
		scored, err := m.Score(t.Context(), []model.Triple{{Head: row.Head, Relation: row.Relation, Tail: row.Tail}})
		if err != nil {
			t.Fatal(err)
		}
		row.Against = "" // no row of the library
		if diff := cmp.Diff(rowOf(scored[0], int(row.Query)), row); diff != "" {
			t.Errorf("a triple (-library +score):\n%s", diff)
		}
	}
}
