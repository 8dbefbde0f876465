package datasets

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestResolve(t *testing.T) {
	root := t.TempDir()
	for _, folder := range []string{"umls", "inductive/WN18RR_v1"} {
		if err := os.MkdirAll(filepath.Join(root, folder), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(root, "train.txt")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	t.Setenv(DataVariable, root)
	for _, test := range []struct {
		name, want string
		wraps      error
		says       []string
	}{
		{name: root, want: root},
		{name: "gs://bucket/facts", want: "gs://bucket/facts"},
		{name: "umls", want: filepath.Join(root, "umls")},
		{name: "UMLS", want: filepath.Join(root, "umls")},
		{name: "wn18rr_v1", want: filepath.Join(root, "inductive", "WN18RR_v1")},
		{name: "fb15k-237", wraps: ErrAbsent, says: []string{"https://", filepath.Join(root, "fb15k-237"), DataVariable}},
		{name: "fb15k237", wraps: ErrUnknown, says: []string{`closest is "fb15k-237"`, "nations"}},
		{name: "nofile.csv", wraps: ErrUnknown, says: []string{"no file of this name is in this folder; give its path"}},
		{name: "kinships", wraps: ErrUnknown, says: []string{`closest is "kinship"`}},
		{name: filepath.Join(root, "nothing"), wraps: ErrUnknown, says: []string{"train.txt"}},
		{name: file, want: file},
	} {
		got, err := Resolve(context.Background(), test.name)
		if test.want != "" {
			if err != nil || got != test.want {
				t.Errorf("%s: got %q, %v; want %q", test.name, got, err, test.want)
			}
			continue
		}
		if err == nil || (test.wraps != nil && !errors.Is(err, test.wraps)) {
			t.Errorf("%s: got error %v, want one of %v", test.name, err, test.wraps)
			continue
		}
		for _, part := range test.says {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: error %q does not say %q", test.name, err, part)
			}
		}
	}
}

// A workspace that is named like its dataset does not hide it; a dataset of one's own does, and
// so does any folder where that of the catalog is not here.
func TestResolveWhereAFolderHasTheName(t *testing.T) {
	root := t.TempDir()
	t.Setenv(DataVariable, root)
	t.Chdir(t.TempDir())
	for _, folder := range []string{filepath.Join(root, "umls"), filepath.Join(root, "nations"), "umls/graph", "nations", "kinship/graph"} {
		if err := os.MkdirAll(folder, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile("nations/train.txt.gz", nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"umls": filepath.Join(root, "umls"), "nations": "nations", "kinship": "kinship", "./umls": "./umls"} {
		if got, err := Resolve(t.Context(), name); err != nil || got != want {
			t.Errorf("%s: got %q, %v; want %q", name, got, err, want)
		}
	}
}
