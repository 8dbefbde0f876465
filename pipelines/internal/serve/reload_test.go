package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"tagnet/formats/workspace/manifest"
	"tagnet/model"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/progress"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/preprocess"
)

// reloading serves the test's model and, after the first reload, that over the larger graph; then one after the other.
// While fails is set a reload fails.
func reloading(t *testing.T) (l *reloader, address string, fails *atomic.Bool) {
	t.Helper()
	small := ofFacts(t, ring())
	large := ofFacts(t, append(ring(), model.Triple{Head: person(0), Relation: "knows", Tail: "Newcomer"}))
	l, fails = &reloader{e: &command.Environment{Out: io.Discard, Err: t.Output(), Progress: progress.New(io.Discard, false)}, inUse: new(sync.WaitGroup)},
		new(atomic.Bool)
	l.fit = func(*server, *server) {} // TestFit has it
	loads := 0
	l.load = func(*settings) (settings, error) {
		if fails.Load() {
			return settings{}, errors.New("the graph is cut short\nor so")
		}
		m := []*model.Model{small, large}[loads%2]
		o := settings{model: m, named: m.Checkpoint(), threads: 2, queue: 256, timeout: 20 * time.Second, local: true, failures: t.Output(), reload: l.reload}
		loads++
		return o, nil
	}
	o, err := l.load(nil)
	if err != nil {
		t.Fatal(err)
	}
	if l.current, err = newServer(o); err != nil {
		t.Fatal(err)
	}
	listening := httptest.NewServer(l)
	t.Cleanup(listening.Close)
	return l, listening.URL, fails
}

// TestReloadLosesNoRequest reloads again and again under load. Every request is answered, all of it by the one
// or the other graph.
func TestReloadLosesNoRequest(t *testing.T) {
	_, address, fails := reloading(t)
	body := `{"k":1000,"queries":[{"source":"Person 05","relation":"knows"},{"source":"Person 07","relation":"~knows"}]}`
	small := send(t, "POST", address+"/answer", body).text
	if got := read[health](t, send(t, "POST", address+"/reload", "")); got.Entities != 25 || got.Status != "ok" {
		t.Errorf("%+v", got)
	}
	large := send(t, "POST", address+"/answer", body).text
	if small == large || !strings.Contains(large, "Newcomer") {
		t.Fatalf("the answers of both graphs: %s", large)
	}
	done := make(chan struct{})
	var clients sync.WaitGroup
	var of [2]atomic.Int64
	for range 6 {
		clients.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				switch got := send(t, "POST", address+"/answer", body); {
				case got.status == 200 && got.text == small:
					of[0].Add(1)
				case got.status == 200 && got.text == large:
					of[1].Add(1)
				default:
					t.Errorf("status %d: %.300s", got.status, got.text)
				}
			}
		})
	}
	for i := range 40 {
		fails.Store(i%4 == 3)
		want := 200
		if fails.Load() {
			want = 500
		}
		if got := send(t, "POST", address+"/reload", ""); got.status != want {
			t.Errorf("reload %d: status %d: %s", i, got.status, got.text)
		}
		time.Sleep(5 * time.Millisecond)
	}
	close(done)
	clients.Wait()
	if of[0].Load() == 0 || of[1].Load() == 0 {
		t.Errorf("%d answers of the smaller graph, %d of the larger one", of[0].Load(), of[1].Load())
	}
}

// serving serves on this machine until stop, which returns how long the end took.
func serving(t *testing.T, l *reloader, hangups *hangups) (address string, stop func() time.Duration) {
	t.Helper()
	listener, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- (&flags{timeout: 20 * time.Second}).serve(ctx, l.e, listener, l, hangups) }()
	return "http://" + listener.Addr().String(), func() time.Duration {
		begun := time.Now()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		return time.Since(begun)
	}
}

