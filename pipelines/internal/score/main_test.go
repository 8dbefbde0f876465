package score

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/preprocess"
	"tagnet/pipelines/internal/train"
)

// asScore in the environment makes the test's binary the real command, which can be killed.
const asScore = "TAGNET_TEST_SCORE"

func TestMain(m *testing.M) {
	if os.Getenv(asScore) != "" {
		command.Main(Pipeline())
	}
	code := m.Run()
	os.RemoveAll(trainedOnce.folder)
	os.Exit(code)
}

// dataset writes a ring whose next leads on, back leads back, and skip is next twice. Its
// entities are named by prefix and number.
func dataset(t testing.TB, folder, prefix string, entities int) string {
	t.Helper()
	var train, held []string
	for i := range entities {
		name := func(j int) string { return fmt.Sprintf("%s%03d", prefix, j%entities) }
		train = append(train, name(i)+"\tnext\t"+name(i+1), name(i+1)+"\tback\t"+name(i))
		if skip := name(i) + "\tskip\t" + name(i+2); i%5 > 0 {
			train = append(train, skip)
		} else {
			held = append(held, skip)
		}
	}
	half := len(held) / 2
	if err := os.MkdirAll(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	for file, lines := range map[string][]string{"train.txt": train, "valid.txt": held[:half], "test.txt": held[half:]} {
		put(t, filepath.Join(folder, file), strings.Join(lines, "\n")+"\n")
	}
	return folder
}

func put(t testing.TB, file, text string) string {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

// run runs a pipeline in this process.
func run(t testing.TB, p command.Pipeline, arguments ...string) (code int, out, stderr string) {
	t.Helper()
	var o, e bytes.Buffer
	code = command.Run(context.Background(), p, arguments, &o, &e)
	return code, o.String(), e.String()
}

func succeed(t testing.TB, p command.Pipeline, arguments ...string) string {
	t.Helper()
	code, out, stderr := run(t, p, arguments...)
	if code != 0 {
		t.Fatalf("%s %q: exit code %d: %s", p.Name, arguments, code, stderr)
	}
	return out
}

// trainedOnce holds workspaces that are made once: of a trained model, for a ring of the same
// kind (transductive), and for another one to ask (inductive).
var trainedOnce struct {
	sync.Once
	folder string
}

// trained copies a workspace with a trained model: "plain" or "inductive".
func trained(t testing.TB, kind string) string {
	t.Helper()
	trainedOnce.Do(func() {
		var err error
		if trainedOnce.folder, err = os.MkdirTemp("", "tagnet-score-*"); err != nil {
			t.Fatal(err)
		}
		at := func(name string) string { return filepath.Join(trainedOnce.folder, name) }
		text, other := dataset(t, at("text"), "e", 60), dataset(t, at("other"), "o", 40)
		succeed(t, preprocess.Pipeline(), "--workspace", at("plain"), "--dataset", text)
		succeed(t, preprocess.Pipeline(), "--workspace", at("inductive"), "--dataset", text, "--inference", other)
		for _, kind := range []string{"plain", "inductive"} {
			succeed(t, train.Pipeline(), "--workspace", at(kind), "--layers", "3", "--dim", "8", "--epochs", "3", "--learning_rate", "0.02", "--negatives", "8")
		}
	})
	workspace := filepath.Join(t.TempDir(), "workspace")
	if err := os.CopyFS(workspace, os.DirFS(filepath.Join(trainedOnce.folder, kind))); err != nil {
		t.Fatal(err)
	}
	return workspace
}

// files are the contents of all files below a folder, but for what killed writers left.
func files(t testing.TB, folder string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasPrefix(entry.Name(), ".tagnet-tmp-") {
			return err
		}
		data, err := os.ReadFile(path)
		out[strings.TrimPrefix(path, folder)] = string(data)
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return out
}

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
		if _, ok := want[name]; !ok {
			t.Errorf("%s is too many", name)
		}
	}
}
