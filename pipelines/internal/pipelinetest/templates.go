package pipelinetest

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// templates holds the workspaces that Template made, in a temporary folder that Main removes.
var templates struct {
	sync.Mutex
	folder string
}

// withTemplates calls run with a folder for templates, removes the folder afterwards, and ends the browser.
func withTemplates(run func() int) int {
	folder, err := os.MkdirTemp("", "tagnet-test-*")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	defer closeBrowser()
	templates.folder = folder
	return run()
}

// Template returns a workspace of the test's own: a copy of the one that build made when a test of
// this process used the name first. TestMain of the package must call Main.
func Template(t testing.TB, name string, build func(workspace string)) string {
	t.Helper()
	templates.Lock()
	defer templates.Unlock()
	if templates.folder == "" {
		t.Fatal("Template needs a TestMain that calls pipelinetest.Main")
	}
	made := filepath.Join(templates.folder, name)
	if _, err := os.Stat(made); err != nil {
		unfinished := filepath.Join(t.TempDir(), "template")
		build(unfinished)
		if err := os.CopyFS(made, os.DirFS(unfinished)); err != nil {
			t.Fatal(err)
		}
	}
	workspace := filepath.Join(t.TempDir(), "workspace")
	if err := os.CopyFS(workspace, os.DirFS(made)); err != nil {
		t.Fatal(err)
	}
	return workspace
}
