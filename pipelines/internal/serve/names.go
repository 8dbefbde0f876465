package serve

import (
	"net/http"

	"tagnet/formats/names"
)

// relationsResponse is the response of /relations.
type relationsResponse struct {
	Relations []string `json:"relations"`
}

// entitiesResponse is the response of /entities. More is set if other entities have the prefix, too.
type entitiesResponse struct {
	Entities []string `json:"entities"`
	More     bool     `json:"more"`
}

// listRelations lists the names of all relations.
func (s *server) listRelations(w http.ResponseWriter, r *http.Request) error {
	if _, err := parameters(r); err != nil {
		return err
	}
	return write(w, http.StatusOK, "application/json", s.relations)
}

// typesResponse is the response of /types.
type typesResponse struct {
	Types []string `json:"types"`
}

// listTypes lists the names of all entity types.
func (s *server) listTypes(w http.ResponseWriter, r *http.Request) error {
	if _, err := parameters(r); err != nil {
		return err
	}
	types, err := s.model.Types(r.Context())
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, typesResponse{append([]string{}, types...)})
}

// listEntities lists the first entities whose names have a prefix.
func (s *server) listEntities(w http.ResponseWriter, r *http.Request) error {
	p, err := parameters(r, "prefix", "count")
	if err != nil {
		return err
	}
	count, err := p.count("count", usualEntities, mostEntities)
	if err != nil {
		return err
	}
	prefix := ""
	if text := p.text("prefix"); text != nil {
		prefix = *text
	}
	found, more := names.WithPrefix(s.model.Entities(), prefix, count)
	if found == nil {
		found = []string{}
	}
	return writeJSON(w, http.StatusOK, entitiesResponse{found, more})
}
