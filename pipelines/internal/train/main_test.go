package train

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/preprocess"
)

// asTrain in the environment makes the test's binary the real command, which can be killed.
const asTrain = "TAGNET_TEST_TRAIN"

func TestMain(m *testing.M) {
	if os.Getenv(asTrain) != "" {
		command.Main(Pipeline())
	}
	os.Exit(m.Run())
}

// write writes a small dataset: a ring whose next leads on, back leads back, and skip is next
// twice. It returns its folder.
func write(t testing.TB, entities int) string {
	t.Helper()
	var train, held []string
	for i := range entities {
		name := func(j int) string { return fmt.Sprintf("e%03d", j%entities) }
		train = append(train, name(i)+"\tnext\t"+name(i+1), name(i+1)+"\tback\t"+name(i))
		if skip := name(i) + "\tskip\t" + name(i+2); i%5 > 0 {
			train = append(train, skip)
		} else {
			held = append(held, skip)
		}
	}
	folder := t.TempDir()
	half := len(held) / 2
	for file, lines := range map[string][]string{"train.txt": train, "valid.txt": held[:half], "test.txt": held[half:]} {
		if err := os.WriteFile(filepath.Join(folder, file), []byte(strings.Join(lines, "\n")+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// run runs a pipeline in this process.
func run(t testing.TB, p command.Pipeline, arguments ...string) (code int, out, stderr string) {
	t.Helper()
	var o, e bytes.Buffer
	code = command.Run(context.Background(), p, arguments, &o, &e)
	return code, o.String(), e.String()
}

// prepared is a workspace with the graph of a dataset.
func prepared(t testing.TB, dataset string) string {
	t.Helper()
	workspace := filepath.Join(t.TempDir(), "workspace")
	if code, _, stderr := run(t, preprocess.Pipeline(), "--workspace", workspace, "--dataset", dataset); code != 0 {
		t.Fatal(stderr)
	}
	return workspace
}

// small are the flags of a training that takes a second.
func small(workspace string, more ...string) []string {
	return append([]string{"--workspace", workspace, "--layers", "3", "--dim", "8", "--epochs", "4", "--negatives", "8", "--dropout", "0.1"}, more...)
}

// files are the contents of a folder by name.
func files(t testing.TB, folder string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, entry := range entries {
		if entry.IsDir() {
			continue
		}
		data, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[entry.Name()] = string(data)
	}
	return out
}

// same reports files that two folders do not have in common. What a killed writer left of an
// unfinished file is not one.
func same(t testing.TB, want, got map[string]string) {
	t.Helper()
	for name := range want {
		if _, ok := got[name]; !ok {
			t.Errorf("%s is missing", name)
		} else if got[name] != want[name] {
			t.Errorf("%s differs", name)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok && !strings.HasPrefix(name, ".tagnet-tmp-") {
			t.Errorf("%s is too many", name)
		}
	}
}
