package serve

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tagnet/model"
	"tagnet/model/answer"
	"tagnet/model/weightstest"
	asked "tagnet/pipelines/internal/ask"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/preprocess"
	"tagnet/pipelines/internal/scoring/scoringtest"
	"tagnet/pipelines/internal/train"
)

func TestMain(m *testing.M) { os.Exit(pipelinetest.Main(m, Pipeline())) }

// trained returns a workspace with the model of a ring. Its tests are not parallel: a run of Beam changes TMPDIR.
func trained(t testing.TB) string { return scoringtest.Trained(t, "plain") }

// process is a server in a process of its own.
type process struct {
	*exec.Cmd
	url    string
	stdout *bufio.Reader
	stderr bytes.Buffer
}

// launch starts a server on a free port and waits until it listens.
func launch(t testing.TB, workspace string, arguments ...string) *process {
	t.Helper()
	p := &process{Cmd: pipelinetest.Command(t, append([]string{"--workspace", workspace, "--listen", "127.0.0.1:0"}, arguments...)...)}
	p.Stderr = &p.stderr
	p.listen(t)
	return p
}

// listen starts the process and waits until it listens.
func (p *process) listen(t testing.TB) {
	t.Helper()
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.stdout = bufio.NewReader(out)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Process.Kill() })
	for p.url == "" {
		line, err := p.stdout.ReadString('\n')
		if err != nil {
			t.Fatalf("the server does not listen: %v, %v, %s", err, p.Wait(), p.stderr.String())
		}
		if _, url, ok := strings.Cut(line, "listening on "); ok {
			p.url = strings.TrimSpace(url)
		}
	}
}

// end waits for the end of the process and returns its exit code and the rest of its output.
func (p *process) end(t testing.TB) (code int, rest string) {
	t.Helper()
	text, err := io.ReadAll(p.stdout)
	if err != nil {
		t.Error(err)
	}
	if err := p.Wait(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Error(err)
	}
	return p.ProcessState.ExitCode(), string(text)
}

// refused reports whether a server did not take a request: a connection that waits to be accepted when the listener is
// closed is reset, and writing to it afterwards is a broken pipe. A response that was cut short is another error.
func refused(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// TestInterruptAnswersWhatIsUnderWay interrupts a server under load: each request is answered or not taken at all.
func TestInterruptAnswersWhatIsUnderWay(t *testing.T) {
	p := launch(t, trained(t))
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	body := `{"queries":[` + strings.TrimSuffix(strings.Repeat(`{"source":"e007","relation":"skip"},`, 20), ",") + `]}`
	var answered atomic.Int64
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			for {
				response, err := client.Post(p.url+"/answer", "application/json", strings.NewReader(body))
				if err == nil {
					var text []byte
					text, err = io.ReadAll(response.Body)
					response.Body.Close()
					if err == nil && (response.StatusCode != 200 || !bytes.HasSuffix(text, []byte("]}\n"))) {
						t.Errorf("status %d: %s", response.StatusCode, text)
					}
				}
				switch {
				case err == nil:
					if answered.Add(1) == 50 {
						p.Process.Signal(syscall.SIGTERM)
					}
				case refused(err):
					return
				default:
					t.Error(err)
					return
				}
			}
		})
	}
	clients.Wait()
	code, rest := p.end(t)
	if code != 0 || !strings.Contains(rest, "stopped; every request was answered") || p.stderr.Len() > 0 {
		t.Errorf("exit code %d, %q, %q", code, rest, p.stderr.String())
	}
}

// underWay sends a server a request whose body never ends, and returns when the server has taken it.
func (p *process) underWay(t testing.TB) {
	t.Helper()
	connection, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { connection.Close() })
	fmt.Fprint(connection, "POST /answer HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
	for !strings.Contains(send(t, "GET", p.url+"/metrics", "").text, "tagnet_queries_under_way 1\n") {
	}
}

