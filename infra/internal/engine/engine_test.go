package engine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/storage/lock"
	"tagnet/formats/workspace/metrics"
)

// fake returns a command of the program of tests.
func fake(name string, words ...string) Command {
	line := append([]string{"go", "run", "./infra/internal/engine/testdata/fake"}, words...)
	return Command{Name: name, Words: func(context.Context, string) ([]string, error) { return line, nil }}
}

// newEngine returns an engine with folders of its own, and what it prints.
func newEngine(t *testing.T) (*Engine, *strings.Builder) {
	t.Helper()
	folder := t.TempDir()
	var printed strings.Builder
	return &Engine{State: filepath.Join(folder, "state"), Results: filepath.Join(folder, "results"), Out: &printed, Diagnostics: &printed}, &printed
}

// calls returns what the fake commands of an engine were called with.
func calls(t *testing.T, e *Engine) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(e.State, "work", "calls"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(strings.ReplaceAll(strings.TrimSpace(string(text)), " ", "_"))
}

func contains(t *testing.T, text string, wanted ...string) {
	t.Helper()
	for _, want := range wanted {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

// TestMake makes two runs that share a preparation, skips them, finds one stale after a change of its inputs, and makes
// it again with Force.
func TestMake(t *testing.T) {
	t.Parallel()
	e, printed := newEngine(t)
	count := fake("count", "print", "1,234 facts")
	count.Count = 1234
	function := Command{Name: "made", Make: func(_ context.Context, work string) (any, error) {
		return map[string]string{"folder": filepath.Base(work)}, nil
	}}
	runs := []Run{
		{Name: "a/x", Inputs: map[string]string{"delta": "2"}, Commands: []Command{fake("", "print", "graph"), count}},
		{Name: "a/y", Inputs: map[string]string{"delta": "3"},
			Commands: []Command{fake("", "print", "graph"), fake("other", "print", "$TAGNET_DATA"), function}},
	}
	if err := e.Make(t.Context(), "test", runs); err != nil {
		t.Fatalf("%v\n%s", err, printed)
	}
	data := Data("")
	want := []string{"print_graph", "print_1,234_facts", "print_" + data}
	if diff := cmp.Diff(want, calls(t, e)); diff != "" || !filepath.IsAbs(data) {
		t.Errorf("the data is in %s, the commands differ:\n%s", data, diff)
	}
	r, err := Read(t.Context(), e.Results, "a/x")
	if err != nil || r == nil {
		t.Fatalf("result %v, error %v", r, err)
	}
	m := r.Commands["count"]
	if m.Seconds <= 0 || m.PeakMiB <= 0 || len(r.Kernels) != 1 || r.Machine.Cores < 1 {
		t.Errorf("the result is %+v", r)
	}
	contains(t, m.Command, "go run ./infra/internal/engine/testdata/fake print")
	if r, err := Read(t.Context(), e.Results, "a/y"); err != nil || string(r.Commands["made"].Made) == "" {
		t.Errorf("what a function made: %v, error %v", r, err)
	}
	if left, _ := filepath.Glob(filepath.Join(e.State, "unfinished", "*", "*")); len(left) > 0 {
		t.Errorf("unfinished results remain: %v", left)
	}

	runs[0].Inputs = map[string]string{"delta": "1"}
	printed.Reset()
	if err := e.Make(t.Context(), "test", runs); err != nil {
		t.Fatal(err)
	}
	contains(t, printed.String(), `a/x is stale: delta "2" instead of "1"; --force makes it again`, "1 of 2 runs are done")
	if n := len(calls(t, e)); n != 3 {
		t.Errorf("%d commands ran, want that finished runs are skipped", n)
	}
	e.Force = true
	if err := e.Make(t.Context(), "test", runs[:1]); err != nil {
		t.Fatal(err)
	}
	if state, why, _ := e.Inspect(t.Context(), runs[0]); state != Done {
		t.Errorf("after Force the run is %s %s", state, why)
	}
}

// TestInterrupt interrupts the second command of a run: it gets SIGTERM, and the next call begins with it.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	e, printed := newEngine(t)
	run := Run{Name: "one", Clean: []string{"cleaned"}, Commands: []Command{fake("first", "print", "1"), fake("second", "wait", "2")}}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for ctx.Err() == nil {
			time.Sleep(10 * time.Millisecond)
			if text, _ := os.ReadFile(filepath.Join(e.State, "logs", "one.log")); strings.Contains(string(text), "begin\n2") {
				cancel()
			}
		}
	}()
	if err := e.Make(ctx, "test", []Run{run}); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	contains(t, printed.String(), "waiting for the command to save what it has")
	if text, _ := os.ReadFile(filepath.Join(e.State, "logs", "one.log")); !strings.HasSuffix(string(text), "saved\n") {
		t.Errorf("the log is\n%s", text)
	}
	if state, _, _ := e.Inspect(t.Context(), run); state != Missing {
		t.Errorf("the run is %s", state)
	}
	cleaned := filepath.Join(e.State, "work", "cleaned")
	if err := os.Mkdir(cleaned, 0o777); err != nil {
		t.Fatal(err)
	}
	run.Commands[1] = fake("second", "print", "2")
	if err := e.Make(t.Context(), "test", []Run{run}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"print_1", "wait_2", "print_2"}, calls(t, e)); diff != "" {
		t.Errorf("the commands differ:\n%s", diff)
	}
	if _, err := os.Stat(cleaned); err != nil {
		t.Errorf("a run that continues removed what it had: %v", err)
	}
}

