package gcstest

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"io"
	"log"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fsouza/fake-gcs-server/fakestorage"

	"tagnet/formats/storage"
	"tagnet/formats/storage/gcs"
)

// Fault is a failure that the proxy injects into one request.
type Fault int

// The faults. Those of the first group are temporary: a client is expected to try again.
const (
	None        Fault = iota
	Unavailable       // 503, and the request has no effect
	Reset             // the connection is reset before the request has an effect
	Lost              // the request takes effect, then the connection is reset instead of a response
	LostError         // the request takes effect, but the response is 503
	Truncated         // the connection ends in the middle of the response
	Slow              // the response arrives in pieces, with pauses
	Stalled           // the response stops in the middle, and the connection stays open

	Short        // a range of an object ends early, and the response's length agrees with that
	Precondition // 412, and the request has no effect
	Forbidden    // 403, and the request has no effect
)

// Temporary lists the faults that go away if a request is repeated.
var Temporary = []Fault{Unavailable, Reset, Lost, LostError, Truncated, Slow, Stalled}

// String returns the fault's name.
func (f Fault) String() string {
	return []string{"none", "unavailable", "reset", "lost", "lost error", "truncated", "slow", "stalled", "short", "precondition", "forbidden"}[f]
}

// Request is a request that may fail.
type Request struct {
	// Number counts the requests since the faults were set, from 1.
	Number int
	// What names the request: method, path, and the name of the object that is uploaded.
	What string
	// Repetition counts the earlier requests of the same What.
	Repetition int
	// Content is true for the content of an object, as opposed to its metadata, a list or an upload.
	Content bool
}

// Rule chooses the fault of a request.
type Rule func(Request) Fault

// Sometimes returns a rule that gives one in oneIn requests one of the faults. The choice depends on
// the seed and the request, not on the order in which concurrent requests arrive.
func Sometimes(seed uint64, oneIn int, faults ...Fault) Rule {
	return func(r Request) Fault {
		what := fnv.New64a()
		io.WriteString(what, r.What)
		random := rand.New(rand.NewPCG(what.Sum64()+seed, uint64(r.Repetition)))
		if random.IntN(oneIn) > 0 {
			return None
		}
		return faults[random.IntN(len(faults))]
	}
}

// At returns a rule that gives the fault to one request.
func At(number int, fault Fault) Rule {
	return func(r Request) Fault {
		if r.Number == number {
			return fault
		}
		return None
	}
}

// From returns a rule that gives the fault to a request and all after it.
func From(number int, fault Fault) Rule {
	return func(r Request) Fault {
		if r.Number >= number {
			return fault
		}
		return None
	}
}

// Faulty is an HTTP proxy in front of a fake Google Cloud Storage.
type Faulty struct {
	fake     *fakestorage.Server
	ended    chan struct{}
	patience time.Duration

	mu       sync.Mutex // guards the fields below
	rule     Rule
	requests int
	repeated map[string]int
	injected map[Fault]int
}

// FaultyBucket is Bucket behind a proxy, whose rule can be set at any time; without one nothing fails.
// For the duration of the test, gs:// tries again after a millisecond, and while there is a rule it gives
// up after the patience.
func FaultyBucket(t testing.TB, patience time.Duration) (bucket string, proxy *Faulty) {
	t.Helper()
	before := []time.Duration{gcs.Patience, gcs.Answer, gcs.Pause, gcs.LongestPause}
	t.Cleanup(func() {
		gcs.Patience, gcs.Answer, gcs.Pause, gcs.LongestPause = before[0], before[1], before[2], before[3]
	})
	f := &Faulty{ended: make(chan struct{}), patience: patience}
	server := httptest.NewUnstartedServer(f)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	// The fake names its public host in the URLs of resumable uploads, which shall come by here too.
	address := server.Listener.Addr().String()
	f.fake = start(t, fakestorage.Options{NoListener: true, PublicHost: address, ExternalURL: "http://" + address})
	server.Start()
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(f.ended) })
	use(t, server.URL)
	f.Set(nil)
	// The client keeps some of the limits that it is made with.
	gcs.Patience, gcs.Answer, gcs.Pause, gcs.LongestPause = patience, calm, time.Millisecond, 8*time.Millisecond
	if _, err := storage.Exists(t.Context(), url+"/file"); err != nil {
		t.Fatal(err)
	}
	f.Set(nil)
	return url, f
}

