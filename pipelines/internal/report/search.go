package report

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"html/template"
	"maps"
	"math"
	"slices"
	"strings"

	"tagnet/formats/names"
	"tagnet/formats/parquet"
	"tagnet/model"
	"tagnet/model/random"
)

// What the page's search holds: of each query the first answers, of all queries as many as fit, and of a name the first
// and last letters.
const (
	searchBytes   = 4 << 20 // of the page, compressed and in base64
	searchRows    = 400_000 // in memory, of a table
	searchAnswers = 10
	searchLetters = 200
)

// searchTable gathers the predictions of a split, or of the user's queries, for the search. Where they are too many it
// holds those whose hash is below a limit, which is halved until they fit: a sample that does not depend on their order.
type searchTable struct {
	title, folder string
	total         int64 // queries
	rows          int
	limit         uint64
	queries       map[int64]*searchQuery
	names         map[string]int32
	most          int
	users         bool  // the queries are the user's, which have no expected answers
	facts         bool  // each query is a fact of a list
	last          int64 // query that add has counted
}

// searchQuery is a query with its answers, by the numbers of their names.
type searchQuery struct {
	hash             uint64
	source, relation int32
	head             bool
	answers          []searchAnswer
}

// searchAnswer is a row of the search: a prediction, or an expected answer that is not among the best. Position is 0 for
// one of these, rank for what is not expected.
type searchAnswer struct {
	entity, position int32
	hops             int32
	score            float32
	probability      float64 // NaN without a calibration
	known            bool
	rank             int64
	paths            []string // why it was given, best first
}

func newSearchTable(title, folder string, users bool) *searchTable {
	return &searchTable{title: title, folder: folder, users: users, last: -1, limit: math.MaxUint64,
		queries: map[int64]*searchQuery{}, names: map[string]int32{}, most: searchRows}
}

func (t *searchTable) name(text string) int32 {
	id, there := t.names[text]
	if !there {
		id = int32(len(t.names))
		t.names[text] = id
	}
	return id
}

// query returns a query of the table, nil if it is not in the sample.
func (t *searchTable) query(number int64, q query) *searchQuery {
	if found := t.queries[number]; found != nil {
		return found
	}
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\t%s\t%s", q.source, q.relation, q.direction)
	hash := random.Mix(h.Sum64())
	if hash > t.limit {
		return nil
	}
	found := &searchQuery{hash: hash, source: t.name(q.source), relation: t.name(q.relation), head: q.direction == head}
	t.queries[number] = found
	return found
}

func (t *searchTable) put(q *searchQuery, a searchAnswer) {
	q.answers = append(q.answers, a)
	t.rows++
	for t.rows > t.most {
		t.halve()
	}
}

// halve keeps half of the queries.
func (t *searchTable) halve() {
	t.limit /= 2
	for number, q := range t.queries {
		if q.hash > t.limit {
			t.rows -= len(q.answers)
			delete(t.queries, number)
		}
	}
}

// expect adds the expected answers of a split's queries, which come before the predictions.
func (t *searchTable) expect(queries []query, of map[query][]parquet.Ranking) {
	for _, q := range queries {
		t.total++
		rows := of[q]
		number := slices.MinFunc(rows, func(a, b parquet.Ranking) int { return cmp.Compare(a.Query, b.Query) }).Query
		found := t.query(number, q)
		for _, r := range rows {
			if found != nil {
				t.put(found, searchAnswer{entity: t.name(r.Answer), hops: r.Distance, score: r.Score, probability: math.NaN(), known: true, rank: r.RankPessimistic})
			}
		}
	}
}

// add adds predictions.
func (t *searchTable) add(rows []parquet.Prediction) {
	for _, p := range rows {
		q := t.queries[p.Query]
		if t.users {
			if p.Query != t.last {
				t.last = p.Query
				t.total++
			}
			q = t.query(p.Query, predictedQuery(p))
		} else if p.Position > searchAnswers {
			continue
		}
		if q == nil {
			continue
		}
		a := searchAnswer{entity: t.name(p.Entity), position: p.Position, hops: p.Hops, score: p.Score, probability: math.NaN(), known: p.Known}
		if p.Probability != nil {
			a.probability = *p.Probability
		}
		i := -1
		if !t.users {
			i = slices.IndexFunc(q.answers, func(e searchAnswer) bool { return e.position == 0 && e.entity == a.entity })
		}
		if i >= 0 {
			a.rank = q.answers[i].rank
			q.answers[i] = a
		} else {
			t.put(q, a)
		}
	}
}

// explain adds why predictions were given.
func (t *searchTable) explain(rows []parquet.Explanation) {
	for _, row := range rows {
		q := t.queries[row.Query]
		if q == nil || row.Path > listedPaths {
			continue
		}
		entity := t.name(row.Entity)
		for i := range q.answers {
			if q.answers[i].entity == entity {
				q.answers[i].paths = append(q.answers[i].paths, pathLine(model.FormatWeight(row.Weight)+"  "+row.Text))
			}
		}
	}
}

