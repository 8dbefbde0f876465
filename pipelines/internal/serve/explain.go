package serve

import (
	"context"
	"net/http"

	"tagnet/model"
	"tagnet/model/chart"
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
	// Weights says in a sentence what the weights of the paths are.
	Weights string `json:"weights"`
	// Paths are ways through the graph from the source to the answer, the best first.
	Paths []model.Path `json:"paths"`
	// Drawing is an SVG file, empty without a path, and left out unless it was wanted.
	Drawing *string `json:"drawing,omitempty"`
}

// explain answers why an entity is an answer of a query.
func (s *server) explain(w http.ResponseWriter, r *http.Request) error {
	p, err := parameters(r, "source", "relation", "answer", "k", "walks", "drawing")
	if err != nil {
		return err
	}
	source, relation, answer := p.text("source"), p.text("relation"), p.text("answer")
	switch {
	case source == nil:
		return errNoSource
	case relation == nil:
		return errNoRelation
	case answer == nil:
		return invalid("answer is missing: want the name of an entity")
	}
	drawing, err := p.flag("drawing")
	if err != nil {
		return err
	}
	var options []model.ExplainOption
	walks, err := p.flag("walks")
	if err != nil {
		return err
	}
	if walks {
		options = append(options, model.Walks())
	}
	k, err := p.count("k", usualPaths, mostPaths)
	if err != nil {
		return err
	}
	query := model.Query{Source: *source, Relation: *relation}
	found, err := s.paths(r.Context(), query, *answer, k, options)
	if err != nil {
		return err
	}
	response := explanation{Source: *source, Relation: *relation, Answer: *answer, Weights: s.model.PathWeights(), Paths: append([]model.Path{}, found...)}
	if drawing {
		svg := chart.Paths(found)
		if svg != "" {
			svg = string(chart.File(svg))
		}
		response.Drawing = &svg
	}
	return writeJSON(w, http.StatusOK, response)
}

// paths explains an answer. No more requests do so at a time than there are threads.
func (s *server) paths(ctx context.Context, query model.Query, answer string, k int, options []model.ExplainOption) ([]model.Path, error) {
	select {
	case s.explaining <- struct{}{}:
		defer func() { <-s.explaining }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	return s.model.Explain(ctx, query, answer, k, options...)
}
