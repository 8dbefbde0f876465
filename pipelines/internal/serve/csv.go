package serve

import (
	"bytes"
	"encoding/csv"
	"net/http"
	"strconv"

	"tagnet/model"
)

// csv returns whether the parameter format wants a table instead of JSON.
func (v *values) csv() bool {
	format := v.text("format")
	if format != nil && *format != "json" && *format != "csv" {
		v.fail("format is %q: want json or csv", *format)
	}
	return format != nil && *format == "csv"
}

// writeCSV writes the answers of a query as a table with a header. Names are as the data has them.
func writeCSV(w http.ResponseWriter, answered result) error {
	number := func(score float32) string { return strconv.FormatFloat(float64(score), 'g', -1, 32) }
	rows := [][]string{{"source", "relation", "position", "answer", "probability", "score", "rank", "other_score", "other_rank", "known", "hops", "verdict"}}
	for i, a := range answered.Answers {
		probability, hops := optional(a.Probability, a.Hops)
		rows = append(rows, []string{
			answered.Source, answered.Relation, strconv.Itoa(i + 1), a.Entity, probability, number(a.Score), strconv.FormatInt(a.Rank, 10),
			number(a.OtherScore), strconv.FormatInt(a.OtherRank, 10), strconv.FormatBool(a.Known), hops, a.Verdict,
		})
	}
	w.Header().Set("Content-Disposition", `attachment; filename="answers.csv"`)
	return write(w, http.StatusOK, "text/csv; charset=utf-8", csvOf(rows))
}

// optional returns the fields of a table for values that may be missing: they are empty where JSON has no value.
func optional(p *float64, h model.Hops) (probability, hops string) {
	if p != nil {
		probability = strconv.FormatFloat(*p, 'g', -1, 64)
	}
	if h != model.Unreached {
		hops = strconv.Itoa(int(h))
	}
	return probability, hops
}

// csvOf returns a table as CSV (RFC 4180).
func csvOf(rows [][]string) []byte {
	var text bytes.Buffer
	table := csv.NewWriter(&text)
	table.UseCRLF = true
	_ = table.WriteAll(rows) // a buffer takes everything
	return text.Bytes()
}