// searchColumns is a table as the page's script reads it: a list for each column, of queries and then of answers.
type searchColumns struct {
	Title    string  `json:"title"`
	Source   []int32 `json:"source"`
	Relation []int32 `json:"relation"`
	Head     []int32 `json:"head"`
	Answers  []int   `json:"answers"` // of each query
	Entity   []int32 `json:"entity"`
	Position []int32 `json:"position"`
	Hops     []int32 `json:"hops"`
	Score    []int64 `json:"score"` // in hundredths
	// Probability is in thousandths, -1 where there is none.
	Probability []int32 `json:"probability"`
	Known       []int32 `json:"known"`
	Rank        []int64 `json:"rank"`
	// Paths are lines, empty without an explanation of any answer.
	Paths []string `json:"paths,omitempty"`
}

// searchData is the data of the search, which the page embeds. Names are in the order of their first use.
type searchData struct {
	Names  []string        `json:"names"`
	Tables []searchColumns `json:"tables"`
}

func (d *searchData) add(t *searchTable) {
	texts := make([]string, len(t.names))
	for text, id := range t.names {
		texts[id] = text
	}
	used := map[int32]int32{}
	name := func(id int32) int32 {
		number, there := used[id]
		if !there {
			number = int32(len(d.Names))
			used[id] = number
			d.Names = append(d.Names, names.Shorten(names.Escape(texts[id]), searchLetters))
		}
		return number
	}
	flag := map[bool]int32{true: 1}
	c, explained := searchColumns{Title: t.title}, false
	for _, number := range slices.Sorted(maps.Keys(t.queries)) {
		q := t.queries[number]
		c.Source, c.Relation, c.Head = append(c.Source, name(q.source)), append(c.Relation, name(q.relation)), append(c.Head, flag[q.head])
		c.Answers = append(c.Answers, len(q.answers))
		sorted := slices.SortedStableFunc(slices.Values(q.answers), func(a, b searchAnswer) int {
			return cmp.Or(cmp.Compare(uint32(a.position-1), uint32(b.position-1)), cmp.Compare(a.rank, b.rank)) // 0 is last
		})
		for _, a := range sorted {
			c.Entity, c.Position, c.Hops = append(c.Entity, name(a.entity)), append(c.Position, a.position), append(c.Hops, a.hops)
			c.Score = append(c.Score, int64(math.Round(100*max(-1e9, min(1e9, float64(a.score))))))
			probability := int32(-1)
			if a.probability == a.probability {
				probability = int32(math.Round(1000 * a.probability))
			}
			c.Probability, c.Known, c.Rank = append(c.Probability, probability), append(c.Known, flag[a.known]), append(c.Rank, a.rank)
			c.Paths = append(c.Paths, strings.Join(a.paths, "\n"))
			explained = explained || len(a.paths) > 0
		}
	}
	if !explained {
		c.Paths = nil
	}
	d.Tables = append(d.Tables, c)
}

// search is the part of the page that searches predictions. It is empty without any.
type search struct {
	notes []string
	// Data and Script are elements of the page. Policy is the content policy that allows the script and nothing else.
	Data, Script template.HTML
	Policy       string
}

//go:embed search.js
var searchScript string

// newSearch returns the search of some tables in at most the given number of bytes.
func newSearch(ctx context.Context, tables []*searchTable, most int) (*search, error) {
	tables = slices.DeleteFunc(slices.Clone(tables), func(t *searchTable) bool { return len(t.queries) == 0 })
	if len(tables) == 0 {
		return nil, nil
	}
	var encoded string
	for {
		var err error
		if encoded, err = encodeSearch(tables); err != nil {
			return nil, err
		}
		if len(encoded) <= most || ctx.Err() != nil {
			break
		}
		for _, t := range tables {
			t.halve()
		}
	}
	s := &search{
		Data:   template.HTML(`<script type="application/gzip" id="search-data">` + encoded + `</script>`),
		Script: template.HTML("<script>" + searchScript + "</script>"),
	}
	sum := sha256.Sum256([]byte(searchScript))
	s.Policy = pagePolicy + "; script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	for _, t := range tables {
		s.notes = append(s.notes, t.note())
	}
	return s, ctx.Err()
}

// note returns a sentence that says how much of a table the search has, and where the whole table is.
func (t *searchTable) note() string {
	one, many := "query", "queries"
	if t.facts {
		one, many = "fact", "facts"
	}
	which := "all " + plural(t.total, one, many)
	if n := int64(len(t.queries)); n < t.total {
		which = fmt.Sprintf("%s of %s, drawn at random, since the page would be too large with all", count(n), plural(t.total, one, many))
	}
	with := fmt.Sprintf("the first %d answers of each and the right ones", searchAnswers)
	switch {
	case t.facts:
		with = "one direction of each"
	case t.users:
		with = "all answers"
	}
	return fmt.Sprintf("Of %s the search has %s, with %s. The whole table is %s.", t.title, which, with, t.folder)
}

func encodeSearch(tables []*searchTable) (string, error) {
	var data searchData
	for _, t := range tables {
		data.add(t)
	}
	var out bytes.Buffer
	compressor, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err == nil {
		err = json.NewEncoder(compressor).Encode(data)
	}
	if err == nil {
		err = compressor.Close()
	}
	if err != nil {
		return "", fmt.Errorf("encoding the predictions for the search: %w", err)
	}
	return base64.StdEncoding.EncodeToString(out.Bytes()), nil
}
