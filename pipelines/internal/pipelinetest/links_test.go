package pipelinetest_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tagnet/formats/storage/lock"
	"tagnet/formats/workspace/manifest"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/preprocess"
)

// complete returns a workspace that all steps have completed, which the tests only read.
func complete(t *testing.T, all []step) string {
	t.Helper()
	return pipelinetest.Template(t, "complete", func(workspace string) { reference(t, workspace, all) })
}

// planted returns a copy of a workspace in which a symbolic link stands in the place of a file or folder, and where
// that is now.
func planted(t *testing.T, workspace, name string) (copied, target string) {
	t.Helper()
	outer := t.TempDir()
	copied, target = filepath.Join(outer, "w"), filepath.Join(outer, "elsewhere")
	if err := os.CopyFS(copied, os.DirFS(workspace)); err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(copied, filepath.FromSlash(name))
	if _, err := os.Stat(at); err != nil {
		pipelinetest.Write(t, at, "precious")
	}
	if err := os.Rename(at, target); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, at); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	return copied, target
}

// everything returns the contents of the files at and below a path, and the targets of its symbolic links.
func everything(t *testing.T, path string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil || entry.IsDir():
			return err
		case entry.Type() == fs.ModeSymlink:
			found[name], err = os.Readlink(name)
		default:
			found[name] = pipelinetest.Read(t, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestLinksInAWorkspace puts symbolic links where each command writes. It fails and changes nothing where they lead to,
// and neither what the workspace has.
func TestLinksInAWorkspace(t *testing.T) {
	all := steps(t)
	workspace := complete(t, all)
	for i, names := range [][]string{
		{"graph", "graph/.lock", "graph/manifest.json", "graph/entities.arrow"},
		{"distances", "distances/test", "distances/test/.lock", "distances/test/manifest.json", "distances/test/distribution.json"},
		{"runs", "runs/main", "runs/main/checkpoints", "runs/main/checkpoints/.lock", "runs/main/checkpoints/manifest.json", "runs/main/checkpoints/best",
			"runs/main/checkpoints/shards", "runs/main/training.jsonl"},
		{"runs", "runs/main/evaluation", "runs/main/evaluation/test/.lock", "runs/main/evaluation/test/manifest.json",
			"runs/main/evaluation/test/metrics.json"},
		{"runs/main/messages", "runs/main/messages/test/.lock", "runs/main/messages/test/manifest.json", "runs/main/messages/test/summary.json"},
		{"report", "report/index.html"},
		{"bundles", "bundles/test-k8-t2", "bundles/test-k8-t2/.lock", "bundles/test-k8-t2/manifest.json", "bundles/test-k8-t2/header.json"},
	} {
		s := all[i]
		for _, name := range names {
			t.Run(s.pipeline().Name+" "+name, func(t *testing.T) {
				w, target := planted(t, workspace, name)
				before, inside := everything(t, target), everything(t, w)
				pipelinetest.Fail(t, s.pipeline(), pipelinetest.Failure{Code: command.ExitFailure, Says: []string{
					"writing " + filepath.Join(w, name) + ": it is a symbolic link, and nothing is written through one: remove it",
				}}, append([]string{"--workspace", w, "--force"}, s.arguments...)...)
				pipelinetest.Same(t, everything(t, target), before)
				pipelinetest.Same(t, everything(t, w), inside)
			})
		}
	}
}

// TestLinkedSample puts a symbolic link where preprocess writes the sample.
func TestLinkedSample(t *testing.T) {
	w, target := planted(t, t.TempDir(), "sample/train.txt")
	pipelinetest.Fail(t, preprocess.Pipeline(), pipelinetest.Failure{Code: command.ExitFailure}, "--workspace", w)
	pipelinetest.Same(t, everything(t, target), map[string]string{target: "precious"})
	if _, err := os.Stat(filepath.Join(w, "graph")); err == nil {
		t.Error("preprocess made the folder of the graph")
	}
}

// TestResumeThroughALink puts a symbolic link into the folder of a training that was interrupted.
func TestResumeThroughALink(t *testing.T) {
	all := steps(t)
	w, target := planted(t, complete(t, all), "runs/main/checkpoints/last")
	pipelinetest.Remove(t, w, "runs/main/checkpoints", manifest.FileName)
	pipelinetest.Write(t, filepath.Join(w, "runs/main/checkpoints", lock.FileName), `{"ended":true}`)
	stderr := pipelinetest.Fail(t, all[2].pipeline(), pipelinetest.Failure{Code: command.ExitFailure},
		append([]string{"--workspace", w, "--resume"}, all[2].arguments...)...)
	if !strings.Contains(stderr, "it is a symbolic link") {
		t.Errorf("the error is %s", stderr)
	}
	pipelinetest.Same(t, everything(t, target), map[string]string{target: "precious"})
}

// TestLinksThatAreRead works in a workspace that lies behind a symbolic link and whose graph is one.
func TestLinksThatAreRead(t *testing.T) {
	all := steps(t)
	w, target := planted(t, complete(t, all), "graph")
	before := pipelinetest.Files(t, target)
	behind := filepath.Join(t.TempDir(), "w")
	if err := os.Symlink(w, behind); err != nil {
		t.Fatal(err)
	}
	pipelinetest.Succeed(t, preprocess.Pipeline(), append([]string{"--workspace", behind}, all[0].arguments...)...)
	pipelinetest.Succeed(t, all[1].pipeline(), append([]string{"--workspace", behind, "--force"}, all[1].arguments...)...)
	pipelinetest.Same(t, pipelinetest.Files(t, target), before)
}
