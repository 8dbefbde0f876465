package serve

import (
	"net/http"

	"tagnet/model"
	"tagnet/model/study/chart"
)

// The limits of a request for paths.
const (
	mostPaths  = 20
	usualPaths = 5
)

// explanation is the response of /explain.
type explanation struct {
	Source   string `json:"source"`
	Relation string `json:"relation"`
	Answer   string `json:"answer"`
	model.Explanation
	// Weights says in a sentence what the weights of the paths are.
	Weights string `json:"weights"`
	// Drawing is an SVG file of the reasons, or of the paths where there are none. It is empty without these, and left
	// out unless it was wanted.
	Drawing *string `json:"drawing,omitempty"`
}

// explain answers why an entity is an answer of a query.
func (s *server) explain(w http.ResponseWriter, r *http.Request) error {
	p := parameters(r, "source", "relation", "answer", "k", "walks", "drawing")
	asked := model.Query{Source: p.needed("source", entityName), Relation: p.needed("relation", relationName)}
	answer, drawing := p.needed("answer", entityName), p.flag("drawing")
	var options []model.ExplainOption
	if p.flag("walks") {
		options = append(options, model.Walks())
	}
	k := p.count("k", usualPaths, mostPaths)
	if p.err != nil {
		return p.err
	}
	found, err := s.model.Explain(r.Context(), asked, answer, k, options...)
	if err != nil {
		return err
	}
	response := explanation{Source: asked.Source, Relation: asked.Relation, Answer: answer, Explanation: found, Weights: s.model.PathWeights()}
	if drawing {
		drawn := found.Paths
		for i, reason := range found.Reasons {
			if i == 0 {
				drawn = nil
			}
			drawn = append(drawn, model.Path{Weight: float64(reason.Support) / float64(max(1, reason.Cases)), Steps: reason.Steps})
		}
		svg := chart.Paths(drawn)
		if svg != "" {
			svg = string(chart.File(svg))
		}
		response.Drawing = &svg
	}
	return writeJSON(w, http.StatusOK, response)
}
