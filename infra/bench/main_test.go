package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"tagnet/infra/internal/program"
	"tagnet/model/engine/kernel"
)

// sample returns a workspace with the built-in sample's graph, made by the command that users run.
var sample = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "bench")
	if err != nil {
		return "", err
	}
	workspace := filepath.Join(folder, "workspace")
	if out, err := exec.Command("go", "run", "-ldflags=-s -w", "tagnet/pipelines/preprocess", "--workspace", workspace).CombinedOutput(); err != nil {
		return folder, errors.New(string(out))
	}
	return workspace, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if folder, _ := sample(); folder != "" {
		_ = os.RemoveAll(filepath.Dir(folder))
	}
	os.Exit(code)
}

// measured runs the command on the sample.
func measured(t *testing.T, arguments ...string) result {
	t.Helper()
	workspace, err := sample()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := run(t.Context(), append([]string{"--workspace", workspace}, arguments...), &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(out.String(), "\n"); lines != 1 {
		t.Fatalf("%d lines, want one: %s", lines, out.String())
	}
	var r result
	decoder := json.NewDecoder(&out)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&r); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestWorkDoesNotDependOnKernelOrThreads checks that the counts are the same for all kernels and threads.
func TestWorkDoesNotDependOnKernelOrThreads(t *testing.T) {
	t.Setenv("TAGNET_KERNEL", "portable")
	want := measured(t, "--queries", "12", "--per_source", "3")
	if want.Queries != 12 || want.Messages <= 0 || want.Updates <= 0 || want.TotalMS <= 0 || want.Kernel != "portable" || want.Threads != 1 {
		t.Fatalf("measured %+v", want)
	}
	for _, k := range kernel.Available() {
		for _, threads := range []string{"1", "2"} {
			t.Setenv("TAGNET_KERNEL", k.Name())
			got := measured(t, "--queries", "12", "--per_source", "3", "--threads", threads)
			if got.Messages != want.Messages || got.Updates != want.Updates || got.Kernel != k.Name() {
				t.Errorf("%s on %s threads: %+v, want the work of %+v", k.Name(), threads, got, want)
			}
		}
	}
	for _, arguments := range [][]string{{"--queries", "3"}, {"--queries", "3", "--train"}} {
		if got := measured(t, append(arguments, "--threads", "5000")...); got.Threads != 3 {
			t.Errorf("%v: %d threads for 3 queries", arguments, got.Threads)
		}
	}
}

// TestDigits prints times and counts that no machine divides evenly.
func TestDigits(t *testing.T) {
	r := result{Queries: 7, Messages: 1083388.6952381, Updates: 1.0 / 3, SearchMS: 1.0 / 7, MessagesMS: 0.000012345678, DenseMS: 12345.678, TotalMS: 2.0 / 3, Kernel: "avx2", Threads: 3}
	text, err := json.Marshal(r.rounded())
	const want = `{"queries":7,"messages":1083388.7,"updates":0.3,"search_ms":0.1429,"messages_ms":0.00001235,"dense_ms":12350,"total_ms":0.6667,"kernel":"avx2","threads":3}`
	if err != nil || string(text) != want {
		t.Errorf("%v, %s, want %s", err, text, want)
	}
	if r := measured(t, "--queries", "7"); r != r.rounded() {
		t.Errorf("not rounded: %+v", r)
	}
}

func TestPhases(t *testing.T) {
	for _, arguments := range [][]string{{"--queries", "20"}, {"--queries", "20", "--train"}, {"--queries", "20", "--train", "--dependent"}} {
		r := measured(t, arguments...)
		phases := r.SearchMS + r.MessagesMS + r.DenseMS
		if !(r.SearchMS > 0 && r.MessagesMS > 0 && r.DenseMS > 0 && phases <= r.TotalMS) {
			t.Errorf("%v: %+v", arguments, r)
		}
	}
}

func TestProfile(t *testing.T) {
	workspace, err := sample()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "cpu.prof")
	if err := run(t.Context(), []string{"--workspace", workspace, "--queries", "4", "--cpuprofile", path}, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		t.Errorf("the profile: %v, %v", info, err)
	}
}

// TestPresets checks that a preset's policy is computed, and that flags replace its values.
func TestPresets(t *testing.T) {
	window := measured(t, "--train", "--queries", "4")
	for _, arguments := range [][]string{
		{"--preset", "fb-v1-astar"}, {"--preset", "wn-v1-window-astar"}, {"--preset", "wn18rr", "--policy", "full"}, {"--preset", "wn18rr", "--layers", "2"},
	} {
		r := measured(t, append([]string{"--train", "--queries", "4"}, arguments...)...)
		if r.Updates <= 0 || r.Messages <= 0 || r.Messages == window.Messages {
			t.Errorf("%v: %+v; the default has %+v", arguments, r, window)
		}
	}
}

func TestErrors(t *testing.T) {
	workspace, err := sample()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		arguments []string
		usage     bool
		says      string
	}{
		{[]string{"--layers", "0"}, true, "layers"},
		{[]string{"--preset", "wn18r"}, true, "wn18rr"},
		{[]string{"--policy", "partial"}, true, "policy"},
		{[]string{"--delta", "-1"}, true, "delta"},
		{[]string{"--queries", "0"}, true, "--queries"},
		{[]string{"--per_source", "0"}, true, "--per_source"},
		{[]string{"--negatives", "-5"}, true, "negatives"},
		{[]string{"--negatives", "many"}, true, "negatives"},
		{[]string{"--threads", "0"}, true, "--threads"},
		{[]string{"--threads", "many"}, true, "threads"},
		{[]string{"something"}, true, "something"},
		{[]string{"--workspace", filepath.Join(workspace, "absent")}, false, "go run ./pipelines/preprocess"},
		{[]string{"--cpuprofile", filepath.Join(workspace, "absent", "cpu.prof")}, false, "--cpuprofile"},
	} {
		var out bytes.Buffer
		err := run(t.Context(), append([]string{"--workspace", workspace}, c.arguments...), &out, io.Discard)
		if err == nil || !strings.Contains(err.Error(), c.says) || errors.As(err, new(program.UsageError)) != c.usage {
			t.Errorf("%v: %v", c.arguments, err)
		}
		if out.Len() > 0 {
			t.Errorf("%v printed %s", c.arguments, out.String())
		}
	}
	var help bytes.Buffer
	if err := run(t.Context(), []string{"-h"}, io.Discard, &help); !errors.Is(err, flag.ErrHelp) || !strings.Contains(help.String(), "-per_source") {
		t.Errorf("-h: %v, and %q", err, help.String())
	}
}

func TestInterrupted(t *testing.T) {
	workspace, err := sample()
	if err != nil {
		t.Fatal(err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	var out bytes.Buffer
	if err := run(ctx, []string{"--workspace", workspace}, &out, io.Discard); !errors.Is(err, context.Canceled) || out.Len() > 0 {
		t.Errorf("interrupted: %v, printed %q", err, out.String())
	}
}
