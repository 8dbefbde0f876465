package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"tagnet/formats/names"
	"tagnet/model"
	"tagnet/model/budget"
	"tagnet/model/parallel"
	"tagnet/pipelines/internal/cli/workspace"
)

// settings are the arguments of newServer.
type settings struct {
	model          *model.Model
	named          string          // what --model names, or the checkpoint
	estimate       budget.Estimate // of the memory that they take
	threads, queue int
	timeout        time.Duration
	// report is the URL of the workspace's report, which need not exist.
	report string
	// workspace has the run's lists of new facts, and verdicts; its zero value has none.
	workspace     workspace.Workspace
	takesVerdicts bool // from people, at POST /verdicts
	// local is set if the server listens on loopback only. It then refuses requests for other hosts, which a page of
	// another site could send after it made its own name lead to this machine.
	local bool
	log   io.Writer // a line per request, if not nil
	// failures receives the stack of a panic.
	failures io.Writer
	// reload puts a new graph and model in the place of these, for a request that came to their server. Nil if there is
	// no way to.
	reload func(from *server) (*server, error)
}

// with returns the memory estimate of serving a graph while the requests about the graph of s are finished.
func (s *settings) with(next budget.Estimate) budget.Estimate {
	next.Task += " beside the earlier one"
	next.Held += s.estimate.Held + int64(s.threads)*s.estimate.Thread
	return next
}

// server answers the requests about one graph. Its zero value is not usable.
type server struct {
	settings
	*shared
	routes    map[string]map[string]route // by path and method
	reports   chan struct{}               // holds a value for each request that has the report in memory
	relations []byte                      // the response of /relations without an entity
	fitting   fitting
	said      said
	names     *names.Index // of the entities
}

// shared is the state that stays when a reload replaces a server by the next one.
type shared struct {
	connections *connections
	guard       *http.CrossOriginProtection
	listing     parallel.Turn // held while a request has a list in memory
	searching   parallel.Turn // held while a request has the entities of a pattern in memory
	admission   *admission
	measures    *measures
	logging     sync.Mutex
	requests    atomic.Int64 // under way
	stopping    atomic.Bool  // tells that it is not ready; requests that arrive on open connections are still answered
}

// route answers a method of a path.
type route struct {
	method, path string
	// admitted is set if a request computes, so that it counts against --queue.
	admitted bool
	answer   handler
}

// handler answers a request, or returns why not.
type handler func(w http.ResponseWriter, r *http.Request) error

func newServer(o settings) (*server, error) {
	common := &shared{connections: &connections{open: map[net.Conn]connection{}}, admission: &admission{most: o.queue}, guard: http.NewCrossOriginProtection()}
	common.measures = newMeasures(common.admission)
	return common.server(o)
}

// server returns a server about another graph.
func (common *shared) server(o settings) (*server, error) {
	// The names of the graph are indexed once.
	s := &server{settings: o, shared: common, reports: make(chan struct{}, o.threads)}
	s.model.Watch(s.measures.batch)
	s.names = names.NewIndex(o.model.Entities())
	var err error
	if s.relations, err = json.Marshal(relationsResponse{o.model.Relations()}); err != nil {
		return nil, err
	}
	pages, err := pageRoutes()
	if err != nil {
		return nil, err
	}
	// Routes by path, then method; true marks the ones that compute.
	s.routes = map[string]map[string]route{}
	for _, r := range append(pages, []route{
		{http.MethodGet, "/answer", true, s.answerOne},
		{http.MethodPost, "/answer", true, withoutParameters(s.answerBody)},
		{http.MethodGet, "/explain", true, s.explain},
		{http.MethodGet, "/score", true, s.score},
		{http.MethodPost, "/pattern", true, withoutParameters(s.match)},
		{http.MethodGet, "/entities", false, s.listEntities},
		{http.MethodGet, "/entity", true, s.showEntity},
		{http.MethodGet, "/facts", true, s.listFacts},
		{http.MethodGet, "/list", true, s.showList},
		{http.MethodGet, "/verdicts", false, withoutParameters(s.listVerdicts)},
		{http.MethodPost, "/verdicts", true, withoutParameters(s.judge)},
		{http.MethodGet, "/relations", false, s.listRelations},
		{http.MethodGet, "/types", false, withoutParameters(s.listTypes)},
		{http.MethodGet, "/healthz", false, withoutParameters(s.showHealth)},
		{http.MethodGet, "/metrics", false, withoutParameters(s.showMetrics)},
		{http.MethodGet, "/report", false, withoutParameters(s.showReport)},
		{http.MethodPost, "/reload", false, withoutParameters(s.answerReload)},
		{http.MethodGet, "/openapi.json", false, withoutParameters(s.showDescription)},
	}...) {
		if s.routes[r.path] == nil {
			s.routes[r.path] = map[string]route{}
		}
		s.routes[r.path][r.method] = r
	}
	return s, nil
}