// interruptTwice interrupts a server with a request under way, and again when it says that it waits for that, and
// returns its exit code and how long the second interrupt took.
func (p *process) interruptTwice(t testing.TB) (code int, took time.Duration) {
	t.Helper()
	p.Process.Signal(syscall.SIGTERM)
	if line, err := p.stdout.ReadString('\n'); !strings.HasPrefix(line, "interrupted: answering 1 requests") {
		t.Errorf("%q, %v", line, err)
	}
	begun := time.Now()
	p.Process.Signal(syscall.SIGTERM)
	code, _ = p.end(t)
	return code, time.Since(begun)
}

// TestSecondInterrupt has a request under way whose body never ends.
func TestSecondInterrupt(t *testing.T) {
	p := launch(t, trained(t))
	p.underWay(t)
	code, took := p.interruptTwice(t)
	if code != command.ExitInterrupted || took > 5*time.Second || !strings.Contains(p.stderr.String(), "1 requests were not answered") {
		t.Errorf("exit code %d after %v: %q", code, took, p.stderr.String())
	}
}

// TestSecondInterruptUnread has a pipe for standard error that is full, and that nobody reads.
func TestSecondInterruptUnread(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if err := w.SetWriteDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
		t.Skipf("no pipe can be filled here: %v", err)
	}
	if n, err := w.Write(make([]byte, 1<<22)); err == nil {
		t.Skipf("a pipe takes %d bytes", n)
	}
	p := &process{Cmd: pipelinetest.Command(t, "--workspace", trained(t), "--listen", "127.0.0.1:0")}
	p.Stderr = w
	p.listen(t)
	p.underWay(t)
	if code, took := p.interruptTwice(t); code != command.ExitInterrupted || took > 10*time.Second {
		t.Errorf("exit code %d after %v", code, took)
	}
}

// TestManyRequests sends some hundreds of requests, a tenth of them malformed, kills the server in between, and
// compares the answers of the next one.
func TestManyRequests(t *testing.T) {
	workspace := trained(t)
	first := launch(t, workspace)
	ready(t, first.url)
	written(t, workspace) // the training has written it, or the server has
	first.Process.Kill()
	first.end(t)
	before := pipelinetest.Files(t, workspace)
	malformed := []string{
		"GARBAGE\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "GET /answer?source=%zz HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"GET /\x00 HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"POST /answer HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
		"POST /answer HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{{{{{{{{{",
		"POST /answer HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
		"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("x", 2*mostHeader) + "\r\n\r\n",
		"GET /answer HTTP/1.1\r\nHost: localhost\r\n\r\n", "GET http://[::1 HTTP/1.1\r\nHost: localhost\r\n\r\n",
	}
	var answers [2][]string
	for run := range answers {
		p := launch(t, workspace)
		ready(t, p.url)
		address := strings.TrimPrefix(p.url, "http://")
		answers[run] = make([]string, 300)
		var clients sync.WaitGroup
		for client := range 6 {
			clients.Go(func() {
				for i := client; i < len(answers[run]); i += 6 {
					if i%10 > 0 {
						got := send(t, "GET", p.url+ask(fmt.Sprintf("e%03d", i/5%60), []string{"skip", "~skip", "next", "back"}[i%4]), "")
						if got.status != 200 {
							t.Errorf("status %d: %s", got.status, got.text)
						}
						answers[run][i] = got.text
						continue
					}
					connection, err := net.Dial("tcp", address)
					if err != nil {
						t.Error(err)
						continue
					}
					connection.SetDeadline(time.Now().Add(20 * time.Second))
					io.WriteString(connection, malformed[i/10%len(malformed)])
					line, err := bufio.NewReader(connection).ReadString('\n')
					if !strings.HasPrefix(line, "HTTP/1.1 4") && !strings.HasPrefix(line, "HTTP/1.1 505") && !errors.Is(err, syscall.ECONNRESET) {
						t.Errorf("%.60q: %q, %v", malformed[i/10%len(malformed)], line, err)
					}
					connection.Close()
				}
			})
		}
		clients.Wait()
		p.Process.Kill()
		p.end(t)
		if p.stderr.Len() > 0 {
			t.Errorf("the server printed %q", p.stderr.String())
		}
	}
	if diff := cmp.Diff(answers[0], answers[1]); diff != "" {
		t.Errorf("answers before and after the kill:\n%s", diff)
	}
	after := pipelinetest.Files(t, workspace)
	for _, files := range []map[string]string{before, after} { // the first server of a workspace writes the rules of its graph
		maps.DeleteFunc(files, func(name, _ string) bool { return strings.HasPrefix(name, answer.ProbabilitiesFolder+"/rules-") })
	}
	pipelinetest.Same(t, after, before) // the server changes nothing else
}

