package serve

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/pipelinetest"
)

// output is the output of a server.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(text []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(text)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// inProcess serves in this process, with its devices, until end is called, which checks that the server ends well.
func inProcess(t *testing.T, workspace string, arguments ...string) (url string, said *output, end func()) {
	t.Helper()
	listener, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	said, ready, code := &output{}, make(chan string, 1), make(chan int, 1)
	go func() {
		code <- command.Run(ctx, On(listener, func(_ *command.Environment, url string) { ready <- url }),
			append([]string{"--workspace", workspace}, arguments...), said, said)
	}()
	select {
	case url = <-ready:
	case code := <-code:
		cancel()
		t.Fatalf("%d, %s", code, said)
	}
	return url, said, func() {
		cancel()
		if code := <-code; code != 0 || !strings.Contains(said.String(), "every request was answered") {
			t.Errorf("%d, %s", code, said)
		}
	}
}

// responses are what a server answers: answers, triples and paths.
type responses struct {
	answers results
	new     result
	scored  scoreResponse
	paths   string
}

func responsesOf(t *testing.T, url string) responses {
	t.Helper()
	var queries []string
	for i, relation := range []string{"skip", "~next"} {
		queries = append(queries, fmt.Sprintf(`{"source":"e%03d","relation":"%s"}`, 15*i, relation))
	}
	return responses{
		answers: read[results](t, send(t, "POST", url+"/answer", `{"k":8,"queries":[`+strings.Join(queries, ",")+`]}`)),
		new:     read[result](t, send(t, "GET", url+ask("e007", "skip", "k", "5"), "")),
		scored:  read[scoreResponse](t, send(t, "GET", url+"/score?head=e007&relation=skip&tail=e009", "")),
		paths:   send(t, "GET", url+"/explain?source=e007&relation=skip&answer=e009", "").text,
	}
}

// TestDevice compares the answers of a device with those of the CPU, before and after reloads.
func TestDevice(t *testing.T) {
	workspace := trained(t)
	url, said, end := inProcess(t, workspace, "--device", "cpu")
	want := responsesOf(t, url)
	if strings.Contains(said.String(), "computing on") {
		t.Errorf("--device cpu says %q", said)
	}
	end()
	card := pipelinetest.UseDevices(t, 1)[0]
	url, said, end = inProcess(t, workspace)
	defer end()
	for range 500 { // no request waits for a line that is said
		if strings.Contains(said.String(), "computing on") {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if !strings.Contains(said.String(), "; computing on cuda:0 (imaginary)\n") {
		t.Errorf("says %q, want what it computes on", said)
	}
	for reloads := range 4 {
		if reloads == 0 || reloads == 3 {
			if diff := cmp.Diff(want, responsesOf(t, url), cmp.AllowUnexported(responses{})); diff != "" {
				t.Errorf("(-CPU +device) after %d reloads:\n%s", reloads, diff)
			}
		}
		if got := send(t, "POST", url+"/reload", ""); got.status != 200 {
			t.Fatalf("%d: %s", got.status, got.text)
		}
	}
	if got := send(t, "GET", url+"/metrics", "").text; strings.Contains(got, "tagnet_queries_total 0\n") {
		t.Errorf("no query is counted: %s", got)
	}
	if made, closed := card.Count("scorer"), card.Count("close scorer"); made < 5 || made > closed+2 {
		t.Errorf("%d models were made on the device in 4 reloads, and %d closed, want at most two that are not", made, closed)
	}
	if card.Count("score") == 0 || card.Count("open") != 1 {
		t.Errorf("operations %q, want scorings of a device that is opened once", card.Operations)
	}
}

// TestDeviceIsLost has a device that fails under a request: its response is an error, and the next one's are answers.
func TestDeviceIsLost(t *testing.T) {
	workspace := trained(t)
	pipelinetest.UseFaulty(t, pipelinetest.Faults(3)["lost"])
	url, said, end := inProcess(t, workspace, "--device", "cuda")
	defer end()
	lost, answered := 0, 0 // and requests that were answered after the first one that was not
	for i := 0; i < 6 && answered == 0; i++ {
		switch got := send(t, "GET", url+ask("e007", "skip"), ""); {
		case got.status == 500:
			lost++
		case got.status != 200:
			t.Errorf("status %d: %s", got.status, got.text)
		case lost > 0:
			answered++
		}
	}
	if lost == 0 || answered == 0 {
		t.Errorf("%d requests failed, and %d were answered later: want some of each", lost, answered)
	}
	if !strings.Contains(said.String(), "the device was lost") {
		t.Errorf("says %q", said)
	}
}

// TestDeviceFails serves with devices that cannot be used, by choice and where one is taken if it can be.
func TestDeviceFails(t *testing.T) {
	workspace := trained(t)
	for name, fault := range pipelinetest.Faults(0) {
		if name == "lost" {
			continue // which is under a request
		}
		pipelinetest.UseFaulty(t, fault)
		code, _, stderr := pipelinetest.Run(t, Pipeline(), "--workspace", workspace, "--listen", "127.0.0.1:0", "--device", "cuda")
		if code != 1 || !strings.HasSuffix(stderr, fault.Err.Error()+"\n") || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: %d, %q, want a line that ends in %q", name, code, stderr, fault.Err)
		}
		url, said, end := inProcess(t, workspace)
		got := send(t, "GET", url+ask("e007", "skip"), "")
		end() // what it says may come after the answer
		if got.status != 200 || !strings.Contains(said.String(), "computing on the CPU: ") {
			t.Errorf("%s: auto: %d, %s", name, got.status, said)
		}
	}
}
