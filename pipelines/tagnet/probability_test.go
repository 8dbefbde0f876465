package main

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tagnet/formats/workspace/metrics"
	"tagnet/formats/workspace/parquet"
	"tagnet/model"
	"tagnet/model/graph/graphtest"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/stages/stagetest"
)

// said is what a place says of a fact.
type said struct {
	probability          *float64
	tailScore, headScore float32
	tailRank, headRank   int64
	known                bool
}

// place is one of those that say how likely a fact is: it returns what it says of facts of a workspace, some of which
// it may leave out.
type place func(t *testing.T, w string, facts []model.Triple) map[model.Triple]said

// places are compared with each other: whichever says something of a fact says the same.
var places = map[string]place{
	"queries for tails":    asking("all", "--top_k", "60"),
	"queries for heads":    asking("~all", "--top_k", "25"),
	"two best answers":     asking("all", "--top_k", "2"),
	"few sources":          askingSome("--sources"),
	"few candidates":       askingSome("--candidates"),
	"triples":              scoring(func(f model.Triple) string { return f.Head + "\t" + f.Relation + "\t" + f.Tail + "\n" }),
	"pairs":                scoring(func(f model.Triple) string { return f.Head + "\t?\t" + f.Tail + "\n" }, "--top_k", "100"),
	"triples of a library": libraryTriples,
	"list":                 listing,
	"service":              serving(byService),
	"page":                 serving(byPage),
	"client in Python":     serving(byPython),
}

// needs are programs without which a place is left out.
var needs = map[string]string{"page": "chromium", "client in Python": "python3"}

// presumes are the flags of all places but the library, presumed the options of that.
var presumes, presumed = func() (flags []string, options []model.Option) {
	flags, options = append(flags, "--missing", fmt.Sprint(graphtest.Others)), append(options, model.WithMissing(graphtest.Others))
	for relation, share := range graphtest.Missing {
		flags, options = append(flags, "--missing", fmt.Sprintf("%s=%v", relation, share)), append(options, model.WithMissingOf(relation, share))
	}
	return flags, options
}()

// notSaid is the rank of an answer of a place that shows the probability alone.
const notSaid = -1

// TestAFactHasOneProbability compares what all places say of new and known facts.
func TestAFactHasOneProbability(t *testing.T) {
	t.Parallel()
	w := filepath.Join(t.TempDir(), "workspace")
	run(t, w, "preprocess", "--dataset", traits(t))
	whole := places["queries for tails"](t, w, nil)
	var facts []model.Triple
	var knownRanks []int64
	likely := map[string]int{} // by relation
	for f, of := range whole {
		switch {
		case of.known:
			knownRanks = append(knownRanks, of.tailRank)
		case of.probability == nil:
			t.Fatalf("%v has no probability", f)
		case *of.probability > .05:
			likely[f.Relation]++
		}
		if of.known || *of.probability > .01 || f.Head < "house 03" {
			facts = append(facts, f)
		}
	}
	slices.Sort(knownRanks)
	if n := len(knownRanks); n < 100 || len(likely) < 6 || slices.Min(slices.Collect(maps.Values(likely))) < 5 || knownRanks[n/4] != 1 {
		t.Fatalf("%d known facts, likely ones %v, ranks of known ones %v", n, likely, knownRanks)
	}
	// The likeliest new fact of each relation, then the second, and so on.
	slices.SortFunc(facts, func(a, b model.Triple) int {
		x, y := whole[a], whole[b]
		return cmp.Or(cmp.Compare(fmt.Sprint(x.known), fmt.Sprint(y.known)), cmp.Compare(*y.probability, *x.probability),
			strings.Compare(fmt.Sprint(a), fmt.Sprint(b)))
	})
	place := map[model.Triple]int{}
	for _, f := range facts {
		place[f], likely[f.Relation] = likely[f.Relation], likely[f.Relation]+1
	}
	slices.SortStableFunc(facts, func(a, b model.Triple) int { return cmp.Compare(place[a], place[b]) })
	for name, of := range places {
		if program := needs[name]; program != "" {
			if _, err := exec.LookPath(program); err != nil {
				t.Logf("%s is left out: %v", name, err)
				continue
			}
		}
		compared := 0
		for f, got := range of(t, w, facts) {
			want, there := whole[f]
			if !there {
				continue
			}
			compared++
			if !same(want, got) {
				t.Errorf("%s: %v: %+v (probability %v), want %+v (%v)", name, f, got, text(got.probability), want, text(want.probability))
			}
		}
		if compared < 20 {
			t.Errorf("%s: only %d facts are compared", name, compared)
		}
	}
}

// traits returns a dataset whose relations have one tail, one head, and one of both, a mirror, and a share of its own.
func traits(t *testing.T) string {
	t.Helper()
	var lines strings.Builder
	for _, f := range graphtest.Traits() {
		lines.WriteString(f.Head + "\t" + f.Relation + "\t" + f.Tail + "\n")
	}
	file := filepath.Join(t.TempDir(), "traits.tsv")
	pipelinetest.Write(t, file, lines.String())
	return file
}