// ServeHTTP answers a request, counts it, and turns an error or a panic into a response.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.requests.Add(1)
	defer s.requests.Add(-1)
	begun := time.Now()
	found, err := s.find(r)
	if s.connections.count(http.StateActive) > mostRequests {
		err = errCrowded
	}
	reply := &response{ResponseWriter: w}
	w = reply
	header := w.Header()
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "no-store")
	if err == nil {
		err = s.run(found, w, r)
	}
	if err != nil {
		s.refuse(w, err)
	}
	took := time.Since(begun)
	s.measures.request(found, reply.status, took)
	if s.log != nil {
		s.logging.Lock()
		defer s.logging.Unlock()
		fmt.Fprintf(s.log, "%s %s %s %s %d %d bytes %.1f ms\n", begun.Format(time.RFC3339), r.RemoteAddr, r.Method, names.Escape(r.URL.RequestURI()),
			reply.status, reply.bytes, took.Seconds()*1e3)
	}
}

// find returns the route of a request.
func (s *server) find(r *http.Request) (route, error) {
	if s.local && !isLocal(r.Host) {
		return route{}, &failure{status: http.StatusMisdirectedRequest,
			Text: fmt.Sprintf("this server is for requests to localhost or 127.0.0.1, not to %q: let a proxy send the header Host: localhost, "+
				"or start serve with --listen and an address that others reach", r.Host)}
	}
	if s.isForeign(r) && !isVisit(r) {
		return route{}, &failure{status: http.StatusForbidden,
			Text: "a page of another site must not send this request; link to the page / instead, with the parameters of /answer"}
	}
	methods := s.routes[r.URL.Path]
	if methods == nil {
		return route{}, &failure{status: http.StatusNotFound, Text: fmt.Sprintf("no page %q; /openapi.json lists what is served", r.URL.Path)}
	}
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	if found, ok := methods[method]; ok {
		return found, nil
	}
	allowed := strings.Join(slices.Sorted(maps.Keys(methods)), ", ")
	return route{path: r.URL.Path}, &failure{status: http.StatusMethodNotAllowed, allow: allowed,
		Text: fmt.Sprintf("%s takes %s, not %q", r.URL.Path, allowed, r.Method)}
}

// isForeign reports whether a page of another site sends a request, by what browsers tell of it. Programs tell nothing.
// The guard lets every GET pass, as one that changes nothing, but here it computes, so it is checked like a POST.
func (s *server) isForeign(r *http.Request) bool {
	asked := *r
	asked.Method = http.MethodPost
	return s.guard.Check(&asked) != nil
}

// isVisit reports whether a browser opens the page in a window, as by a link in a wiki to the answers of a query. The
// page itself is static. Its script then asks for the answers that its address names, but the visitor sees that, and no
// other site can do so unseen: a frame, an image or a script is no visit.
func isVisit(r *http.Request) bool {
	return r.Method == http.MethodGet && r.URL.Path == "/" && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

// isLocal reports whether a Host header names this machine.
func isLocal(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	return strings.EqualFold(host, "localhost") || net.ParseIP(host).IsLoopback()
}

// errDeadline is the cause of the end of a request's context after --timeout.
var errDeadline = errors.New("the request took longer than --timeout")

// run calls a route within its limits. A panic becomes an error.
func (s *server) run(found route, w http.ResponseWriter, r *http.Request) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &model.PanicError{Value: value, Stack: debug.Stack()}
		}
	}()
	if found.admitted {
		if !s.admission.enter(1) {
			return s.busy()
		}
		admitted := &admitted{admission: s.admission, count: 1}
		defer admitted.leave()
		ctx, cancel := context.WithTimeoutCause(context.WithValue(r.Context(), admittedKey{}, admitted), s.timeout, errDeadline)
		defer cancel()
		r = r.WithContext(ctx)
	}
	return found.answer(w, r)
}

// failure is an error with the status and the body of its response.
type failure struct {
	status int
	allow  string // the header Allow
	retry  int    // seconds, the header Retry-After
	close  bool   // the connection, without the rest of the request
	Text   string `json:"error"`
	// Closest are names that the graph has instead of an unknown one.
	Closest []string `json:"closest,omitempty"`
}

