package quickstart

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/pipelinetest"
)

func TestMain(m *testing.M) { os.Exit(pipelinetest.Main(m, Playground())) }

// process is a playground in a process of its own.
type process struct {
	*exec.Cmd
	temporary string // its folder of temporary files
	out       *bufio.Scanner
	said      []string // lines of standard output
	stderr    bytes.Buffer
}

// launch starts a playground on a free port.
func launch(t *testing.T, browser string, arguments ...string) *process {
	t.Helper()
	p := &process{Cmd: pipelinetest.Command(t, append([]string{"--listen", "127.0.0.1:0"}, arguments...)...), temporary: t.TempDir()}
	p.Env = append(p.Env, "TMPDIR="+p.temporary, "BROWSER="+browser)
	p.Stderr = &p.stderr
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewScanner(out)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Process.Kill() })
	return p
}

// line returns the rest of the next line that begins with some words.
func (p *process) line(t *testing.T, begin string) string {
	t.Helper()
	for p.out.Scan() {
		p.said = append(p.said, p.out.Text())
		if rest, found := strings.CutPrefix(p.out.Text(), begin); found {
			return strings.TrimSpace(rest)
		}
	}
	_ = p.Wait()
	t.Fatalf("no line %q in %q; %s", begin, p.said, p.stderr.String())
	return ""
}

// stop sends SIGTERM and checks the exit code, and that nothing is left but what the test expects.
func (p *process) stop(t *testing.T, code int) {
	t.Helper()
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for p.out.Scan() {
		p.said = append(p.said, p.out.Text())
	}
	_ = p.Wait()
	if got := p.ProcessState.ExitCode(); got != code {
		t.Errorf("exit code %d, want %d: %s", got, code, p.stderr.String())
	}
	left, err := os.ReadDir(p.temporary)
	if err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %v, %v", left, err)
	}
}

// get returns the body of a page.
func get(t *testing.T, url string) string {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != 200 {
		t.Fatalf("%s: status %d, %v: %s", url, response.StatusCode, err, text)
	}
	return string(text)
}

// play starts it with the workspace of a quickstart, whose model it takes, with a program in the place of the browser;
// asks what the page asks, and stops it. It makes nothing again.
func play(t *testing.T, root string) {
	t.Helper()
	main := filepath.Join(root, "runs/main")
	kept := pipelinetest.Files(t, main)
	opened := filepath.Join(t.TempDir(), "opened")
	browser := filepath.Join(t.TempDir(), "browser")
	if err := os.WriteFile(browser, []byte("#!/bin/sh\nprintf %s \"$1\" > '"+opened+".part'\nmv '"+opened+".part' '"+opened+"'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	p := launch(t, browser, "--workspace", root)
	for _, begin := range []string{"workspace   " + root, "facts       3,672", "missing     253", "zero-shot   MRR 0.6", "trained     MRR 0.92",
		"new facts   the 10 surest"} {
		p.line(t, begin)
	}
	if right, _, _ := strings.Cut(p.line(t, "right"), " "); !slices.Contains([]string{"8", "9", "10"}, right) {
		t.Errorf("%s of the surest facts are right", right)
	}
	address := p.line(t, "listening on")
	if open, err := pipelinetest.Listening(p.Process.Pid); runtime.GOOS == "linux" &&
		(err != nil || !slices.Equal(open, []string{strings.TrimPrefix(address, "http://")})) {
		t.Errorf("it listens on %v (%v), and prints %s", open, err, address)
	}
	query := strings.TrimPrefix(p.line(t, "page"), address+"/?")
	report := p.line(t, "report")
	p.line(t, "ready after")
	if page := get(t, address+"/?"+query); !strings.Contains(page, "<script>") && !strings.Contains(page, "<script ") {
		t.Errorf("the page is %s", page)
	}
	var asked struct {
		Probabilities string
		Answers       []struct {
			Known       bool
			Probability float64
		}
	}
	if err := json.Unmarshal([]byte(get(t, address+"/answer?"+query)), &asked); err != nil || len(asked.Answers) != 10 || asked.Probabilities != "ready" {
		t.Fatalf("%v: the answers are %+v", err, asked)
	}
	if first := asked.Answers[0]; !(first.Probability > 0.5) || first.Known {
		t.Errorf("the first answer is %+v", first)
	}
	if text := get(t, report); !strings.Contains(text, "MRR") || strings.Contains(text, `class="gap"`) {
		t.Error("the report is not of a complete run")
	}
	for begun := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		text, err := os.ReadFile(opened)
		if err == nil {
			if string(text) != address+"/?"+query {
				t.Errorf("the browser opens %s", text)
			}
			break
		}
		if time.Since(begun) > 20*time.Second {
			t.Fatalf("no browser was started: %v", err)
		}
	}
	p.stop(t, command.ExitOK)
	pipelinetest.Same(t, pipelinetest.Files(t, main), kept)
	if text := p.stderr.String(); strings.Contains(text, "epoch") {
		t.Errorf("it trains again: %s", text)
	}
}

func TestNoBrowser(t *testing.T) {
	t.Setenv("BROWSER", filepath.Join(t.TempDir(), "absent"))
	for open, begin := range map[bool]string{false: "", true: "no browser could be started"} {
		var out bytes.Buffer
		(&playground{open: open}).show(&command.Environment{Out: &out}, "http://localhost")
		if said := out.String(); !strings.HasPrefix(said, begin) || (said == "") != (begin == "") {
			t.Errorf("with --open=%v it says %q, want %q", open, said, begin)
		}
	}
}

// TestInterruptedBeforeThePage interrupts it while it trains.
func TestInterruptedBeforeThePage(t *testing.T) {
	t.Parallel()
	p := launch(t, "")
	if folder, _, _ := strings.Cut(p.line(t, "workspace"), ","); filepath.Dir(folder) != p.temporary {
		t.Errorf("the workspace is %s, want a folder in %s", folder, p.temporary)
	}
	p.line(t, "training")
	p.stop(t, command.ExitInterrupted)
	if text := p.stderr.String(); !strings.HasSuffix(text, "playground: interrupted; the temporary folder is removed\n") {
		t.Errorf("it says %s", text)
	}
}

// TestPortInUse fails before any work.
func TestPortInUse(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	p := launch(t, "", "--listen", taken.Addr().String())
	for p.out.Scan() {
		p.said = append(p.said, p.out.Text())
	}
	_ = p.Wait()
	stderr := p.stderr.String()
	if code := p.ProcessState.ExitCode(); code != command.ExitFailure || !strings.Contains(stderr, "another program listens there") || len(p.said) > 0 {
		t.Errorf("exit code %d, it says %q and %s", code, p.said, stderr)
	}
}