const (
	// stall is how long a response of a test under faults may stall.
	stall = 60 * time.Millisecond
	// calm limits the time of a request without faults on a machine that is busy.
	calm = 20 * time.Second
)

// Set sets the rule, nil for none, and counts requests from 1.
func (f *Faulty) Set(rule Rule) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rule, f.requests, f.repeated, f.injected = rule, 0, map[string]int{}, map[Fault]int{}
	gcs.Patience, gcs.Answer = f.patience, stall
	if rule == nil {
		gcs.Patience, gcs.Answer = calm, calm
	}
}

// Requests returns the number of requests since the rule was set.
func (f *Faulty) Requests() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.requests
}

// Injected returns how many faults of each kind there were since the rule was set.
func (f *Faulty) Injected() map[Fault]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.injected)
}

// fault counts a request and returns its fault.
func (f *Faulty) fault(r *http.Request) Fault {
	query := r.URL.Query()
	what := strings.Join([]string{r.Method, r.URL.Path, query.Get("name"), query.Get("alt")}, " ")
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests++
	request := Request{f.requests, what, f.repeated[what], r.Method == http.MethodGet && query.Get("alt") == "media"}
	f.repeated[what]++
	if f.rule == nil {
		return None
	}
	chosen := f.rule(request)
	if chosen == Short && !request.Content {
		chosen = None
	}
	// The fake would append a repeated chunk of a resumable upload. The service recognizes it by its range.
	chunk := strings.HasPrefix(r.URL.Path, "/upload/resumable/") || query.Has("upload_id")
	if chunk && slices.Contains([]Fault{Lost, LostError, Truncated, Stalled}, chosen) {
		chosen = Reset
	}
	f.injected[chosen]++
	return chosen
}

// ServeHTTP passes a request on to the fake, unless a fault keeps it from that, and damages the response.
func (f *Faulty) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	fault := f.fault(r)
	// Faults before the request reaches the fake.
	switch fault {
	case Unavailable:
		respond(w, http.StatusServiceUnavailable)
		return
	case Precondition:
		respond(w, http.StatusPreconditionFailed)
		return
	case Forbidden:
		respond(w, http.StatusForbidden)
		return
	case Reset:
		reset(w)
	}
	answer := httptest.NewRecorder()
	f.fake.HTTPHandler().ServeHTTP(answer, r)
	// Faults of the response, after the request took effect.
	body := answer.Body.Bytes()
	switch fault {
	case LostError:
		respond(w, http.StatusServiceUnavailable)
		return
	case Lost:
		reset(w)
	case Short:
		body = body[:len(body)/2]
	}
	maps.Copy(w.Header(), answer.Header())
	if answer.Code != http.StatusNoContent {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	}
	w.WriteHeader(answer.Code)
	// Faults while the body is sent.
	pieces := [][]byte{body}
	switch half := len(body) / 2; fault {
	case Slow:
		pieces = slices.Collect(slices.Chunk(body, len(body)/4+1))
	case Truncated, Stalled:
		pieces = [][]byte{body[:half]}
	}
	for _, piece := range pieces {
		w.Write(piece)
		if fault == Slow {
			w.(http.Flusher).Flush()
			time.Sleep(time.Millisecond)
		}
	}
	switch {
	case fault == Truncated:
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	case fault == Stalled && len(body) > 0:
		w.(http.Flusher).Flush()
		select {
		case <-f.ended:
		case <-r.Context().Done():
		}
	}
}

// respond answers with an error as the service words it.
func respond(w http.ResponseWriter, code int) {
	var text bytes.Buffer
	fmt.Fprintf(&text, `{"error": {"code": %d, "message": "injected: %s"}}`, code, http.StatusText(code))
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	w.Write(text.Bytes())
}

// reset ends the request with a TCP reset and does not return.
func reset(w http.ResponseWriter) {
	connection, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		connection.(*net.TCPConn).SetLinger(0)
		connection.Close()
	}
	panic(http.ErrAbortHandler)
}
