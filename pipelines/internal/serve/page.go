package serve

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"fmt"
	"net/http"
	"time"

	"tagnet/model/study/chart"
)

//go:embed page.html page.css page.js facts.js list.js
var pageFiles embed.FS

// policy lets a browser run the page's script and style, and connect to this server; nothing else, whatever a name of
// the graph holds. What a name could add to the page is no file of this server.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; " +
	"frame-ancestors 'none'"

// pageFile is a file of the page, with its hash as the ETag.
type pageFile struct {
	kind, tag string
	text      []byte
}

// pageRoutes returns the routes of the page's files. A browser may keep them, and asks whether they have changed.
func pageRoutes() (routes []route, err error) {
	for _, page := range []struct{ path, name, kind string }{
		{"/", "page.html", "text/html; charset=utf-8"}, {"/page.css", "page.css", "text/css; charset=utf-8"},
		{"/page.js", "page.js", "text/javascript; charset=utf-8"}, {"/facts.js", "facts.js", "text/javascript; charset=utf-8"},
		{"/list.js", "list.js", "text/javascript; charset=utf-8"},
	} {
		text, err := pageFiles.ReadFile(page.name)
		if err != nil {
			return nil, err
		}
		if page.name == "page.css" {
			text = append(text, chart.Style...) // of the paths
		}
		file := pageFile{page.kind, fmt.Sprintf(`"%x"`, sha256.Sum256(text)), text}
		routes = append(routes, route{http.MethodGet, page.path, false, file.show})
	}
	return routes, nil
}

// show answers with the file, or with status 304 if the browser has it. Parameters are read by the page's script.
func (f pageFile) show(w http.ResponseWriter, r *http.Request) error {
	header := w.Header()
	header.Set("Content-Security-Policy", policy)
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Content-Type", f.kind)
	header.Set("Cache-Control", "no-cache")
	header.Set("ETag", f.tag)
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTimeout))
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.text))
	return nil
}
