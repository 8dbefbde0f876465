package benchmark

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tagnet/formats/input/datasets"
	"tagnet/infra/experiments/internal/engine"
)

// standIn lets this test's program be the programs of a Runner: they print their arguments.
const standIn = "TAGNET_BENCHMARK_STAND_IN"

func TestMain(m *testing.M) {
	if os.Getenv(standIn) == "" {
		os.Exit(m.Run())
	}
	folder, err := os.Getwd()
	if err != nil {
		os.Exit(1)
	}
	fmt.Println(filepath.Base(folder), strings.Join(os.Args[1:], " "))
	fmt.Println("1,500 queries are done")
}

// runner returns a Runner of the stand-in, and the packages that it has built.
func runner(t *testing.T) (*Runner, *[]string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(standIn, "1")
	t.Setenv(datasets.DataVariable, "/some/data")
	var built []string
	r := &Runner{Folder: t.TempDir(), State: t.TempDir(), Processes: &engine.Processes{}, Build: func(_ context.Context, name, path string) (engine.Program, error) {
		built = append(built, name+" "+filepath.Base(path))
		return engine.Program{Path: self, Commit: "c0"}, nil
	}}
	if err := r.Open(); err != nil {
		t.Fatal(err)
	}
	return r, &built
}

// TestMeasure measures two entries with a common preparation, and reads the result back.
func TestMeasure(t *testing.T) {
	r, built := runner(t)
	prepare := []string{"tagnet preprocess --dataset $TAGNET_DATA/g"}
	one := Entry{Name: "one", Prepare: prepare, Measure: "tagnet score", Count: 1500, Unit: "queries"}
	two := Entry{Name: "two", Prepare: prepare, Measure: "go run ./infra/bench --threads 2", Count: 1500, Unit: "queries", Prints: true}
	for _, e := range []Entry{one, two} {
		m, err := r.Measure(t.Context(), e)
		if err != nil {
			t.Fatal(err)
		}
		if !(m.Seconds > 0 && m.CPUSeconds > 0 && m.PeakMiB > 1 && m.PeakMiB < 1000) || m.Commit != "c0" {
			t.Errorf("%+v", m)
		}
		read, err := ReadResult(t.Context(), r.Folder, e)
		if err != nil || read == nil || read.CPUSeconds != m.CPUSeconds || (read.Printed == "1,500 queries are done") != e.Prints {
			t.Errorf("read %+v, error %v", read, err)
		}
	}
	if got := strings.Join(*built, ", "); got != "./pipelines/tagnet pipelines-tagnet, ./infra/bench infra-bench" {
		t.Errorf("built %s", got)
	}
	for log, want := range map[string]string{"one": "work preprocess --dataset /some/data/g", "two-measured": "work --threads 2"} {
		if text, err := os.ReadFile(filepath.Join(r.State, "logs", log+".log")); err != nil || strings.Count(string(text), want+"\n") != 1 {
			t.Errorf("log %s: %s, error %v", log, text, err)
		}
	}
	if _, err := os.Stat(filepath.Join(r.State, "logs", "two.log")); err == nil {
		t.Error("the preparation ran twice")
	}
	one.Measure += " --force"
	if read, err := ReadResult(t.Context(), r.Folder, one); read != nil || err != nil {
		t.Errorf("the result of another command: %+v, error %v", read, err)
	}
	one.Count = 500 // a part of the number that is printed
	if _, err := r.Measure(t.Context(), one); err == nil || !strings.Contains(err.Error(), "did not print 500") {
		t.Errorf("another number than is printed: error %v", err)
	}
}

func TestMistakes(t *testing.T) {
	t.Parallel()
	const entry = `{"name": "a", "what": "w", "prepare": ["tagnet preprocess"], "measure": "tagnet score", "count": 1, "unit": "queries"}`
	path := filepath.Join(t.TempDir(), ListFile)
	for text, want := range map[string]string{
		entry: "",
		strings.Replace(entry, "tagnet score", "rm -r x", 1):  `"rm -r x" is no command`,
		strings.Replace(entry, `"a"`, `"../a"`, 1):            "../a",
		strings.Replace(entry, `"count": 1`, `"count": 0`, 1): "count has to be 1 or more",
		entry + "," + entry: "the name stands twice",
		entry + "," + strings.NewReplacer(`"a"`, `"b"`, "tagnet score", "tagnet preprocess").Replace(entry): "a runs the same command before",
		entry + `], "elsewhere": [{"source": "s", "entry": "b"}`:                                            "either ours or the entry",
	} {
		if err := os.WriteFile(path, []byte(`{"protocol": [], "entries": [`+text+`]}`), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := ReadList(t.Context(), path)
		if (err == nil) != (want == "") || err != nil && !(strings.Contains(err.Error(), want) && strings.HasPrefix(err.Error(), path+":1:")) {
			t.Errorf("%s: error %v, want %q", text, err, want)
		}
	}
}
