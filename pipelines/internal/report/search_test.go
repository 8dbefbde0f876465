package report

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/parquet"
	"tagnet/pipelines/internal/browsertest"
	"tagnet/pipelines/internal/workspace"
)

// unpack returns what a page's search holds.
func unpack(t *testing.T, s *search) (data searchData) {
	t.Helper()
	_, packed, _ := strings.Cut(strings.TrimSuffix(string(s.Data), "</script>"), ">")
	compressed, err := base64.StdEncoding.DecodeString(packed)
	if err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(bytes.NewReader(compressed))
	if err == nil {
		err = json.NewDecoder(r).Decode(&data)
	}
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestSearchData checks the rows of a query with two answers, one of them below the best, and of a query of the user's.
func TestSearchData(t *testing.T) {
	t.Parallel()
	q, probability := query{"Ada", "knows", "head"}, 0.25
	split := newSearchTable("the test split", "folder", false)
	split.expect([]query{q}, map[query][]parquet.Ranking{q: {
		{Query: 9, Direction: "head", Answer: "Far", Score: -2.5, RankPessimistic: 1234, Distance: -1},
		{Query: 4, Direction: "head", Answer: "Cem", Score: 1.25, RankPessimistic: 2, Distance: 3},
	}})
	prediction := func(position int32, entity string, known bool) parquet.Prediction {
		return parquet.Prediction{Query: 4, Direction: "head", Source: "Ada", Relation: "knows", Position: position, Entity: entity, Score: float32(4 - position), Known: known, Hops: 2}
	}
	rows := []parquet.Prediction{prediction(1, "Bo", false), prediction(2, "Di", true), prediction(3, "Cem", true), prediction(searchAnswers+1, "Eve", false)}
	rows[0].Probability = &probability
	split.add(rows)
	own := newSearchTable("your own queries", "own", true)
	own.add([]parquet.Prediction{{Query: 0, Direction: "tail", Source: "Ada\x1b[31m", Relation: "knows", Position: 1, Entity: "Bo", Score: 1}})
	s, err := newSearch(t.Context(), []*searchTable{split, own}, searchBytes)
	if err != nil {
		t.Fatal(err)
	}
	want := searchData{Names: []string{"Ada", "knows", "Bo", "Di", "Cem", "Far", `Ada\x1b[31m`, "knows", "Bo"}, Tables: []searchColumns{{
		Title: "the test split", Source: []int32{0}, Relation: []int32{1}, Head: []int32{1}, Answers: []int{4},
		Entity: []int32{2, 3, 4, 5}, Position: []int32{1, 2, 3, 0}, Hops: []int32{2, 2, 2, -1}, Score: []int64{300, 200, 100, -250},
		Probability: []int32{250, -1, -1, -1}, Known: []int32{0, 1, 1, 1}, Rank: []int64{0, 0, 2, 1234},
	}, {
		Title: "your own queries", Source: []int32{6}, Relation: []int32{7}, Head: []int32{0}, Answers: []int{1},
		Entity: []int32{8}, Position: []int32{1}, Hops: []int32{0}, Score: []int64{100}, Probability: []int32{-1}, Known: []int32{0}, Rank: []int64{0},
	}}}
	if diff := cmp.Diff(want, unpack(t, s)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{
		"Of the test split the search has all 1 query, with the first 10 answers of each and the right ones. The whole table is folder.",
		"Of your own queries the search has all 1 query, with all answers. The whole table is own.",
	}, s.notes); diff != "" {
		t.Error(diff)
	}
}

// TestSearchIsBounded checks that of too many queries a sample is kept that does not depend on their order, in memory and on
// the page, and that the note says so.
func TestSearchIsBounded(t *testing.T) {
	t.Parallel()
	const queries, most = 3000, 20_000
	random := rand.New(rand.NewPCG(6, 6))
	gather := func() *searchTable {
		table := newSearchTable("the test split", "folder", true)
		table.most = 10_000
		for _, i := range random.Perm(queries) {
			var rows []parquet.Prediction
			for j := range int32(5) {
				rows = append(rows, parquet.Prediction{Query: int64(i), Direction: "tail", Source: fmt.Sprint("source ", i), Relation: "r", Position: j + 1, Entity: strings.Repeat(fmt.Sprint(i*5+int(j)), 1+i%60), Score: float32(i) / float32(j+1)})
			}
			table.add(rows)
		}
		return table
	}
	table := gather()
	if table.rows > 10_000 || table.rows < 3000 || table.rows != 5*len(table.queries) || table.total != queries {
		t.Errorf("%d rows of %d queries of %d are in memory", table.rows, len(table.queries), table.total)
	}
	s, err := newSearch(t.Context(), []*searchTable{table}, most)
	if err != nil {
		t.Fatal(err)
	}
	shown := unpack(t, s)
	n := len(shown.Tables[0].Source)
	if len(s.Data) > most+100 || n < 50 {
		t.Errorf("%d queries in %d bytes", n, len(s.Data))
	}
	for _, name := range shown.Names {
		if letters := len([]rune(name)); letters > searchLetters {
			t.Errorf("a name of %d letters", letters)
		}
	}
	if want := fmt.Sprintf("has %s of 3,000 queries, drawn at random, since the page would be too large with all", count(int64(n))); !strings.Contains(s.notes[0], want) {
		t.Errorf("%q lacks %q", s.notes[0], want)
	}
	again, err := newSearch(t.Context(), []*searchTable{gather()}, most)
	if err != nil || !slices.Equal(unpack(t, again).Tables[0].Score, shown.Tables[0].Score) {
		t.Errorf("in another order other queries are kept (%v)", err)
	}
}

// TestInBrowser filters the predictions of a page as a reader does, with the keyboard alone, and checks that nothing is wider
// than a telephone. REPORT_PICTURES names a folder that gets pictures of the page.
func TestInBrowser(t *testing.T) {
	root := t.TempDir()
	f := fixture{t, workspace.New(root), 40, 900}
	f.all()
	run(t, root)
	p := browsertest.Open(t, "file://"+filepath.Join(root, "report", "index.html"), 1280, 900)
	p.Wait(`!document.getElementById("search-all").hidden`)
	rows := func() []string {
		return browsertest.Evaluate[[]string](p, `[...document.querySelectorAll("#search-rows tr")].map(tr => tr.innerText.replaceAll("\t", " | "))`)
	}
	found := func() string {
		return browsertest.Evaluate[string](p, `document.getElementById("search-found").textContent`)
	}
	if n := len(rows()); n != 50 {
		t.Errorf("%d rows are shown of %s", n, found())
	}
	focus := func(name string) {
		browsertest.Evaluate[bool](p, `(document.querySelector('#search [name=`+name+`]').focus(), true)`)
	}
	focus("text")
	p.Type("ENTITY 117 relation_37")
	p.Press("Enter") // does not wait for more typing
	p.Wait(`document.getElementById("search-found").textContent.startsWith("5 of 4,")`)
	for _, row := range rows() {
		if !strings.Contains(row, "Entity 117 ~/people/person/relation_37") {
			t.Errorf("the search finds %q", row)
		}
	}
	if first := rows()[0]; !strings.Contains(first, "Answer 117 the answer") {
		t.Errorf("the right answer is shown as %q", first)
	}
	for range 4 { // queries are hidden, relation, direction, answers
		p.Press("Tab")
	}
	if name := browsertest.Evaluate[string](p, `document.activeElement.name`); name != "sort" {
		t.Errorf("after four tabs the focus is in %q", name)
	}
	set := func(name, value string) {
		browsertest.Evaluate[bool](p, fmt.Sprintf(`(() => { const e = document.querySelector('#search [name=%s]'); e.value = %q; e.dispatchEvent(new Event("input", {bubbles: true})); return e.value == %q })()`, name, value, value))
	}
	set("text", "")
	set("kind", "new")
	set("sort", "score")
	p.Wait(`!document.getElementById("search-rows").innerText.includes("known") && !document.getElementById("search-rows").innerText.includes("answer,")`)
	if first := rows()[0]; !strings.Contains(first, "98.0%") {
		t.Errorf("the highest score is not first: %q", first)
	}
	set("kind", "right")
	set("sort", "worst")
	set("relation", browsertest.Evaluate[string](p, `[...document.querySelector('#search [name=relation]').options].find(o => o.text.includes("alert(")).value`))
	p.Wait(`document.getElementById("search-rows").innerText.includes("rank")`)
	if first := rows()[0]; !strings.Contains(first, hostile) || !strings.HasPrefix(first, "–") || !strings.Contains(first, "the answer, rank ") {
		t.Errorf("the worst answer to the hostile relation is shown as %q", first)
	}
	if n := browsertest.Evaluate[int](p, `document.scripts.length`); n != 2 {
		t.Errorf("%d scripts: a name became one", n)
	}
	for _, width := range []int{1280, 900, 420} {
		p.Resize(width, 900)
		if n := p.Overflow(); n > 0 {
			t.Errorf("at %d the page is %d pixels too wide", width, n)
		}
	}
	// Tables between figures fit; wider ones scroll in a box of their own.
	p.Resize(900, 900)
	if clipped := browsertest.Evaluate[[]string](p, `[...document.querySelectorAll("figure .scroll")].filter(e => e.scrollWidth > e.clientWidth).map(e => e.innerText)`); len(clipped) > 0 {
		t.Errorf("clipped at 900: %q", clipped)
	}
	if folder := os.Getenv("REPORT_PICTURES"); folder != "" {
		for _, width := range []int{1280, 900, 420} {
			for _, dark := range []bool{false, true} {
				p.Resize(width, 900)
				p.Dark(dark)
				p.Picture(filepath.Join(folder, fmt.Sprintf("report-%d-%v.png", width, dark)), "")
			}
		}
	}
}

// TestLongNames checks that names of half a megabyte neither swell the page nor lose their ends.
func TestLongNames(t *testing.T) {
	root := t.TempDir()
	f := fixture{t, workspace.New(root), 3, 12}
	f.all()
	long := strings.Repeat("long ", 100_000) + "\x1b[31m end"
	w := f.workspace
	var rankings []parquet.Ranking
	var predictions []parquet.Prediction
	for i := range int64(3) {
		rankings = append(rankings, parquet.Ranking{Query: i, Direction: "tail", Source: fmt.Sprint(i, long), Relation: long, Answer: long, RankPessimistic: 1 + 20*i, RankMean: float64(1 + 10*i), RankOptimistic: 1, Candidates: 1 + 20*i})
		predictions = append(predictions, parquet.Prediction{Query: i, Direction: "tail", Source: fmt.Sprint(i, long), Relation: long, Position: 1, Entity: long + " too"})
	}
	if err := os.RemoveAll(w.Evaluation("test") + "/rankings"); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(w.Evaluation("test") + "/predictions"); err != nil {
		t.Fatal(err)
	}
	if err := parquet.Write(t.Context(), parquet.PartFile(w.Evaluation("test")+"/rankings", 0, 1), rankings); err != nil {
		t.Fatal(err)
	}
	if err := parquet.Write(t.Context(), parquet.PartFile(w.Evaluation("test")+"/predictions", 0, 1), predictions); err != nil {
		t.Fatal(err)
	}
	page, _ := run(t, root)
	if len(page) > 400_000 {
		t.Errorf("the page has %d bytes", len(page))
	}
	if strings.Contains(page, "\x1b") || !strings.Contains(page, `long \x1b[31m end`) {
		t.Error("the escape sequence is not shown as such")
	}
}
