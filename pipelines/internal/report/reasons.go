package report

import (
	"encoding/json"
	"fmt"
	"html/template"

	"tagnet/formats/names"
	"tagnet/formats/parquet"
	"tagnet/model"
	"tagnet/model/chart"
)

// drawnAnswers is the number of a card's answers whose paths are drawn, drawnPaths that of the paths. listedPaths is the
// number of the paths of an answer that are written out, pathLetters the length of one of these.
const drawnAnswers, drawnPaths, listedPaths, pathLetters = 3, 5, 3, 600

// reasons are the best paths to the answers of a query, by entity.
type reasons map[string][]model.Path

func (r reasons) add(rows []parquet.Explanation) error {
	for _, row := range rows {
		if len(r[row.Entity]) == drawnPaths {
			continue
		}
		p := model.Path{Weight: row.Weight}
		if err := json.Unmarshal([]byte(row.Steps), &p.Steps); err != nil {
			return fmt.Errorf("the steps of a path to %s: %w", names.Escape(row.Entity), err)
		}
		r[row.Entity] = append(r[row.Entity], p)
	}
	return nil
}

// explain draws the paths of the first answers that have any.
func (r reasons) explain(answers []answer) {
	drawn := 0
	for i := range answers {
		paths := r[answers[i].Entity]
		if len(paths) == 0 || drawn == drawnAnswers {
			continue
		}
		drawn++
		answers[i].Drawing = template.HTML(chart.Paths(paths)) // escapes all names
		for _, p := range paths[:min(len(paths), listedPaths)] {
			answers[i].Paths = append(answers[i].Paths, pathLine(p.String()))
		}
	}
}

// pathLine returns a path on a line as a person reads it.
func pathLine(text string) string { return names.Shorten(names.Escape(text), pathLetters) }
