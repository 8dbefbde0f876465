package serve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"

	"tagnet/formats/storage"
)

// reportPolicy lets a browser show the workspace's report: with its own style, without anything from elsewhere, and in
// a sandbox, in which nothing runs.
const reportPolicy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox"

// showReport shows the report as it is in the workspace now.
func (s *server) showReport(w http.ResponseWriter, r *http.Request) error {
	select {
	case s.reports <- struct{}{}:
		defer func() { <-s.reports }()
	case <-r.Context().Done():
		return context.Cause(r.Context())
	}
	text, err := storage.ReadFile(r.Context(), s.report)
	if errors.Is(err, fs.ErrNotExist) {
		return &failure{status: http.StatusNotFound, Text: "the workspace has no report; the command report writes one"}
	}
	if err != nil {
		return fmt.Errorf("reading the report: %w", err)
	}
	w.Header().Set("Content-Security-Policy", reportPolicy)
	w.Header().Set("Referrer-Policy", "no-referrer")
	return write(w, http.StatusOK, "text/html; charset=utf-8", text)
}