// TestEnough kills a process that has done enough, which is no failure, and leaves one alone that ends.
func TestEnough(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	release, err := e.open(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = release() }()
	for what, want := range map[string]string{"wait": "", "fail": "exit status 3"} {
		words, _ := fake("", what, "x").Words(t.Context(), "")
		p, arguments, err := e.program(t.Context(), words)
		if err != nil {
			t.Fatal(err)
		}
		log := filepath.Join(e.State, "logs", what)
		enough := func() bool {
			text, _ := os.ReadFile(log)
			return what == "wait" && strings.Contains(string(text), "begin\nx")
		}
		printed, took, err := e.process(t.Context(), log, p.Path, arguments, enough)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: error %v, want %q", what, err, want)
		}
		if printed != "begin\nx" || !(took.Seconds < 50) {
			t.Errorf("%s printed %q in %v s", what, printed, took.Seconds)
		}
	}
}

// TestClean checks what a run removes when it begins.
func TestClean(t *testing.T) {
	t.Parallel()
	for force, left := range map[bool]string{false: "other trained", true: "other"} {
		e, _ := newEngine(t)
		e.Force = force
		for _, folder := range []string{"old/x", "trained", "other"} {
			if err := os.MkdirAll(filepath.Join(e.work(), folder), 0o777); err != nil {
				t.Fatal(err)
			}
		}
		run := Run{Name: "one", Clean: []string{"old"},
			Commands: []Command{{Training: "other"}, {Name: "train", Training: "trained", Make: func(context.Context, string) (any, error) { return 1, nil }}}}
		run.Commands[0].Make = run.Commands[1].Make
		if err := e.Make(t.Context(), "test", []Run{run}); err != nil {
			t.Fatal(err)
		}
		found, err := os.ReadDir(e.work())
		var names []string
		for _, f := range found {
			names = append(names, f.Name())
		}
		if got := strings.Join(names, " "); err != nil || got != left {
			t.Errorf("with Force %v %q are left, want %q; error %v", force, got, left, err)
		}
	}
}

// TestFailure makes runs of which some fail: the others are made, and the error names those that failed.
func TestFailure(t *testing.T) {
	t.Parallel()
	e, printed := newEngine(t)
	uncounted := fake("count", "print", "12345")
	uncounted.Count = 1234
	err := e.Make(t.Context(), "test", []Run{
		{Name: "fails", Commands: []Command{fake("it", "fail", "no such thing")}},
		{Name: "counts", Commands: []Command{uncounted}},
		{Name: "unknown", Commands: []Command{{Name: "it", Words: func(context.Context, string) ([]string, error) { return []string{"rm", "-r"}, nil }}}},
		{Name: "works", Commands: []Command{fake("it", "print", "x")}},
	})
	if err == nil || !strings.Contains(err.Error(), "3 failed: fails, counts, unknown") {
		t.Errorf("error %v", err)
	}
	contains(t, printed.String(), "fails failed: no such thing (exit status 3; log: ", "did not print 1234", `"rm -r" is no command`, "works: it took",
		"1 of 4 runs are done")
}

// TestLock refuses a state that another process uses.
func TestLock(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	l, err := lock.Acquire(t.Context(), e.State, "other", false)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Release(t.Context())
	if err := e.Make(t.Context(), "test", nil); err == nil || !strings.Contains(err.Error(), "is used by process") {
		t.Errorf("error %v", err)
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	good := `{"format_version": 2, "run": "a/x", "inputs": {}, "modified": false, "machine": {"processor": "", "cores": 1, "os": ` +
		`"", "arch": ""}, "commands": {"it": {}}}`
	for _, c := range []struct{ old, new, want string }{
		{"", "", ""},
		{`"inputs"`, `"input"`, `x.json:1:37: unknown key`},
		{`"a/x"`, `"a/y"`, "it is the result of a/y in version 2, want a/x"},
		{`: 2`, `: 1`, "in version 1, want a/x in version 2"},
		{`"it": {}`, `"it": {"seconds": -1}`, "commands.it: seconds"},
		{`"it": {}`, `"it": {"training": {"epochs": 2, "messages": 1, "best_epoch": 3}}`, "commands.it: a training of 2 epochs"},
		{`"it": {}`, `"it": {"evaluation": {"queries": 2, "distinct": 3}}`, "commands.it: distinct"},
	} {
		path := filepath.Join(folder, "a", "x.json")
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.Replace(good, c.old, c.new, 1)), 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := Read(t.Context(), folder, "a/x")
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: error %v, want %q", c.new, err, c.want)
		}
	}
	if r, err := Read(t.Context(), folder, "a/none"); r != nil || err != nil {
		t.Errorf("no file: result %v, error %v", r, err)
	}
}

