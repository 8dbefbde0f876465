package report

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/parquet"
	"tagnet/formats/reach"
	"tagnet/pipelines/internal/workspace"
)

func TestSpreadTakesEachRelationFirst(t *testing.T) {
	var queries []query
	for i := range 12 {
		queries = append(queries, query{fmt.Sprint(i), []string{"a", "a", "a", "b", "a", "c"}[i%6], "tail"})
	}
	chosen := spread(queries, 4, func(q query) bool { return q.source != "0" })
	got := map[string]int{}
	for _, q := range chosen {
		got[q.relation]++
		if q.source == "0" {
			t.Error("an unwanted query was chosen")
		}
	}
	if len(chosen) != 4 || got["a"] != 2 || got["b"] != 1 || got["c"] != 1 {
		t.Errorf("chose %v", chosen)
	}
	if none := spread(nil, 3, func(query) bool { return true }); len(none) != 0 {
		t.Errorf("of nothing chose %v", none)
	}
}

func TestCardOfAnAnswerFarDown(t *testing.T) {
	q := query{"Ada", "knows", head}
	var candidates []parquet.Prediction
	for i := range int32(10) {
		candidates = append(candidates, parquet.Prediction{Entity: fmt.Sprint("e", i), Position: i + 1, Score: 0.5, Known: i == 2})
	}
	c := newCard(q, candidates, []parquet.Ranking{{Answer: "e8", RankPessimistic: 1234, Distance: 3}})
	if len(c.Answers) != 7 || c.Answers[6].Mark != "expected" || c.Answers[6].Rank != "9" || c.Answers[2].Rank != "4" {
		t.Errorf("answers %+v", c.Answers)
	}
	if want := "e8 has rank 1,234, at distance 3"; c.Verdict != want || c.Good || !c.Inverse {
		t.Errorf("verdict %q, good %v, inverse %v", c.Verdict, c.Good, c.Inverse)
	}
	c = newCard(q, candidates, []parquet.Ranking{{Answer: "z", RankPessimistic: 99, Distance: -1}})
	if want := "z is unreached: rank 99"; c.Verdict != want {
		t.Errorf("verdict %q, want %q", c.Verdict, want)
	}
	if last := c.Answers[len(c.Answers)-1]; last.Entity != "z" || last.Mark != "expected" {
		t.Errorf("the answer is not shown: %+v", c.Answers)
	}
	if own := newCard(q, candidates, nil); own.Answers[2].Mark != "known" {
		t.Errorf("a query of one's own leaves known answers out: %+v", own.Answers)
	}
}

// TestShortlist checks that the queries of a split are chosen the same whether its ranks are read at once or in parts.
func TestShortlist(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 8))
	for range 20 {
		var all, kept []query
		ranks := map[query][]parquet.Ranking{}
		for i := range 400 {
			q := query{fmt.Sprint(i), fmt.Sprint(random.IntN(4)), []string{"tail", "head"}[random.IntN(2)]}
			all = append(all, q)
			ranks[q] = []parquet.Ranking{{RankPessimistic: 1 + random.Int64N(2)*random.Int64N(13)}, {RankPessimistic: 1}}
			kept = append(kept, q)
			if random.IntN(50) == 0 {
				kept = shortlist(kept, ranks)
			}
		}
		kept = shortlist(kept, ranks)
		if most := 4 * 2 * (rightShown + 2*wrongShown); len(kept) > most {
			t.Errorf("%d queries are kept, want %d at most", len(kept), most)
		}
		if diff := cmp.Diff(choose(all, ranks), choose(kept, ranks), cmp.AllowUnexported(query{})); diff != "" {
			t.Errorf("other queries are chosen:\n%s", diff)
		}
	}
}

func TestCumulative(t *testing.T) {
	points := cumulative(map[int64]int64{1: 2, 2: 1, 100: 1})
	first, last := points[0], points[len(points)-1]
	if first.X != 1 || first.Y != 0.5 || points[1].Y != 0.75 || last.X != 100 || last.Y != 1 {
		t.Errorf("points %v", points)
	}
	if all := cumulative(map[int64]int64{1: 2}); len(all) < 2 || all[0].Y != 1 || all[len(all)-1].X != 10 {
		t.Errorf("all of rank 1: %v", all)
	}
	for i := 1; i < len(points); i++ {
		if !(points[i].X > points[i-1].X) || !(points[i].Y >= points[i-1].Y) {
			t.Errorf("point %d is not beyond the one before: %v", i, points)
		}
	}
}

