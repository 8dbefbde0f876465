package storage_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tagnet/formats/storage"
	"tagnet/formats/storage/storagetest"
)

func TestUnknownSchemes(t *testing.T) {
	for url, want := range map[string]string{
		"s3://bucket/f": `s3://bucket/f: unknown scheme "s3"; this program reads and writes plain paths, file://, mem://, test://`,
		"gs://bucket/f": `unknown scheme "gs"; this program reads and writes plain paths, file://, mem://, test://; for gs:// ` +
			`import _ "tagnet/formats/storage/gcs"`,
		"":       `"" is not a path or URL`,
		"gs://":  `"gs://" is not a path or URL`,
		"a\x00b": `is not a path or URL`,
	} {
		_, err := storage.ReadFile(t.Context(), url)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v", url, err)
		}
		if err := storage.WriteFile(t.Context(), url, nil); err == nil {
			t.Errorf("%q was written", url)
		}
	}
}

func TestFileSystems(t *testing.T) {
	for name, folder := range map[string]string{
		"plain path": t.TempDir(),
		"file":       "file://" + filepath.ToSlash(t.TempDir()),
		"mem":        "mem://" + t.Name(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storagetest.FileSystem(t, folder)
		})
	}
}

// TestLongText reads a file that is longer than any text, of which nothing is on the disk.
func TestLongText(t *testing.T) {
	url := filepath.Join(t.TempDir(), "forged.json")
	if err := errors.Join(os.WriteFile(url, nil, 0o666), os.Truncate(url, 256<<20+1)); err != nil {
		t.Fatal(err)
	}
	if _, err := storage.ReadText(t.Context(), url); err == nil || !strings.Contains(err.Error(), url+": it has 268435457 bytes") {
		t.Errorf("error %v", err)
	}
}

func TestBelow(t *testing.T) {
	for folder, want := range map[string]string{"a/b": "c/d", "a/b/": "c/d", "a": "b/c/d"} {
		if got := storage.Below(folder, "a/b/c/d"); got != want {
			t.Errorf("Below(%q) is %q, want %q", folder, got, want)
		}
	}
}

func TestJoin(t *testing.T) {
	for _, c := range [][]string{
		{"a", "b", "a/b"}, {"a/", "b", "a/b"}, {"./w", "g", "w/g"}, {"/", "a", "/a"}, {"a", "", "a"},
		{"file:///a/", "b", "file:///a/b"}, {"gs://bucket", "a/b", "gs://bucket/a/b"}, {"gs://bucket/", "a", "gs://bucket/a"},
		{"mem://m//n", "a", "mem://m/n/a"}, {"odd folder://x", "a", "odd folder:/x/a"},
	} {
		if got := storage.Join(c[0], c[1]); filepath.ToSlash(got) != c[2] {
			t.Errorf("storage.Join(%q, %q) is %q, want %q", c[0], c[1], got, c[2])
		}
	}
	for url, want := range map[string]string{"gs://b/a/c": "c", "a/c": "c", "c": "c", "mem://m": "m"} {
		if got := storage.Base(url); got != want {
			t.Errorf("storage.Base(%q) is %q, want %q", url, got, want)
		}
	}
}

func TestRemoveAllRefusesRoots(t *testing.T) {
	for _, url := range []string{"/", ".", "..", "file:///"} {
		if err := storage.RemoveAll(t.Context(), url); err == nil || !strings.Contains(err.Error(), "refused") {
			t.Errorf("%s: error %v", url, err)
		}
	}
}

func TestFolderThatIsALink(t *testing.T) {
	folder := t.TempDir()
	if err := storage.WriteFile(t.Context(), filepath.Join(folder, "real", "f"), nil); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(folder, "link")
	if err := os.Symlink("real", link); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	if got, err := storage.List(t.Context(), link); err != nil || !slices.Equal(got, []string{filepath.Join(link, "f")}) {
		t.Errorf("listed %q, error %v", got, err)
	}
}

// TestGuard checks that a context's guard is called before every change and before a file appears.
func TestGuard(t *testing.T) {
	t.Parallel()
	folder := storage.Join("mem://", t.Name())
	kept := storage.Join(folder, "kept")
	if err := storage.WriteFile(t.Context(), kept, []byte("x")); err != nil {
		t.Fatal(err)
	}
	refusal := errors.New("refused")
	var answer error
	ctx := storage.WithGuard(t.Context(), func(context.Context) error { return answer })
	w, err := storage.Create(ctx, storage.Join(folder, "new"))
	if err != nil {
		t.Fatal(err)
	}
	answer = refusal
	_, create := storage.Create(ctx, kept)
	for what, err := range map[string]error{
		"Commit": w.Commit(), "Create": create, "Remove": storage.Remove(ctx, kept), "RemoveAll": storage.RemoveAll(ctx, folder),
		"Clear": storage.Clear(ctx, folder, ""), "WriteFile": storage.WriteFile(ctx, kept, nil),
	} {
		if !errors.Is(err, refusal) {
			t.Errorf("%s: error %v", what, err)
		}
	}
	if left, err := storage.List(ctx, folder); err != nil || !slices.Equal(left, []string{kept}) {
		t.Errorf("left %q, error %v", left, err)
	}
}
