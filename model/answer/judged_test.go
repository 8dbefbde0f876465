package answer_test

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"tagnet/model/answer"
	"tagnet/model/answer/probability"
	"tagnet/model/graph"
)

// TestJudged compares answers with those before some of them were judged: these are gone, those beside the only answer
// are unlikely, and all is as before when nothing is judged any more.
func TestJudged(t *testing.T) {
	j, err := traits()
	if err != nil {
		t.Fatal(err)
	}
	m := *answer.New(j.m.KG, j.m.Record, j.m.Parameters, j.m.Resources)
	over, err := m.OverAllFacts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	base := int32(over.Graph.BaseRelations)
	var queries []graph.Query
	for r := range 2 * base {
		for source := range int32(over.Graph.Entities) {
			queries = append(queries, graph.Query{Source: source, Relation: r, Answer: graph.None})
		}
	}
	ask := func(known bool) []answer.Answers {
		t.Helper()
		answers, err := over.Ask(t.Context(), queries, answer.Asking{Best: 5, Known: known, Estimator: j.e})
		if err != nil {
			t.Fatal(err)
		}
		return answers
	}
	before := ask(false)
	verdicts := map[graph.Fact]bool{}
	random := rand.New(rand.NewPCG(3, 3))
	for _, of := range before {
		for _, a := range of.List {
			if random.IntN(20) == 0 {
				verdicts[a.Fact] = random.IntN(2) == 0
			}
		}
	}
	var said []answer.Said
	for f, is := range verdicts {
		said = append(said, answer.Said{Fact: f, True: is})
	}
	over.Judge(answer.NewJudged(said, int(base)))
	// judgedOf are the judged facts of a query.
	judgedOf := func(q graph.Query) (n, isTrue int) {
		for f, is := range verdicts {
			tails, heads := f.Queries(base)
			for _, of := range []graph.Query{tails, heads} {
				if of.Source == q.Source && of.Relation == q.Relation {
					if n++; is {
						isTrue++
					}
				}
			}
		}
		return n, isTrue
	}
	spent, shown := 0, 0
	for i, of := range ask(true) {
		n, isTrue := judgedOf(queries[i])
		isSpent := before[i].OneAtMost && isTrue > 0
		fresh, known := 0, 0
		for _, a := range of.List {
			if isSpent && !a.Known && a.Probability > .03 { // since the answer is known
				t.Fatalf("query %v has its answer, and %+v", queries[i], a)
			}
			is, judged := verdicts[a.Fact]
			switch {
			case judged != (a.Verdict != "") || judged && string(a.Verdict) != strconv.FormatBool(is):
				t.Fatalf("%+v has the verdict %v", a.Fact, a.Verdict)
			case judged && !a.Known:
				t.Fatalf("%+v is judged and a new answer", a.Fact)
			case judged:
				known++
			case !a.Known:
				fresh++
			}
		}
		if known != n || fresh < len(before[i].List)-n {
			t.Fatalf("query %v has %d of %d judged answers, and %d new ones of %d", queries[i], known, n, fresh, len(before[i].List))
		}
		if shown += known; isSpent {
			if spent++; of.OneAtMost {
				t.Fatalf("query %v has its answer, and may have one", queries[i])
			}
		}
	}
	if spent < 10 || shown < 100 {
		t.Errorf("%d queries have the only answer, %d judged facts are shown", spent, shown)
	}
	observed, err := over.Candidates(t.Context(), queries[:50], 5) // as a fit draws them
	if err != nil {
		t.Fatal(err)
	}
	among := 0
	for _, list := range observed {
		among += len(slices.DeleteFunc(list, func(o probability.Observation) bool { _, is := verdicts[o.Fact]; return !is }))
	}
	if among == 0 {
		t.Error("a fit does not see judged facts")
	}
	over.Judge(nil)
	for i, of := range ask(false) {
		if !slices.Equal(of.List, before[i].List) || of.OneAtMost != before[i].OneAtMost {
			t.Fatalf("query %v has other answers than before any verdict", queries[i])
		}
	}
}

// TestEvidence judges facts by a share that it chooses, and finds it; the facts of the graph tell nothing.
func TestEvidence(t *testing.T) {
	t.Parallel()
	j, err := traits()
	if err != nil {
		t.Fatal(err)
	}
	const share = .2
	e, err := j.m.Estimator(probability.Presumed{Missing: share})
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(5, 5))
	var said []answer.Said
	list, _, err := j.m.Estimate(t.Context(), j.observed, e, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range list {
		if stated := j.m.Graph.Has(a.Head, a.Relation, a.Tail); stated && random.IntN(40) == 0 {
			said = append(said, answer.Said{Fact: a.Fact})
		} else if !stated && a.Probability > .02 && random.IntN(2) == 0 {
			said = append(said, answer.Said{Fact: a.Fact, True: random.Float64() < a.Probability})
		}
	}
	tell := func(said []answer.Said) answer.Told {
		t.Helper()
		evidence, err := j.m.EvidenceOf(t.Context(), e, said, nil)
		if err != nil {
			t.Fatal(err)
		}
		told, err := evidence.Tell()
		if err != nil {
			t.Fatal(err)
		}
		return told
	}
	told := tell(said)
	if c := told.Common; !(c.Low <= share && share <= c.High) || c.Judged >= len(said) || c.Judged < 60 || told.Sure > 0 {
		t.Errorf("told %+v of %d verdicts, want about %g", told, len(said), share)
	}
	if lines := told.Lines(j.m.KG.Relations); len(lines) != 1+len(told.Own) {
		t.Errorf("lines %q", lines)
	}
	// Many true ones say that more of a relation is missing than the data bound: they agree on hardly more.
	for i := range said {
		said[i].True = i%20 < 8
	}
	many, bounded := tell(said), 0
	for r, own := range many.Own {
		if most, is := e.Most(r); is {
			if bounded++; own.Share > 1.15*most {
				t.Errorf("of relation %d %+v is missing, at most %g", r, own, most)
			}
		}
	}
	if bounded == 0 {
		t.Error("no relation has a bound")
	}
	guess := probability.Presumed{Missing: share, Guessed: true}
	if few := tell(said[:5]); few.Presumed(guess) != guess || few.Lines(j.m.KG.Relations) != nil {
		t.Errorf("five verdicts tell %+v", few)
	}
	user := probability.OwnShares(.4, map[int32]float64{0: .3})
	if got := told.Presumed(user); got != user {
		t.Errorf("a share that the user said became %+v", got)
	}
	user.Guessed = true
	if got := told.Presumed(user); got.Missing != told.Common.Share || got.Own()[0] != .3 || !got.Told {
		t.Errorf("beside a share of a relation: %+v", got)
	}
}