func text(p *float64) string {
	if p == nil {
		return "none"
	}
	return fmt.Sprint(*p)
}

// same reports whether two places say the same. A place that lacks ranks has 0.
func same(a, b said) bool {
	if a.probability == nil || b.probability == nil {
		return a.probability == b.probability
	}
	if b.tailRank == notSaid {
		return math.Abs(*a.probability-*b.probability) <= 1e-6
	}
	near := func(x, y float32) bool { return math.Abs(float64(x-y)) <= 1e-5 }
	return math.Abs(*a.probability-*b.probability) <= 1e-6 && near(a.tailScore, b.tailScore) && near(a.headScore, b.headScore) &&
		a.tailRank == b.tailRank && a.headRank == b.headRank && a.known == b.known
}

// run runs a command on a workspace.
func run(t *testing.T, w string, command ...string) {
	t.Helper()
	if out, err := tagnetOn(t, w, command).CombinedOutput(); err != nil {
		t.Fatalf("%q: %v\n%s", command, err, out)
	}
}

// rowsIn returns the rows of a table of answers.
func rowsIn[R parquet.Row](t *testing.T, w, table string) []R {
	return stagetest.Rows[R](t, filepath.Join(w, "runs/main", table))
}

// asking asks all entities about a relation, for known answers, too.
func asking(relation string, flags ...string) place {
	return func(t *testing.T, w string, _ []model.Triple) map[model.Triple]said {
		t.Helper()
		run(t, w, append([]string{"ask", "--relation", relation, "--known", "--output", "asked", "--force"}, append(flags, presumes...)...)...)
		return askedIn(t, w)
	}
}

// askingSome asks with a list of the heads, or of the tails, of some facts.
func askingSome(flag string) place {
	return func(t *testing.T, w string, facts []model.Triple) map[model.Triple]said {
		t.Helper()
		list := filepath.Join(t.TempDir(), "list.txt")
		names := ""
		for _, f := range facts[:40] {
			names += map[string]string{"--sources": f.Head, "--candidates": f.Tail}[flag] + "\n"
		}
		if err := os.WriteFile(list, []byte(names), 0o600); err != nil {
			t.Fatal(err)
		}
		return asking("all", flag, list)(t, w, facts)
	}
}

// askedIn returns what the answers in the folder asked say.
func askedIn(t *testing.T, w string) map[model.Triple]said {
	t.Helper()
	all := map[model.Triple]said{}
	for _, r := range rowsIn[parquet.Answer](t, w, "answers/asked/answers") {
		f := model.Triple{Head: r.Source, Relation: r.Relation, Tail: r.Entity}
		of := said{r.Probability, r.Score, r.OtherScore, r.Rank, r.OtherRank, r.Known}
		if r.Direction == metrics.Head {
			f.Head, f.Tail = f.Tail, f.Head
			of.tailScore, of.headScore, of.tailRank, of.headRank = of.headScore, of.tailScore, of.headRank, of.tailRank
		}
		all[f] = of
	}
	return all
}

// scoring scores a file with a line for each of some facts.
func scoring(line func(model.Triple) string, flags ...string) place {
	return func(t *testing.T, w string, facts []model.Triple) map[model.Triple]said {
		t.Helper()
		file := filepath.Join(t.TempDir(), "lines.tsv")
		var lines strings.Builder
		for _, f := range facts {
			lines.WriteString(line(f))
		}
		if err := os.WriteFile(file, []byte(lines.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		run(t, w, append([]string{"ask", "--queries", file, "--output", "lines", "--force"}, append(flags, presumes...)...)...)
		all := map[model.Triple]said{}
		for _, r := range rowsIn[parquet.Triple](t, w, "answers/lines/triples") {
			all[model.Triple{Head: r.Head, Relation: r.Relation, Tail: r.Tail}] = said{r.Probability, r.TailScore, r.HeadScore, r.TailRank, r.HeadRank, r.Known}
		}
		return all
	}
}

// listing lists the new facts.
func listing(t *testing.T, w string, _ []model.Triple) map[model.Triple]said {
	t.Helper()
	run(t, w, append([]string{"discover", "--output", "listed", "--force"}, presumes...)...)
	all := map[model.Triple]said{}
	for _, r := range rowsIn[parquet.Fact](t, w, "facts/listed/facts") {
		all[model.Triple{Head: r.Head, Relation: r.Relation, Tail: r.Tail}] = said{r.Probability, r.TailScore, r.HeadScore, r.TailRank, r.HeadRank, false}
	}
	return all
}

// libraryTriples scores facts by the library.
func libraryTriples(t *testing.T, w string, facts []model.Triple) map[model.Triple]said {
	t.Helper()
	m, err := model.Open(t.Context(), w, presumed...)
	if err != nil {
		t.Fatal(err)
	}
	scored, err := m.Score(t.Context(), facts)
	if err != nil {
		t.Fatal(err)
	}
	all := map[model.Triple]said{}
	for _, s := range scored {
		all[s.Triple] = said{s.Probability, s.AsTail.Score, s.AsHead.Score, s.AsTail.Rank, s.AsHead.Rank, s.Known}
	}
	return all
}