// TestReloadsAtTheSameTime sends reloads from 48 clients until 500 have put the other graph in the place of the one
// that is served. None waits for itself: all are answered, one more reloads, and the server ends at once.
func TestReloadsAtTheSameTime(t *testing.T) {
	l, _, _ := reloading(t)
	address, stop := serving(t, l, &hangups{})
	var reloaded atomic.Int64
	var clients sync.WaitGroup
	for range 48 {
		clients.Go(func() {
			for reloaded.Load() < 500 {
				switch got := send(t, "POST", address+"/reload", ""); got.status {
				case 200:
					reloaded.Add(1)
				case 409:
				default:
					t.Errorf("status %d: %s", got.status, got.text)
				}
			}
		})
	}
	answered := make(chan struct{})
	go func() { clients.Wait(); close(answered) }()
	select {
	case <-answered:
	case <-time.After(10 * time.Second):
		t.Fatalf("%d reloads, and then none is answered", reloaded.Load())
	}
	if got := send(t, "POST", address+"/reload", ""); got.status != 200 {
		t.Errorf("one more: status %d: %s", got.status, got.text)
	}
	http.DefaultClient.CloseIdleConnections() // the server would wait for the first request of one
	if took := stop(); took > time.Second {
		t.Errorf("the server ended after %v", took)
	}
}

// TestReloadBesideAFit reloads while the fit of the server before says how it ended: to the race detector
// they share nothing.
func TestReloadBesideAFit(t *testing.T) {
	l, address, _ := reloading(t)
	var fits sync.WaitGroup
	l.fit = func(*server, *server) { fits.Go(func() { l.say("no probabilities") }) }
	for range 20 {
		if got := send(t, "POST", address+"/reload", ""); got.status != 200 {
			t.Errorf("status %d: %s", got.status, got.text)
		}
	}
	fits.Wait()
}

// TestHangupDuringReload sends SIGHUP within a reload, which may have opened the graph before: one more reload follows.
func TestHangupDuringReload(t *testing.T) {
	l, _, _ := reloading(t)
	load, begun, blocked := l.load, make(chan struct{}), make(chan struct{})
	l.load = func(earlier *settings) (settings, error) {
		begun <- struct{}{}
		<-blocked
		return load(earlier)
	}
	signals := &hangups{received: make(chan os.Signal)}
	_, stop := serving(t, l, signals)
	signals.received <- syscall.SIGHUP
	<-begun
	signals.received <- syscall.SIGHUP
	close(blocked)
	select {
	case <-begun:
	case <-time.After(10 * time.Second):
		t.Error("the later signal is lost")
	}
	stop()
}

