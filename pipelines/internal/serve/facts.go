package serve

import (
	"cmp"
	"context"
	"net/http"

	"tagnet/model"
)

// The limits of requests about the known facts of an entity. No response has more than 1,000 entities, as no
// query has more answers.
const (
	mostRelations  = 100
	usualRelations = 20
	mostNeighbors  = 10 // of each relation
	mostFacts      = 1000
	usualFacts     = 100
)

type entityResponse struct {
	Entity string   `json:"entity"`
	Types  []string `json:"types"`
	// Facts counts the known facts of all relations, in both directions.
	Facts     int              `json:"facts"`
	Relations []relationOfFact `json:"relations"`
	// More is set if relations follow.
	More bool `json:"more"`
}

// relationOfFact is a relation of an entity with the number of its facts, and the first entities at their other ends.
type relationOfFact struct {
	Relation string   `json:"relation"`
	Facts    int      `json:"facts"`
	Entities []string `json:"entities"`
}

// showEntity answers with an entity's types and relations, and neighbors of each.
func (s *server) showEntity(w http.ResponseWriter, r *http.Request) error {
	p := parameters(r, "entity", "neighbors", "limit", "offset")
	limit, offset := p.page(usualRelations, mostRelations)
	neighbors := *cmp.Or(p.number("neighbors"), new(int))
	if neighbors < 0 || neighbors > mostNeighbors {
		p.fail("neighbors is %d: want 0 to %d", neighbors, mostNeighbors)
	}
	entity := p.needed("entity", entityName)
	if p.err != nil {
		return p.err
	}
	response, err := s.describe(r.Context(), entity, offset, limit, neighbors)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, response)
}

// describe returns what is known of an entity: at most limit of its relations, without the first offset ones.
func (s *server) describe(ctx context.Context, entity string, offset, limit, neighbors int) (response entityResponse, err error) {
	response = entityResponse{Entity: entity, Relations: []relationOfFact{}}
	types, err := s.model.TypesOf(ctx, entity)
	if err != nil {
		return response, err
	}
	response.Types = append([]string{}, types...)
	counts, err := s.model.RelationsOf(ctx, entity)
	if err != nil {
		return response, err
	}
	for _, c := range counts {
		response.Facts += c.Facts
	}
	offset = min(offset, len(counts))
	end := min(offset+limit, len(counts))
	response.More = end < len(counts)
	for _, c := range counts[offset:end] {
		names, _, err := s.model.Known(ctx, model.Query{Source: entity, Relation: c.Relation}, 0, neighbors)
		if err != nil {
			return response, err
		}
		response.Relations = append(response.Relations, relationOfFact{c.Relation, c.Facts, append([]string{}, names...)})
	}
	return response, nil
}

type factsResponse struct {
	Entity string `json:"entity"`
	relationOfFact
}

// listFacts lists the known facts of an entity with a relation.
func (s *server) listFacts(w http.ResponseWriter, r *http.Request) error {
	p := parameters(r, "entity", "relation", "limit", "offset")
	limit, offset := p.page(usualFacts, mostFacts)
	entity, relation := p.needed("entity", entityName), p.needed("relation", relationName)
	if p.err != nil {
		return p.err
	}
	names, all, err := s.model.Known(r.Context(), model.Query{Source: entity, Relation: relation}, offset, limit)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, factsResponse{entity, relationOfFact{relation, all, append([]string{}, names...)}})
}
