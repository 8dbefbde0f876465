package storage

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fsouza/fake-gcs-server/fakestorage"
)

// places returns an empty folder of every scheme.
func places(t *testing.T) map[string]string {
	return map[string]string{
		"plain path": t.TempDir(),
		"file":       "file://" + filepath.ToSlash(t.TempDir()),
		"mem":        "mem://" + t.Name(),
		"gs":         "gs://" + fakeBucket(t) + "/some/folder",
	}
}

// fakeBucket runs a stand-in for Google Cloud Storage and returns a bucket in it.
func fakeBucket(t *testing.T) string {
	t.Helper()
	server, err := fakestorage.NewServerWithOptions(fakestorage.Options{Scheme: "http", Host: "127.0.0.1", Writer: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	host := strings.TrimPrefix(server.URL(), "http://")
	server.CreateBucketWithOpts(fakestorage.CreateBucketOpts{Name: "bucket"})
	t.Setenv("STORAGE_EMULATOR_HOST", host)
	return "bucket"
}

// TestNobodyListens holds that an emulator that is not there is an error at once, by its name.
func TestNobodyListens(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	host := listener.Addr().String()
	listener.Close()
	for value, want := range map[string]string{
		host:             "reaching STORAGE_EMULATOR_HOST " + host,
		"http://" + host: "reaching STORAGE_EMULATOR_HOST http://" + host,
		host + "/":       "reaching STORAGE_EMULATOR_HOST " + host,
		"::1":            "STORAGE_EMULATOR_HOST is \"::1\": want HOST:PORT",
	} {
		t.Setenv("STORAGE_EMULATOR_HOST", value)
		_, err := Exists(t.Context(), "gs://bucket/file")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", value, err, want)
		}
	}
}

// impatient shortens how long a service is waited for.
func impatient(t *testing.T, short time.Duration) {
	longPatience, longTimeout := patience, answerTimeout
	patience, answerTimeout = short, 50*time.Millisecond
	t.Cleanup(func() { patience, answerTimeout = longPatience, longTimeout })
}

// TestNobodyAnswers holds that a service that takes calls and never answers ends in an error.
func TestNobodyAnswers(t *testing.T) {
	impatient(t, 200*time.Millisecond)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	t.Setenv("STORAGE_EMULATOR_HOST", listener.Addr().String())
	ctx, url := t.Context(), "gs://bucket/file"
	_, found := Exists(ctx, url)
	_, read := ReadFile(ctx, url)
	_, listed := List(ctx, "gs://bucket")
	for what, err := range map[string]error{"Exists": found, "ReadFile": read, "List": listed, "WriteFile": WriteFile(ctx, url, []byte("x")), "Remove": Remove(ctx, url)} {
		if err == nil || !strings.Contains(err.Error(), "gs://bucket") {
			t.Errorf("%s: error %v", what, err)
		}
	}
}

// TestPlaces asks the same of every scheme.
func TestPlaces(t *testing.T) {
	for name, folder := range places(t) {
		t.Run(name, func(t *testing.T) {
			t.Run("absent", func(t *testing.T) { testAbsent(t, folder) })
			t.Run("write and read", func(t *testing.T) { testWriteRead(t, folder) })
			t.Run("random", func(t *testing.T) { testRandom(t, folder) })
			t.Run("whole or not at all", func(t *testing.T) { testAtomic(t, folder) })
			t.Run("list and remove", func(t *testing.T) { testListRemove(t, folder) })
			t.Run("writable", func(t *testing.T) {
				if err := CheckWritable(t.Context(), Join(folder, "new", "folder")); err != nil {
					t.Error(err)
				}
				if left, err := List(t.Context(), folder); err != nil || len(left) != 0 {
					t.Errorf("left %q, error %v", left, err)
				}
			})
			t.Run("cancelled", func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				if err := WriteFile(ctx, Join(folder, "late"), nil); !errors.Is(err, context.Canceled) {
					t.Errorf("error %v", err)
				}
			})
		})
	}
}

