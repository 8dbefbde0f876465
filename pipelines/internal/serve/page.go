package serve

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"

	"tagnet/model/chart"
)

//go:embed page.html
var pageText string

// page is the page on / and the policy under which a browser shows it.
type page struct {
	text   []byte
	policy string
}

// newPage puts the style of the drawings into the page. Its policy lets the browser run the page's own script and
// style, known by their checksums, and connect to this server; nothing else, whatever a name of the graph holds.
func newPage() page {
	text := strings.Replace(pageText, "/* style of the drawings */", chart.Style, 1)
	return page{[]byte(text), fmt.Sprintf("default-src 'none'; script-src '%s'; style-src '%s'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
		checksum(text, "script"), checksum(text, "style"))}
}

// checksum returns the checksum of the text of the page's only element of a name, as a policy takes it.
func checksum(text, element string) string {
	_, text, _ = strings.Cut(text, "<"+element+">")
	text, _, _ = strings.Cut(text, "</"+element+">")
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// showPage shows the page. Its parameters are read by its script.
func (s *server) showPage(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Security-Policy", s.page.policy)
	w.Header().Set("Referrer-Policy", "no-referrer")
	return write(w, http.StatusOK, "text/html; charset=utf-8", s.page.text)
}
