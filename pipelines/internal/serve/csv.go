package serve

import (
	"bytes"
	"encoding/csv"
	"net/http"
	"strconv"

	"tagnet/model"
)

// csv returns whether the parameter format wants a table instead of JSON.
func (v values) csv() (bool, error) {
	format := v.text("format")
	switch {
	case format == nil || *format == "json":
		return false, nil
	case *format == "csv":
		return true, nil
	}
	return false, invalid("format is %q: want json or csv", *format)
}

// writeCSV writes the answers of a query as a table with a header (RFC 4180). A field is empty where JSON has no value.
// Names are as the data has them.
func writeCSV(w http.ResponseWriter, answered result) error {
	var text bytes.Buffer
	table := csv.NewWriter(&text)
	table.UseCRLF = true
	number := func(score float32) string { return strconv.FormatFloat(float64(score), 'g', -1, 32) }
	rows := [][]string{{"source", "relation", "position", "answer", "probability", "score", "rank", "other_score", "other_rank", "known", "hops", "verdict"}}
	for i, a := range answered.Answers {
		probability, hops := "", ""
		if a.Probability != nil {
			probability = strconv.FormatFloat(*a.Probability, 'g', -1, 64)
		}
		if a.Hops != model.Unreached {
			hops = strconv.Itoa(int(a.Hops))
		}
		rows = append(rows, []string{
			answered.Source, answered.Relation, strconv.Itoa(i + 1), a.Entity, probability, number(a.Score), strconv.FormatInt(a.Rank, 10),
			number(a.OtherScore), strconv.FormatInt(a.OtherRank, 10), strconv.FormatBool(a.Known), hops, a.Verdict,
		})
	}
	if err := table.WriteAll(rows); err != nil {
		return err
	}
	w.Header().Set("Content-Disposition", `attachment; filename="answers.csv"`)
	return write(w, http.StatusOK, "text/csv; charset=utf-8", text.Bytes())
}