func testAbsent(t *testing.T, folder string) {
	ctx := t.Context()
	url := Join(folder, "no", "such.file")
	_, readErr := ReadFile(ctx, url)
	_, openErr := Open(ctx, url)
	_, randomErr := OpenRandom(ctx, url)
	for what, err := range map[string]error{"ReadFile": readErr, "Open": openErr, "OpenRandom": randomErr} {
		if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), url) {
			t.Errorf("%s: error %v", what, err)
		}
	}
	if found, err := Exists(ctx, url); found || err != nil {
		t.Errorf("exists: %v, error %v", found, err)
	}
	if err := Remove(ctx, url); err != nil {
		t.Errorf("removing: %v", err)
	}
	if err := RemoveAll(ctx, Join(folder, "no")); err != nil {
		t.Errorf("removing the folder: %v", err)
	}
	if urls, err := List(ctx, Join(folder, "no")); len(urls) != 0 || err != nil {
		t.Errorf("list %q, error %v", urls, err)
	}
}

func testWriteRead(t *testing.T, folder string) {
	ctx := t.Context()
	defer RemoveAll(ctx, folder)
	url := Join(folder, "a", "b c", "ä.bin")
	for _, content := range [][]byte{[]byte("first"), {}, bytes.Repeat([]byte("0123456789"), 100_000)} {
		if err := WriteFile(ctx, url, content); err != nil {
			t.Fatal(err)
		}
		got, err := ReadFile(ctx, url)
		if err != nil || !bytes.Equal(got, content) {
			t.Errorf("%d bytes read of %d, error %v", len(got), len(content), err)
		}
		r, err := Open(ctx, url)
		if err != nil {
			t.Fatal(err)
		}
		got, err = io.ReadAll(r)
		r.Close()
		if err != nil || !bytes.Equal(got, content) {
			t.Errorf("%d bytes streamed of %d, error %v", len(got), len(content), err)
		}
	}
	if found, err := Exists(ctx, url); !found || err != nil {
		t.Errorf("exists: %v, error %v", found, err)
	}
	if found, err := Exists(ctx, Join(folder, "a")); found || err != nil {
		t.Errorf("a folder exists as a file: %v, error %v", found, err)
	}
}