func TestDifferences(t *testing.T) {
	t.Parallel()
	r := Result{Inputs: map[string]string{"delta": "2", "gone": "5"}}
	for want, now := range map[string]map[string]string{
		"":                          {"delta": "2", "new": "0", "other": "false", "text": ""},
		`delta "2" instead of "3"`:  {"delta": "3"},
		`new "" instead of "7"`:     {"delta": "2", "new": "7"},
		`delta "2" instead of "0"`:  {"delta": "0"},
		`delta "2" instead of ""`:   {"delta": ""},
		`share "" instead of "0.5"`: {"share": "0.5"},
	} {
		if got := strings.Join(r.Differences(now), ", "); got != want {
			t.Errorf("%v: %q, want %q", now, got, want)
		}
	}
}

func TestSelect(t *testing.T) {
	t.Parallel()
	runs := []Run{{Name: "umls/3g"}, {Name: "umls/zero"}, {Name: "nations/zero"}, {Name: "alone"}}
	for patterns, want := range map[string]string{
		"": "umls/3g umls/zero nations/zero alone", "umls": "umls/3g umls/zero", "zero": "umls/zero nations/zero", "umls/z*,alone": "umls/zero alone",
		"*/3g": "umls/3g",
		"ulms": `no run matches "ulms"; the closest are`, "umls,x": `no run matches "x"`, "[": `no run matches "["`,
	} {
		selected, err := Select(runs, patterns)
		var names []string
		for _, r := range selected {
			names = append(names, r.Name)
		}
		got := strings.Join(names, " ")
		if err != nil {
			got = err.Error()
		}
		if err == nil && got != want || err != nil && !strings.HasPrefix(got, want) {
			t.Errorf("%q selects %q, want %q", patterns, got, want)
		}
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	result := func(change func(*Measured)) *Result {
		m := Measured{Seconds: 1, Training: &Training{Epochs: 1, Weights: "a", Seconds: 2}, Evaluation: &Evaluation{Summary: metrics.Summary{Queries: 4}}}
		change(&m)
		return &Result{Commands: map[string]Measured{"it": m}}
	}
	want := result(func(*Measured) {})
	for says, other := range map[string]*Result{
		"":                      result(func(m *Measured) { m.Seconds, m.Command, m.Training.Seconds = 7, "x", 9 }),
		"it has other weights":  result(func(m *Measured) { m.Training.Weights = "b" }),
		"it MRR 0.5 instead of": result(func(m *Measured) { m.Evaluation.Pessimistic.MRR = .5 }),
		"it x instead of ":      result(func(m *Measured) { m.Made = []byte("x") }),
	} {
		got := want.compare(other)
		if says == "" && len(got) > 0 || says != "" && (len(got) != 1 || !strings.HasPrefix(got[0], says)) {
			t.Errorf("%q, want %q", got, says)
		}
	}
}

// TestVerify repeats a run that makes the same each time, and one that does not.
func TestVerify(t *testing.T) {
	t.Setenv("TAGNET_KERNEL", "portable") // Verify sets it, and this restores it
	e, printed := newEngine(t)
	calls := 0
	runs := []Run{
		{Name: "same", Commands: []Command{{Name: "it", Make: func(context.Context, string) (any, error) { return 1, nil }}}},
		{Name: "counts", Commands: []Command{{Name: "it", Make: func(context.Context, string) (any, error) { calls++; return calls, nil }}}},
	}
	if err := e.Verify(t.Context(), "test", runs); err == nil || !strings.Contains(err.Error(), "same has no result to compare with") {
		t.Errorf("without results: error %v", err)
	}
	if err := e.Make(t.Context(), "test", runs); err != nil {
		t.Fatal(err)
	}
	err := e.Verify(t.Context(), "test", runs)
	if err == nil || !strings.Contains(err.Error(), "1 of 2 runs differ") {
		t.Errorf("error %v", err)
	}
	contains(t, printed.String(), "same: every digit is that of the result", "counts: differs from the result", "it 2 instead of 1")
	if r, err := Read(t.Context(), e.Results, "counts"); err != nil || !slices.Equal(r.Commands["it"].Made, []byte("1")) {
		t.Errorf("the result was replaced: %+v, error %v", r, err)
	}
}
