package report

import (
	"fmt"
	"strings"
	"testing"

	"tagnet/formats/metrics"
	"tagnet/formats/parquet"
	"tagnet/formats/storage"
	"tagnet/pipelines/internal/workspace"
)

// listedFacts returns facts with falling probabilities, the last of which only the query for its head lists.
func listedFacts(n int) (rows []parquet.Fact) {
	for i := range n {
		p, score, position := 1-float64(i+1)/100, float32(3), int32(1)
		f := parquet.Fact{Position: int64(i + 1), Head: fmt.Sprint("head-", i+1), Relation: "knows", Tail: fmt.Sprint("tail-", i+1), Probability: &p, TailScore: &score, TailPosition: &position, Hops: 2}
		if i == n-1 {
			f.TailScore, f.TailPosition, f.HeadScore, f.HeadPosition = nil, nil, &score, &position
		}
		rows = append(rows, f)
	}
	return rows
}

// TestListOfFacts checks the section of a list of new facts: the first ones, what their probabilities are worth, and the search.
func TestListOfFacts(t *testing.T) {
	root := t.TempDir()
	w := workspace.New(root)
	rows := listedFacts(30)
	rows[0].Head = hostile
	d := metrics.Discovery{Split: "test", TopK: 7, Candidates: 4000, Listed: 30, Fitted: &metrics.Fitted{Missing: .125}, HeldOut: &metrics.HeldOut{
		Facts: 40, Found: 35, Listed: 65, First: 41, Precision: .75,
		Reliability: metrics.Reliability{Error: .0123, Bins: []metrics.Bin{{From: 0, To: .1}, {From: .9, To: 1, Candidates: 65, Mean: .951, Observed: .938}}},
	}}
	write := func(d metrics.Discovery) {
		if err := storage.WriteJSON(t.Context(), w.Evaluation("facts-knows")+"/"+metrics.DiscoveryFile, d); err != nil {
			t.Fatal(err)
		}
		publish(t, w, "facts-knows", map[string]any{"facts": "knows", "checkpoint": "epoch-012", "top_k": 7}, "facts", rows)
	}
	write(d)
	page, _ := run(t, root)
	checkMarkup(t, page)
	text := strings.ReplaceAll(page, "<wbr>", "")
	for _, want := range []string{
		"<h2>New facts of knows</h2>", "30 of 4,000 that are among the 7 best new answers of a query.", "The answers are those of epoch-012.",
		"if as many facts are missing as 12.5% of the graph", "These are the first 20; all are in runs/main/evaluation/facts-knows.",
		"head-20  knows  tail-20", "<td class=\"bar\" style=\"--share:0.980\">98.0%</td>", "With the 40 facts of the test split that could be listed, as if they were new: 75.0% of the first 41 are facts of it.",
		"the 65 facts of that list", "the calibration error is 0.0123", ">90% to 100%</th><td>65</td>", ">95.1%</td>", ">93.8%</td>",
		"Of the new facts of knows the search has all 30 facts, with one direction of each.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, absent := range []string{"head-21  knows", "0% to 10%"} {
		if strings.Contains(text, absent) {
			t.Errorf("the page has %q", absent)
		}
	}
	d.Fitted, d.HeldOut = nil, nil
	for i := range rows {
		rows[i].Probability = nil
	}
	write(d)
	if page, _ = run(t, root); !strings.Contains(page, "The facts have no probabilities") || strings.Contains(page, "How far to trust the list") {
		t.Error("a list without probabilities and without held-out facts")
	}
}

// TestTriplesAndPairs checks the sections of given triples, the least plausible first, and of the relations of pairs.
func TestTriplesAndPairs(t *testing.T) {
	root := t.TempDir()
	w := workspace.New(root)
	var triples, pairs []parquet.Triple
	for i := range 30 {
		p := float64(i+1) / 100
		r := parquet.Triple{Query: int64(i), Head: fmt.Sprint("head-", i+1), Relation: "knows", Tail: hostile, TailProbability: &p, HeadProbability: &p, TailRank: 1234, HeadRank: 2, Known: i%2 == 1, Hops: -1}
		triples = append([]parquet.Triple{r}, triples...)
		r.Query, r.TailProbability, r.HeadProbability, r.TailScore = int64(i/2), nil, nil, 1.25
		pairs = append(pairs, r)
	}
	publish(t, w, "triples", map[string]any{"queries": "0f", "checkpoint": "epoch-012"}, "triples", triples)
	publish(t, w, "mine", map[string]any{"queries": "0f", "top_k": 2}, "triples", pairs)
	page, _ := run(t, root)
	checkMarkup(t, page)
	for _, want := range []string{
		"<h2>Your triples</h2>", "These are the least plausible 20 of 30 triples; all are in runs/main/evaluation/triples.", "The answers are those of epoch-012.",
		"<th scope=\"col\">Probability of the tail</th>", "<td>1.0%</td><td>1,234</td><td>1.0%</td><td>2</td><td>–</td><td>no</td>", "<td>20.0%</td><td>1,234</td><td>20.0%</td><td>2</td><td>–</td><td>yes</td>",
		"<h2>Relations of your pairs</h2>", "These are the first 10 of 15 pairs; all are in runs/main/evaluation/mine.", "<th scope=\"col\">Score of the tail</th>", "<td>1.25</td>",
	} {
		if !strings.Contains(strings.ReplaceAll(page, "<wbr>", ""), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page, "<td>21.0%</td>") || strings.Index(page, "<td>1.0%</td>") > strings.Index(page, "<td>2.0%</td>") {
		t.Error("the triples are not the least plausible ones, or in another order")
	}
}