// TestTypesAndNewAnswers has a dataset with a file of types.
func TestTypesAndNewAnswers(t *testing.T) {
	dataset, workspace := pipelinetest.Ring("e", 30), filepath.Join(t.TempDir(), "workspace")
	var types strings.Builder
	for i := range 30 {
		fmt.Fprintf(&types, "e%03d\t%s\n", i, []string{"even", "odd"}[i%2])
	}
	folder := pipelinetest.Dataset(t, dataset)
	pipelinetest.Write(t, filepath.Join(folder, "types.txt"), types.String())
	pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", workspace, "--dataset", folder, "--types", filepath.Join(folder, "types.txt"))
	pipelinetest.Succeed(t, train.Pipeline(), "--workspace", workspace, "--layers", "2", "--dim", "8", "--epochs", "1", "--negatives", "8")
	p := launch(t, workspace)
	pipelinetest.Remove(t, filepath.Join(workspace, "graph")) // a server has read all that it needs
	if got := read[typesResponse](t, send(t, "GET", p.url+"/types", "")); !slices.Equal(got.Types, []string{"even", "odd"}) {
		t.Errorf("types %q", got.Types)
	}
	about := read[entityResponse](t, send(t, "GET", p.url+"/entity?entity=e007&neighbors=3", ""))
	if !slices.Equal(about.Types, []string{"odd"}) || about.Facts == 0 {
		t.Errorf("%+v", about)
	}
	names := func(of []model.Answer) (list []string) {
		for _, a := range of {
			list = append(list, a.Entity)
		}
		return list
	}
	ready(t, p.url)
	all := read[result](t, send(t, "GET", p.url+ask("e007", "skip", "k", "1000", "known", "true"), ""))
	odd := slices.DeleteFunc(slices.Clone(all.Answers), func(a model.Answer) bool { return a.Entity[3]%2 == '0'%2 })
	fresh := slices.DeleteFunc(slices.Clone(odd), func(a model.Answer) bool { return a.Known })
	if len(odd) != 14 || len(fresh) != 13 { // the source and e009 are left out
		t.Fatalf("%d odd answers, %d of them new", len(odd), len(fresh))
	}
	for query, want := range map[string][]model.Answer{
		`{"source":"e007","relation":"skip","k":1000,"candidates":"type:odd"}`:               fresh,
		`{"source":"e007","relation":"skip","k":1000,"candidates":"type:odd","known":false}`: fresh,
		`{"source":"e007","relation":"skip","k":1000,"candidates":"type:odd","known":true}`:  odd,
	} {
		if diff := cmp.Diff(names(want), names(read[result](t, send(t, "POST", p.url+"/answer", query)).Answers)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
	if f := read[failure](t, send(t, "GET", p.url+ask("e007", "skip", "candidates", "type:eve"), "")); len(f.Closest) == 0 || f.Closest[0] != "even" {
		t.Errorf("%+v", f)
	}
}

// TestModel serves a model that tagnet comes with, over a graph that has no model.
func TestModel(t *testing.T) {
	dataset := pipelinetest.RenamedRing("e", 30, "_hypernym", "_has_part", "_verb_group")
	workspace := filepath.Join(t.TempDir(), "workspace")
	pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", workspace, "--dataset", pipelinetest.Dataset(t, dataset))
	queries := filepath.Join(t.TempDir(), "queries.tsv")
	pipelinetest.Write(t, queries, "e003\t_hypernym\n")
	answers := map[string]string{}
	for _, reach := range []string{"-1", "5"} {
		of := []string{"--model", "wn18rr_v1", "--reach", reach}
		pipelinetest.Succeed(t, asked.Pipeline(), append(of, "--workspace", workspace, "--queries", queries, "--force")...)
		p := launch(t, workspace, of...)
		ready(t, p.url)
		got := read[result](t, send(t, "GET", p.url+ask("e003", "_hypernym"), ""))
		answers[reach] = pipelinetest.Read(t, workspace, "runs/main/answers/queries/answers.tsv")
		compareTable(t, answers[reach], got.Answers)
	}
	if answers["5"] == answers["-1"] {
		t.Error("a reach of 5 changes no answer")
	}
}

// TestULTRA serves with a file of ULTRA's weights, over a graph that has no model, and compares its answers
// with those of score.
func TestULTRA(t *testing.T) {
	workspace, weights := filepath.Join(t.TempDir(), "workspace"), filepath.Join(t.TempDir(), "drawn.pth")
	pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", workspace, "--dataset", pipelinetest.Dataset(t, pipelinetest.Ring("e", 30)))
	pipelinetest.Write(t, weights, string(weightstest.File(t, weightstest.Drawn(3).Tensors)))
	p := launch(t, workspace, "--model", weights)
	ready(t, p.url)
	written(t, workspace) // ask would otherwise find the server writing them
	if h := read[health](t, send(t, "GET", p.url+"/healthz", "")); h.Checkpoint != "drawn.pth" {
		t.Errorf("%+v", h)
	}
	got := read[result](t, send(t, "GET", p.url+ask("e003", "~skip"), ""))
	queries := filepath.Join(t.TempDir(), "queries.tsv")
	pipelinetest.Write(t, queries, "e003\t~skip\n")
	pipelinetest.Succeed(t, asked.Pipeline(), "--workspace", workspace, "--model", weights, "--queries", queries)
	compareTable(t, pipelinetest.Read(t, workspace, "runs/main/answers/queries/answers.tsv"), got.Answers)
	answer := got.Answers[0].Entity
	e := read[explanation](t, send(t, "GET", p.url+"/explain?source=e003&relation=~skip&k=2&walks=true&answer="+answer, ""))
	if len(e.Paths) != 2 || !strings.Contains(e.Weights, "not all of a score comes along paths") {
		t.Errorf("%+v", e)
	}
}

func TestRefusedCommands(t *testing.T) {
	workspace := trained(t)
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	empty := t.TempDir()
	for _, test := range []struct {
		arguments []string
		want      pipelinetest.Failure
	}{
		{[]string{"--listen", busy.Addr().String()},
			pipelinetest.Failure{Code: 1, Begin: "--listen " + busy.Addr().String() + ": another program listens there; name another port"}},
		{[]string{"--listen", "8080"}, pipelinetest.Failure{Code: 2, Begin: `--listen is "8080": want host:port`}},
		{[]string{"--listen", "127.0.0.1:http:80"}, pipelinetest.Failure{Code: 2, Begin: `--listen is "127.0.0.1:http:80": want host:port`}},
		{[]string{"--listen", "127.0.0.1:99999"}, pipelinetest.Failure{Code: 2, Begin: `--listen is "127.0.0.1:99999": want host:port`}},
		{[]string{"--timeout", "1ms"}, pipelinetest.Failure{Code: 2, Begin: "--timeout is 1ms: want 1s to 1h"}},
		{[]string{"--timeout", "20"}, pipelinetest.Failure{Code: 2, Says: []string{`"20" of --timeout`}}},
		{[]string{"--queue", "5"}, pipelinetest.Failure{Code: 2, Begin: "--queue is 5: want 100"}},
		{[]string{"--threads", "-1"}, pipelinetest.Failure{Code: 2, Begin: "--threads is -1: want 0 to 1024"}},
		{[]string{"--missing", "0"}, pipelinetest.Failure{Code: 2, Begin: `--missing is "0": want a share`}},
		{[]string{"--missing", "friend=2"}, pipelinetest.Failure{Code: 2, Begin: "--missing: ", Says: []string{`"friend"`}}},
		{[]string{"--missing", "next=2"}, pipelinetest.Failure{Code: 2, Begin: `--missing: `, Says: []string{`relation "next" has too few facts`}}},
		{[]string{"--graph", "test"}, pipelinetest.Failure{Code: 2, Says: []string{"all, train"}}},
		{[]string{"--kernel", "mmx"}, pipelinetest.Failure{Code: 2, Begin: "--kernel"}},
		{[]string{"--memory", "1"}, pipelinetest.Failure{Code: 2, Begin: "--memory 1 is too small: serving this graph"}},
		{[]string{"--model", "epoch-077"}, pipelinetest.Failure{Code: 1, Says: []string{"epoch-077"}}},
		{[]string{"--model", "wn18rr"}, pipelinetest.Failure{Code: 2, Begin: "--model wn18rr: the model does not know 3 of the graph's relations"}},
		{[]string{"--model", "nowhere.pth"}, pipelinetest.Failure{Code: 2, Begin: "--model: nowhere.pth does not exist"}},
		{[]string{"--model", "../../../formats/input/pytorch/testdata/optimizer.pth"},
			pipelinetest.Failure{Code: 1, Begin: "--model: ", Says: []string{"it is no ULTRA model"}}},
		{[]string{"--plan"}, pipelinetest.Failure{Code: 2, Begin: "--plan is not a flag of serve"}},
		{[]string{"--workspace", empty}, pipelinetest.Failure{Code: 1, Says: []string{"preprocess"}}},
		{[]string{"--port", "80"}, pipelinetest.Failure{Code: 2, Begin: "--port is not a flag of serve"}},
	} {
		pipelinetest.Fail(t, Pipeline(), test.want, append([]string{"--workspace", workspace, "--listen", "127.0.0.1:0"}, test.arguments...)...)
	}
	if err := os.RemoveAll(filepath.Join(workspace, "runs")); err != nil {
		t.Fatal(err)
	}
	pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: 1, Says: []string{"train"}}, "--workspace", workspace, "--listen", "127.0.0.1:0",
		"--model", "last")
}