func TestNumbers(t *testing.T) {
	for _, test := range []struct{ got, want string }{
		{percent(0.92134), "92.1%"}, {percent(0), "0%"}, {percent(1), "100%"}, {percent(0.00001), "<0.1%"}, {percent(0.99999), ">99.9%"},
		{short(6531381360), "6.53G"}, {short(999), "999"}, {short(12), "12"}, {short(1500), "1.5k"},
		{duration(3.21), "3.2 s"}, {duration(59.7), "60 s"}, {duration(200), "3 min 20 s"}, {duration(7500), "2 h 5 min"},
		{plural(1, "fact", "facts"), "1 fact"}, {plural(1234, "fact", "facts"), "1,234 facts"},
		{fmt.Sprint(reach.Keys(map[string]int{"10": 0, "2": 0, "unreached": 0, "1": 0})), "[1 2 10 unreached]"},
	} {
		if test.got != test.want {
			t.Errorf("got %s, want %s", test.got, test.want)
		}
	}
}

// TestOwnQueries checks that the page shows the user's own queries in the order of their file.
func TestOwnQueries(t *testing.T) {
	root := t.TempDir()
	w := workspace.New(root)
	var rows []parquet.Prediction
	for i := range 2 * (ownShown + 1) {
		rows = append(rows, parquet.Prediction{Source: fmt.Sprint("Own ", i/2), Relation: "knows", Direction: "tail", Position: int32(i) + 1, Entity: fmt.Sprint("Ada ", i), Known: i == 0})
	}
	for i, part := range [][]parquet.Prediction{rows[:2*ownShown-6], rows[2*ownShown-6:]} {
		if err := parquet.Write(t.Context(), parquet.PartFile(w.Evaluation("queries")+"/predictions", i, 2), part); err != nil {
			t.Fatal(err)
		}
	}
	if _, output := run(t, root); !strings.Contains(output, "The answers to your own queries cannot be shown (") {
		t.Errorf("no gap for queries without a manifest: %s", output)
	}
	stage := workspace.Stage{Workspace: w, Name: "score", Folder: "runs/main/evaluation/queries"}
	if err := errors.Join(stage.Resume(t.Context(), false), stage.Publish(t.Context(), nil)); err != nil {
		t.Fatal(err)
	}
	page, _ := run(t, root)
	for _, want := range []string{"Your queries", "These are the first 30 of 31", "Ada 0 <i>known</i>", "Ada 31"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not contain %q", want)
		}
	}
	if strings.Contains(page, "Own 30") || strings.Index(page, "Own 1<") > strings.Index(page, "Own 2<") {
		t.Error("the queries are not the first ones in their order")
	}
	// The answers to --relation are in a folder of their own, beside them; the most promising new ones are shown.
	asked := make([]parquet.Prediction, 40)
	for i := range asked {
		asked[i] = parquet.Prediction{Query: int64(i), Source: fmt.Sprintf("Asked %02d", i), Relation: "likes", Direction: "tail", Position: 1, Entity: "Bo", Score: float32(i * 7 % 40), Known: i == 17} // which has the highest score
	}
	folder := w.Evaluation("ask-likes")
	other := workspace.Stage{Workspace: w, Name: "score", Folder: w.EvaluationFolder("ask-likes")}
	if err := errors.Join(parquet.Write(t.Context(), parquet.PartFile(folder+"/predictions", 0, 2), asked[:25]), parquet.Write(t.Context(), parquet.PartFile(folder+"/predictions", 1, 2), asked[25:]),
		other.Resume(t.Context(), false), other.Publish(t.Context(), nil)); err != nil {
		t.Fatal(err)
	}
	page, _ = run(t, root)
	for _, want := range []string{"These are the first 15 of 31", "<h2>Your queries, ask-likes</h2>", "These are the 15 of 40 queries with the most promising new answers", "Of your queries, ask-likes the search has all 40 queries"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page of two folders does not contain %q", want)
		}
	}
	for i, a := range asked {
		if shown := strings.Contains(page, a.Source+" <span"); shown != (a.Score >= 24 && !a.Known) {
			t.Errorf("query %d, best score %g, is shown: %v", i, a.Score, shown)
		}
	}
	for i := range ownFolders {
		one := workspace.Stage{Workspace: w, Name: "score", Folder: w.EvaluationFolder(fmt.Sprint("more-", i))}
		if err := errors.Join(parquet.Write(t.Context(), parquet.PartFile(w.Path(one.Folder)+"/predictions", 0, 1), asked[:1]), one.Resume(t.Context(), false), one.Publish(t.Context(), nil)); err != nil {
			t.Fatal(err)
		}
	}
	page, _ = run(t, root)
	if want := "The page shows the answers of 5 folders. It leaves out 2 others in " + w.Path("runs/main/evaluation") + ": more-3 and more-4."; strings.Count(strings.ReplaceAll(page, "<wbr>", ""), want) != 1 {
		t.Errorf("the page of many folders does not say once %q", want)
	}
	if err := os.Remove(parquet.PartFile(w.Evaluation("queries")+"/predictions", 1, 2)); err != nil {
		t.Fatal(err)
	}
	if _, output := run(t, root); !strings.Contains(output, "The answers to your own queries cannot be shown") {
		t.Errorf("a missing part is not reported: %s", output)
	}
}