// Error returns the text.
func (f *failure) Error() string { return f.Text }

// invalid returns the failure of a request that has to be changed.
func invalid(format string, arguments ...any) *failure {
	return &failure{status: http.StatusBadRequest, Text: fmt.Sprintf(format, arguments...)}
}

// busy returns the failure of a request that is not admitted. It asks to wait about as long as the
// queries under way take.
func (s *server) busy() *failure {
	const perQuery = 1 + usualAnswers // that are computed: its best answers are queried in the other direction, too
	wait := min(60, 1+int(perQuery*s.measures.secondsPerQuery()*float64(s.admission.most)/float64(s.threads)))
	return &failure{status: http.StatusTooManyRequests, retry: wait,
		Text: fmt.Sprintf("%d queries are under way, as many as --queue allows; try again in %d s", s.admission.most, wait)}
}

// errCrowded is the failure of a request beyond mostRequests.
var errCrowded = &failure{status: http.StatusServiceUnavailable, retry: 1, close: true,
	Text: fmt.Sprintf("%d connections have requests, as many as are allowed; try again in 1 s", mostRequests)}

// refuse writes the response of an error. It waits for a short time only for the rest of the request's body, without
// which no other request of the connection can be read.
func (s *server) refuse(w http.ResponseWriter, err error) {
	var f *failure
	var unknown *model.UnknownNameError
	var large *http.MaxBytesError
	var broken *model.PanicError
	// The error decides status and text; only an unknown one is the server's fault and is logged.
	switch {
	case errors.As(err, &f):
		said := *f
		said.Text = err.Error() // with the number of the query in a list
		f = &said
	case errors.As(err, &unknown):
		f = &failure{status: http.StatusNotFound, Text: err.Error(), Closest: unknown.Closest}
	case errors.As(err, new(*model.PatternError)):
		f = invalid("%v", err)
	case errors.Is(err, model.ErrNoTypes):
		f = &failure{status: http.StatusNotFound, Text: err.Error()}
	case errors.As(err, &large):
		f = &failure{status: http.StatusRequestEntityTooLarge, Text: fmt.Sprintf("the body has more than %d bytes", large.Limit)}
	case errors.Is(err, errDeadline):
		f = &failure{status: http.StatusServiceUnavailable, retry: 1, Text: fmt.Sprintf("the request took longer than %v (--timeout)", s.timeout)}
	case errors.Is(err, context.Canceled):
		f = &failure{status: statusClientClosed, Text: "the client closed the connection"} // nobody reads it
	default:
		line := fmt.Sprintf("serve: %v\n", err)
		if errors.As(err, &broken) {
			line += string(broken.Stack)
		}
		s.logging.Lock()
		_, _ = io.WriteString(s.failures, line)
		s.logging.Unlock()
		f = &failure{status: http.StatusInternalServerError, Text: "an error of the server, which its log explains"}
	}
	if w.(*response).status != 0 {
		return // the answer had begun
	}
	// The rest of the body is read for a short time, or the connection is closed.
	grace := refusedTimeout
	if f.close {
		w.Header().Set("Connection", "close")
		grace = 0
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(grace))
	if f.allow != "" {
		w.Header().Set("Allow", f.allow)
	}
	if f.retry > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(f.retry))
	}
	_ = writeJSON(w, f.status, f)
}

// statusClientClosed is the status in the log of a request whose client left, as in nginx.
const statusClientClosed = 499

// writeJSON writes a value as the whole response.
func writeJSON(w http.ResponseWriter, status int, value any) error {
	var text bytes.Buffer
	if err := json.NewEncoder(&text).Encode(value); err != nil {
		return err
	}
	return write(w, status, "application/json", text.Bytes())
}

// write writes the whole response. It is no error of the server if the client has left, or does not read.
func write(w http.ResponseWriter, status int, kind string, text []byte) error {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTimeout))
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	_, _ = w.Write(text)
	return nil
}

// response remembers what was written.
type response struct {
	http.ResponseWriter
	status int
	bytes  int
}

// Unwrap lets http.ResponseController find the methods of the wrapped writer.
func (r *response) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// WriteHeader remembers the status.
func (r *response) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

// Write counts the bytes.
func (r *response) Write(text []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	n, err := r.ResponseWriter.Write(text)
	r.bytes += n
	return n, err
}
