package serve

import (
	"context"
	_ "embed"
	"net/http"
)

// health is the response of /healthz.
type health struct {
	// Status is ok, or stopping after an interrupt.
	Status     string `json:"status"`
	Checkpoint string `json:"checkpoint"`
	Entities   int    `json:"entities"`
	Relations  int    `json:"relations"`
	// Probabilities says whether answers have some: "ready", "fitting 34%", or "none: why". Presumed is what they
	// presume to be missing, once they are ready.
	Probabilities string `json:"probabilities"`
	Presumed      string `json:"presumed,omitempty"`
	// Verdicts is the number of facts that people judged, Told what that tells, in sentences.
	Verdicts int      `json:"verdicts"`
	Told     []string `json:"told,omitempty"`
}

// showHealth reports whether the server takes new requests.
func (s *server) showHealth(w http.ResponseWriter, r *http.Request) error {
	h := s.health(r.Context())
	status := http.StatusOK
	if s.stopping.Load() {
		h.Status, status = "stopping", http.StatusServiceUnavailable
	}
	return writeJSON(w, status, h)
}

// health returns the response of a server that takes requests.
func (s *server) health(ctx context.Context) health {
	judged, _ := s.judged(ctx) // a request for the verdicts tells the error
	presumed, _ := s.model.Presumed()
	return health{"ok", s.model.Checkpoint(), len(s.model.Entities()), len(s.model.Relations()), s.probabilities(), presumed, len(judged.Of), s.model.Told()}
}

// description is the OpenAPI description of the service.
//
//go:embed openapi.json
var description []byte

func (s *server) showDescription(w http.ResponseWriter, r *http.Request) error {
	return write(w, http.StatusOK, "application/json", description)
}
