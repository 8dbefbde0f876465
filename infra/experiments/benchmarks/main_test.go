package main

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"

	"tagnet/infra/experiments/internal/benchmark"
	"tagnet/infra/experiments/internal/engine"
	"tagnet/infra/internal/program"
)

// TestCommittedList checks that the command accepts the committed list, and names what is close to a wrong name.
func TestCommittedList(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	err := run(t.Context(), []string{"--list", "../../bench/commands.json", "--only", "score-wn18r"}, &out, &out)
	if !errors.As(err, new(program.UsageError)) || !strings.Contains(err.Error(), `no "score-wn18r"; the closest are score-wn18rr`) {
		t.Errorf("error %v", err)
	}
}

// TestChosen checks that entries keep the order of the list, each once: a later one may prepare with what an earlier one measures.
func TestChosen(t *testing.T) {
	t.Parallel()
	list := benchmark.List{Entries: []benchmark.Entry{{Name: "a"}, {Name: "b"}, {Name: "c"}}}
	got, err := chosen(list, "c,a,c")
	if err != nil || len(got) != 2 || got[0].Name != "a" || got[1].Name != "c" {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestMeasure checks that a failure does not stop the entries behind it, and that what has a result is measured again only with force.
func TestMeasure(t *testing.T) {
	t.Parallel()
	echo, err := exec.LookPath("echo")
	if err != nil {
		t.Skip(err)
	}
	r := &benchmark.Runner{Folder: t.TempDir(), State: t.TempDir(), Processes: &engine.Processes{}, Build: func(_ context.Context, name, _ string) (engine.Program, error) {
		if name == "./none" {
			return engine.Program{}, errors.New("no such package")
		}
		return engine.Program{Path: echo}, nil
	}}
	entries := []benchmark.Entry{
		{Name: "fails", Measure: "go run ./none", Count: 1, Unit: "queries"},
		{Name: "works", Measure: "tagnet 7 queries", Count: 7, Unit: "queries"},
	}
	for _, c := range []struct {
		force bool
		want  string
	}{{false, "2 of 2, 0 left"}, {false, "1 of 1, 0 left: go run"}, {true, "2 of 2, 0 left"}} {
		var out bytes.Buffer
		err := measure(t.Context(), r, entries, c.force, &out, &out)
		if err == nil || err.Error() != "1 failed: fails" || !strings.Contains(out.String(), c.want) || !strings.Contains(out.String(), "no such package") {
			t.Errorf("%s, error %v, want %s", &out, err, c.want)
		}
	}
}