// TestReloadRefuses covers a failed reload, one beside another, other methods, and a server that others reach.
func TestReloadRefuses(t *testing.T) {
	l, address, fails := reloading(t)
	fails.Store(true)
	got := send(t, "POST", address+"/reload", "")
	if want := "the reload failed, and epoch-010: 24 entities, 2 relations answers as before: the graph is cut short; or so"; got.status != 500 ||
		read[failure](t, got).Text != want {
		t.Errorf("status %d: %s", got.status, got.text)
	}
	if h := read[health](t, send(t, "GET", address+"/healthz", "")); h.Entities != 24 {
		t.Errorf("%+v", h)
	}
	l.reloading.Lock()
	if got := send(t, "POST", address+"/reload", ""); got.status != 409 {
		t.Errorf("during another one: status %d: %s", got.status, got.text)
	}
	l.reloading.Unlock()
	fails.Store(false)
	l.load = func(*settings) (settings, error) { return settings{}, &manifest.Replaced{Folder: "w/graph"} }
	got = send(t, "POST", address+"/reload", "")
	if want := "answers as before: w/graph is being replaced: run again"; got.status != 409 || got.header.Get("Retry-After") != "1" ||
		!strings.HasSuffix(read[failure](t, got).Text, want) {
		t.Errorf("while the graph is replaced: status %d: %s", got.status, got.text)
	}
	if got := send(t, "GET", address+"/reload", ""); got.status != 405 || got.header.Get("Allow") != "POST" {
		t.Errorf("GET: status %d, %s", got.status, got.header.Get("Allow"))
	}
	r, err := http.NewRequestWithContext(t.Context(), "POST", address+"/reload", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != 403 {
		t.Errorf("a page of another site: status %d", response.StatusCode)
	}
	_, reached := start(t, func(o *settings) { o.local, o.reload = false, l.reload })
	if got := send(t, "POST", reached+"/reload", ""); got.status != 403 || !strings.Contains(got.text, "SIGHUP") {
		t.Errorf("a server that others reach: status %d: %s", got.status, got.text)
	}
}

// TestReloadWaitsForTheGraphBefore holds a request of the first graph open: a second reload waits for it, since three
// graphs would not fit.
func TestReloadWaitsForTheGraphBefore(t *testing.T) {
	l, _, _ := reloading(t)
	before, first := l.current, l.inUse
	first.Add(1)
	if _, err := l.reload(l.current); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := l.reload(l.current)
		ended <- err
	}()
	select {
	case err := <-ended:
		t.Fatalf("it did not wait: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	first.Done()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := l.reload(before); err != errReloading {
		t.Errorf("a request that came to an earlier server: %v", err)
	}
}

// TestReloadsTheWorkspace replaces the graph that a process serves by larger ones. What cannot be loaded
// leaves it as it was.
func TestReloadsTheWorkspace(t *testing.T) {
	w := trained(t)
	p := launch(t, w)
	files := pipelinetest.Ring("e", 60)
	add := func(name string) {
		files["train.txt"] += name + "\tnext\te000\n"
		pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", w, "--dataset", pipelinetest.Dataset(t, files), "--force")
	}
	entities := func() int { return read[health](t, send(t, "GET", p.url+"/healthz", "")).Entities }
	add("one")
	if n := entities(); n != 60 {
		t.Errorf("%d entities before a reload", n)
	}
	if h := read[health](t, send(t, "POST", p.url+"/reload", "")); h.Entities != 61 {
		t.Errorf("%+v", h)
	}
	if got := send(t, "GET", p.url+ask("one", "next"), ""); got.status != 200 {
		t.Errorf("%s", got.text)
	}
	add("two")
	p.Process.Signal(syscall.SIGHUP)
	for begun := time.Now(); entities() != 62; time.Sleep(10 * time.Millisecond) {
		if time.Since(begun) > 20*time.Second {
			t.Fatal("SIGHUP reloads nothing")
		}
	}
	pipelinetest.Flip(t, w, "graph", "edges-00000-of-00001.arrow")
	if got := send(t, "POST", p.url+"/reload", ""); got.status != 500 || !strings.Contains(got.text, "edges-00000-of-00001.arrow") ||
		!strings.Contains(got.text, "answers as before") {
		t.Errorf("status %d: %s", got.status, got.text)
	}
	if got := send(t, "GET", p.url+ask("two", "next"), ""); got.status != 200 {
		t.Errorf("%s", got.text)
	}
	p.Process.Signal(syscall.SIGTERM)
	code, rest := p.end(t)
	for _, want := range []string{"the model was trained on another graph and may know the answers:",
		"reloaded: epoch-\\d+: 61 entities, 3 relations; computing on the CPU: ", "reloaded: epoch-\\d+: 62 entities, 3 relations; computing on the CPU: "} {
		if !regexp.MustCompile(want).MatchString(rest) {
			t.Errorf("no %q in %s", want, rest)
		}
	}
	if code != 0 || !regexp.MustCompile(`^serve: the reload failed, and epoch-\d+: 62 entities, 3 relations answers as `+
		`before: `).MatchString(p.stderr.String()) {
		t.Errorf("exit code %d, %q", code, p.stderr.String())
	}
}

// TestReloadNeedsMemory gives a server just enough memory for one graph.
func TestReloadNeedsMemory(t *testing.T) {
	w := trained(t)
	small := pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: command.ExitUsage}, "--workspace", w, "--memory", "1", "--threads", "2")
	least := regexp.MustCompile(`at least (\d+) MiB`).FindStringSubmatch(small)
	if least == nil {
		t.Fatal(small)
	}
	p := launch(t, w, "--memory", least[1], "--threads", "2")
	got := send(t, "POST", p.url+"/reload", "")
	if want := fmt.Sprintf("--memory %s is too small: serving this graph beside the earlier one with 2 threads takes at least ", least[1]); got.status != 500 ||
		!strings.Contains(got.text, want) {
		t.Errorf("status %d: %s, want %q", got.status, got.text, want)
	}
	if got := send(t, "GET", p.url+ask("e001", "next"), ""); got.status != 200 {
		t.Errorf("%s", got.text)
	}
}
