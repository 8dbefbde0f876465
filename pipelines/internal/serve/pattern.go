package serve

import (
	"errors"
	"net/http"

	"tagnet/model"
)

// The limits of a pattern.
const (
	mostBindings = 1000
	mostPattern  = 4096 // bytes
)

type patternRequest struct {
	Pattern  *string `json:"pattern"`
	Answer   string  `json:"answer"`
	K        *int    `json:"k"`
	Bindings *int    `json:"bindings"`
	Stated   bool    `json:"stated"`
}

func (s *server) match(w http.ResponseWriter, r *http.Request) error {
	q, err := decode[patternRequest](w, r, []string{"pattern", "answer", "k", "bindings", "stated"}, "pattern")
	if err != nil {
		return err
	}
	switch {
	case q.Pattern == nil:
		return invalid("pattern is missing: want atoms, such as likes(?x, tea)")
	case len(*q.Pattern) > mostPattern:
		return invalid("pattern has %d bytes: want at most %d", len(*q.Pattern), mostPattern)
	}
	asked := model.Pattern{Text: *q.Pattern, Answer: q.Answer, Stated: q.Stated}
	k, err := checkedCount("k", q.K, usualAnswers, mostAnswers)
	if err != nil {
		return err
	}
	if asked.Bindings, err = checkedCount("bindings", q.Bindings, 0, mostBindings); err != nil {
		return err
	}
	s.useVerdicts(r.Context())
	if err := s.searching.Lock(r.Context()); err != nil {
		return err
	}
	defer s.searching.Unlock()
	found, err := s.model.Match(r.Context(), asked, k)
	if errors.Is(err, model.ErrNoProbabilities) {
		return invalid("%v: /healthz says how far they are; stated takes stated facts alone", err)
	}
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, found)
}