// TestServesWithoutATraining serves the foundation model, with probabilities of the graph's validation facts.
func TestServesWithoutATraining(t *testing.T) {
	workspace := trained(t)
	if err := os.RemoveAll(filepath.Join(workspace, "runs")); err != nil {
		t.Fatal(err)
	}
	p := launch(t, workspace)
	ready(t, p.url)
	if got := read[result](t, send(t, "GET", p.url+ask("e003", "skip"), "")); got.Answers[0].Probability == nil {
		t.Errorf("%+v", got)
	}
}

// whenListening cancels the run of a command when it listens.
type whenListening struct {
	bytes.Buffer
	cancel func()
}

func (w *whenListening) Write(text []byte) (int, error) {
	if bytes.Contains(text, []byte("listening on")) {
		w.cancel()
	}
	return w.Buffer.Write(text)
}

// TestStartTellsWhatMatters has a server that other machines reach, with the model of a training that is not complete.
func TestStartTellsWhatMatters(t *testing.T) {
	workspace := trained(t)
	if err := os.Remove(filepath.Join(workspace, "runs", "main", "checkpoints", "manifest.json")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, stderr := &whenListening{cancel: cancel}, &bytes.Buffer{}
	if code := command.Run(ctx, Pipeline(), []string{"--workspace", workspace, "--listen", "0.0.0.0:0"}, out, stderr); code != 0 {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	for _, says := range []string{"training incomplete; using epoch-00", "train --workspace", "60 entities, 3 relations", "warning: there is no authentication",
		"listening on http://localhost:", "stopped; every request was answered"} {
		if !strings.Contains(out.String(), says) {
			t.Errorf("no %q in\n%s", says, out)
		}
	}
}
