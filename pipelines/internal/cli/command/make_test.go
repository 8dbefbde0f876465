package command

import (
	"errors"
	"os"
	"testing"

	"tagnet/formats/storage"
	"tagnet/formats/storage/lock"
	"tagnet/formats/workspace/manifest"
	"tagnet/pipelines/internal/cli/workspace"
)

// TestMakeFolder runs jobs that succeed, fail, or leave something out, for folders that are resumed and others.
func TestMakeFolder(t *testing.T) {
	failed := errors.New("failed")
	for name, c := range map[string]struct {
		err     error
		writes  string
		resumed bool
		left    []string // by a job that fails
	}{
		"complete":       {nil, "file", false, []string{"file", manifest.FileName}},
		"failed":         {failed, "file", false, nil},
		"resumed":        {failed, "file", true, []string{lock.FileName, "file"}},
		"an output less": {nil, "other", false, []string{lock.FileName, "other"}},
	} {
		t.Run(name, func(t *testing.T) {
			e := &Environment{Workspace: workspace.New(t.TempDir())}
			s := workspace.Output{Workspace: e.Workspace, Name: "made", Folder: "made", Outputs: []string{"file"}, Resumed: c.resumed}
			calls := 0
			job := func() (map[string]int64, error) {
				calls++
				url := storage.Join(s.URL(), c.writes)
				return map[string]int64{"rows": 7}, errors.Join(storage.WriteFile(s.Lock().Guard(t.Context()), url, []byte("x")), c.err)
			}
			made, err := e.MakeFolder(t.Context(), &s, job)
			if complete := name == "complete"; made != complete || (err == nil) != complete || c.err != nil && !errors.Is(err, c.err) {
				t.Errorf("made %t, error %v", made, err)
			}
			entries, _ := os.ReadDir(s.URL())
			for i, name := range c.left {
				if len(entries) != len(c.left) || entries[i].Name() != name {
					t.Fatalf("the folder has %v, want %v", entries, c.left)
				}
			}
			if len(c.left) == 0 && len(entries) > 0 {
				t.Fatalf("the folder has %v", entries)
			}
			if m, err := manifest.Read(t.Context(), s.URL()); made && (err != nil || m.Rows["rows"] != 7) {
				t.Errorf("%v, %v", m.Rows, err)
			}
			if again, err := e.MakeFolder(t.Context(), &s, job); made && (again || err != nil || calls != 1) {
				t.Errorf("a complete folder: made %t, %v", again, err)
			}
		})
	}
}
