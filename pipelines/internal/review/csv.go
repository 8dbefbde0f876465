package review

import (
	"bytes"
	"encoding/csv"
	"strconv"

	"tagnet/formats/workspace/verdicts"
)

// csvOf returns a sample as CSV with an empty column for verdicts.
func csvOf(list []verdicts.Drawn) ([]byte, error) {
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	rows := [][]string{{"head", "relation", "tail", "verdict", "probability", "weight"}}
	for _, d := range list {
		rows = append(rows, []string{
			d.Head, d.Relation, d.Tail, "", strconv.FormatFloat(d.Probability, 'g', 4, 64), strconv.FormatFloat(d.Weight, 'g', 6, 64),
		})
	}
	err := w.WriteAll(rows)
	return text.Bytes(), err
}