func testRandom(t *testing.T, folder string) {
	ctx := t.Context()
	defer RemoveAll(ctx, folder)
	url := Join(folder, "digits")
	if err := WriteFile(ctx, url, []byte("0123456789")); err != nil {
		t.Fatal(err)
	}
	r, err := OpenRandom(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.Size() != 10 {
		t.Errorf("size %d", r.Size())
	}
	p := make([]byte, 4)
	for _, c := range []struct {
		at   int64
		want string
		err  error
	}{{0, "0123", nil}, {6, "6789", nil}, {3, "3456", nil}, {8, "89", io.EOF}, {10, "", io.EOF}, {99, "", io.EOF}} {
		n, err := r.ReadAt(p, c.at)
		if string(p[:n]) != c.want || n == len(p) && err != nil && err != io.EOF || n < len(p) && err != c.err {
			t.Errorf("at %d: %q, error %v", c.at, p[:n], err)
		}
	}
	if at, err := r.Seek(-3, io.SeekEnd); at != 7 || err != nil {
		t.Errorf("seek to %d, error %v", at, err)
	}
	if rest, err := io.ReadAll(r); string(rest) != "789" || err != nil {
		t.Errorf("the rest is %q, error %v", rest, err)
	}
}

func testAtomic(t *testing.T, folder string) {
	ctx := t.Context()
	defer RemoveAll(ctx, folder)
	url := Join(folder, "f")
	if err := WriteFile(ctx, url, []byte("old")); err != nil {
		t.Fatal(err)
	}
	check := func(when, want string) {
		t.Helper()
		if got, err := ReadFile(ctx, url); string(got) != want || err != nil {
			t.Errorf("%s: %q, error %v", when, got, err)
		}
		if urls, err := List(ctx, folder); err != nil || !slices.Equal(urls, []string{url}) {
			t.Errorf("%s: listed %q, error %v", when, urls, err)
		}
	}
	dropped, err := Create(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	dropped.Write(bytes.Repeat([]byte("new"), 1000))
	check("while writing", "old")
	if err := dropped.Abort(); err != nil {
		t.Error(err)
	}
	check("after Abort", "old")
	if err := dropped.Commit(); err == nil {
		t.Error("Commit after Abort went well")
	}
	check("after Commit of what was aborted", "old")
	w, err := Create(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(w, "ne")
	io.WriteString(w, "w")
	if err := w.Commit(); err != nil {
		t.Error(err)
	}
	if err := w.Abort(); err != nil {
		t.Errorf("Abort after Commit: %v", err)
	}
	check("after Commit", "new")
	if err := w.Commit(); err == nil {
		t.Error("a second Commit went well")
	}
}

func testListRemove(t *testing.T, folder string) {
	ctx := t.Context()
	defer RemoveAll(ctx, folder)
	var want []string
	for _, name := range []string{"a/2", "a/1", "a/b/3", "ab/4", "a.txt"} {
		if err := WriteFile(ctx, Join(folder, name), []byte(name)); err != nil {
			t.Fatal(err)
		}
		want = append(want, Join(folder, name))
	}
	slices.Sort(want)
	if got, err := List(ctx, folder+"/"); err != nil || !slices.Equal(got, want) {
		t.Errorf("listed %q, error %v, want %q", got, err, want)
	}
	if err := RemoveAll(ctx, Join(folder, "a")); err != nil {
		t.Error(err)
	}
	if err := Remove(ctx, Join(folder, "a.txt")); err != nil {
		t.Error(err)
	}
	if got, err := List(ctx, folder); err != nil || !slices.Equal(got, []string{Join(folder, "ab/4")}) {
		t.Errorf("listed %q, error %v", got, err)
	}
}

func TestUnknownSchemes(t *testing.T) {
	for url, want := range map[string]string{
		"s3://bucket/f": `s3://bucket/f: unknown scheme "s3"; known are plain paths, file://, gs:// and mem://`,
		"":              `"" is no path or URL`,
		"gs://":         `"gs://" is no path or URL`,
		"a\x00b":        `is no path or URL`,
	} {
		_, err := ReadFile(t.Context(), url)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v", url, err)
		}
		if err := WriteFile(t.Context(), url, nil); err == nil {
			t.Errorf("%q was written", url)
		}
	}
}

func TestJoin(t *testing.T) {
	for _, c := range [][]string{
		{"a", "b", "a/b"}, {"a/", "b", "a/b"}, {"./w", "g", "w/g"}, {"/", "a", "/a"}, {"a", "", "a"},
		{"file:///a/", "b", "file:///a/b"}, {"gs://bucket", "a/b", "gs://bucket/a/b"}, {"gs://bucket/", "a", "gs://bucket/a"},
		{"mem://m//n", "a", "mem://m/n/a"}, {"odd folder://x", "a", "odd folder:/x/a"},
	} {
		if got := Join(c[0], c[1]); filepath.ToSlash(got) != c[2] {
			t.Errorf("Join(%q, %q) is %q, want %q", c[0], c[1], got, c[2])
		}
	}
	for url, want := range map[string]string{"gs://b/a/c": "c", "a/c": "c", "c": "c", "mem://m": "m"} {
		if got := Base(url); got != want {
			t.Errorf("Base(%q) is %q, want %q", url, got, want)
		}
	}
}

func TestRemoveAllRefusesRoots(t *testing.T) {
	fakeBucket(t)
	for _, url := range []string{"/", ".", "..", "file:///", "gs://bucket", "gs://bucket/"} {
		if err := RemoveAll(t.Context(), url); err == nil || !strings.Contains(err.Error(), "refused") {
			t.Errorf("%s: error %v", url, err)
		}
	}
}

func TestBucketThatIsAbsent(t *testing.T) {
	fakeBucket(t)
	err := WriteFile(t.Context(), "gs://no-such-bucket/f", []byte("x"))
	if err == nil || !strings.Contains(err.Error(), "gs://no-such-bucket/f") {
		t.Errorf("error %v", err)
	}
	if _, err := ReadFile(t.Context(), "gs://no-such-bucket/f"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

func TestFolderThatIsALink(t *testing.T) {
	folder := t.TempDir()
	if err := WriteFile(t.Context(), filepath.Join(folder, "real", "f"), nil); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(folder, "link")
	if err := os.Symlink("real", link); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	if got, err := List(t.Context(), link); err != nil || !slices.Equal(got, []string{filepath.Join(link, "f")}) {
		t.Errorf("listed %q, error %v", got, err)
	}
}
