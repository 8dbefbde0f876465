package serve

import (
	"cmp"
	"net/http"
)

type relationsResponse struct {
	Relations []string `json:"relations"`
}

// entityRelations is the response of /relations with an entity: Relations occur in its known facts, in both directions,
// the most frequent first, and Like are others that entities like it have.
type entityRelations struct {
	Relations []string `json:"relations"`
	Like      []string `json:"like"`
}

// entitiesResponse is the response of /entities. More is set if other entities have the prefix or
// contain the text, too.
type entitiesResponse struct {
	Entities []string `json:"entities"`
	More     bool     `json:"more"`
}

// listRelations lists the names of all relations, or of the relations that an entity can have.
func (s *server) listRelations(w http.ResponseWriter, r *http.Request) error {
	p := parameters(r, "entity")
	entity := p.text("entity")
	switch {
	case p.err != nil:
		return p.err
	case entity == nil:
		return write(w, http.StatusOK, "application/json", s.relations)
	}
	own, err := s.model.RelationsOf(r.Context(), *entity)
	if err != nil {
		return err
	}
	like, err := s.model.RelationsLike(r.Context(), *entity)
	if err != nil {
		return err
	}
	response := entityRelations{make([]string, len(own)), like}
	for i, link := range own {
		response.Relations[i] = link.Relation
	}
	return writeJSON(w, http.StatusOK, response)
}

type typesResponse struct {
	Types []string `json:"types"`
}

func (s *server) listTypes(w http.ResponseWriter, r *http.Request) error {
	types, err := s.model.Types(r.Context())
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, typesResponse{append([]string{}, types...)})
}

// listEntities lists the first entities whose names have a prefix, or contain a text.
func (s *server) listEntities(w http.ResponseWriter, r *http.Request) error {
	p := parameters(r, "prefix", "contains", "count")
	count := p.count("count", usualEntities, mostEntities)
	var response entitiesResponse
	prefix, text := p.text("prefix"), p.text("contains")
	switch {
	case p.err != nil:
		return p.err
	case prefix != nil && text != nil:
		return invalid("prefix and contains exclude each other: leave one of them out")
	case text != nil:
		response.Entities, response.More = s.names.Containing(r.Context(), *text, count)
	default:
		response.Entities, response.More = s.names.WithPrefix(r.Context(), *cmp.Or(prefix, new(string)), count)
	}
	response.Entities = append([]string{}, response.Entities...) // a list in JSON, too, if it is empty
	return writeJSON(w, http.StatusOK, response)
}
