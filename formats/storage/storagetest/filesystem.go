package storagetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"tagnet/formats/storage"
)

// FileSystem checks what every file system promises, in an empty folder of it.
func FileSystem(t *testing.T, folder string) {
	Operations(t, folder)
	t.Run("readers of a file that is replaced", func(t *testing.T) {
		defer storage.RemoveAll(t.Context(), folder)
		testReplaced(t, folder)
	})
}

// Operations checks what FileSystem checks, but for readers beside a writer, whose requests are of any number.
func Operations(t *testing.T, folder string) {
	for _, test := range []struct {
		name string
		test func(t *testing.T, folder string)
	}{
		{"absent", testAbsent}, {"write and read", testWriteRead}, {"random", testRandom}, {"atomic", testAtomic}, {"list and remove", testListRemove},
		{"compare and swap", testCompareAndSwap}, {"clear", testClear},
	} {
		t.Run(test.name, func(t *testing.T) {
			defer storage.RemoveAll(t.Context(), folder)
			test.test(t, folder)
		})
	}
	t.Run("writable", func(t *testing.T) {
		if err := storage.CheckWritable(t.Context(), storage.Join(folder, "new", "folder")); err != nil {
			t.Error(err)
		}
		if left, err := storage.List(t.Context(), folder); err != nil || len(left) != 0 {
			t.Errorf("left %q, error %v", left, err)
		}
	})
	t.Run("canceled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := storage.WriteFile(ctx, storage.Join(folder, "late"), nil); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	})
}

func write(t *testing.T, url string, content []byte) {
	t.Helper()
	if err := storage.WriteFile(t.Context(), url, content); err != nil {
		t.Fatal(err)
	}
}

// testAbsent checks that an absent file is an error to read, but not to remove or list.
func testAbsent(t *testing.T, folder string) {
	ctx := t.Context()
	url := storage.Join(folder, "no", "such.file")
	_, readErr := storage.ReadFile(ctx, url)
	_, openErr := storage.Open(ctx, url)
	_, randomErr := storage.OpenRandom(ctx, url)
	for what, err := range map[string]error{"ReadFile": readErr, "Open": openErr, "OpenRandom": randomErr} {
		if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), url) {
			t.Errorf("%s: error %v", what, err)
		}
	}
	if found, err := storage.Exists(ctx, url); found || err != nil {
		t.Errorf("exists: %v, error %v", found, err)
	}
	if err := storage.Remove(ctx, url); err != nil {
		t.Errorf("removing: %v", err)
	}
	if err := storage.RemoveAll(ctx, storage.Join(folder, "no")); err != nil {
		t.Errorf("removing the folder: %v", err)
	}
	if urls, err := storage.List(ctx, storage.Join(folder, "no")); len(urls) != 0 || err != nil {
		t.Errorf("list %q, error %v", urls, err)
	}
}

// testWriteRead checks that files are read as they were written, by all ways of reading.
func testWriteRead(t *testing.T, folder string) {
	ctx := t.Context()
	url := storage.Join(folder, "a", "b c", "ä.bin")
	for _, content := range [][]byte{[]byte("first"), {}, bytes.Repeat([]byte("0123456789"), 100_000)} {
		write(t, url, content)
		got, err := storage.ReadFile(ctx, url)
		if err != nil || !bytes.Equal(got, content) {
			t.Errorf("%d bytes read of %d, error %v", len(got), len(content), err)
		}
		r, err := storage.Open(ctx, url)
		if err != nil {
			t.Fatal(err)
		}
		got, err = io.ReadAll(r)
		r.Close()
		if err != nil || !bytes.Equal(got, content) {
			t.Errorf("%d bytes streamed of %d, error %v", len(got), len(content), err)
		}
	}
	if found, err := storage.Exists(ctx, url); !found || err != nil {
		t.Errorf("exists: %v, error %v", found, err)
	}
	if found, err := storage.Exists(ctx, storage.Join(folder, "a")); found || err != nil {
		t.Errorf("a folder exists as a file: %v, error %v", found, err)
	}
}

// testRandom reads ranges, also beyond the end.
func testRandom(t *testing.T, folder string) {
	ctx := t.Context()
	url := storage.Join(folder, "digits")
	write(t, url, []byte("0123456789"))
	r, err := storage.OpenRandom(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.Size() != 10 {
		t.Errorf("size %d", r.Size())
	}
	// Ranges within, across and behind the end.
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
	// Seeking and reading on.
	if at, err := r.Seek(-3, io.SeekEnd); at != 7 || err != nil {
		t.Errorf("seek to %d, error %v", at, err)
	}
	if rest, err := io.ReadAll(r); string(rest) != "789" || err != nil {
		t.Errorf("the rest is %q, error %v", rest, err)
	}
}

// testAtomic checks that readers see the old file until Commit, and no trace of one that is aborted.
func testAtomic(t *testing.T, folder string) {
	ctx := t.Context()
	url := storage.Join(folder, "f")
	write(t, url, []byte("old"))
	check := func(when, want string) {
		t.Helper()
		if got, err := storage.ReadFile(ctx, url); string(got) != want || err != nil {
			t.Errorf("%s: %q, error %v", when, got, err)
		}
		if urls, err := storage.List(ctx, folder); err != nil || !slices.Equal(urls, []string{url}) {
			t.Errorf("%s: listed %q, error %v", when, urls, err)
		}
	}
	// An aborted writer leaves the old file.
	dropped, err := storage.Create(ctx, url)
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
	// A committed writer replaces it, once.
	w, err := storage.Create(ctx, url)
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

// testReplaced replaces a file again and again: it always exists, and a reader gets what it was or what it became. A
// remote storage may instead refuse to read the rest of what was replaced.
func testReplaced(t *testing.T, folder string) {
	ctx := t.Context()
	url := storage.Join(folder, "f")
	content := func(i int) []byte { return bytes.Repeat([]byte{byte('a' + i%2)}, 20_000*(1+i%2)) }
	write(t, url, content(0))
	var ended atomic.Bool
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for !ended.Load() {
				got, err := storage.ReadFile(ctx, url)
				if errors.Is(err, fs.ErrNotExist) {
					t.Errorf("a file that is replaced: error %v", err)
					return
				}
				if err == nil && !bytes.Equal(got, content(0)) && !bytes.Equal(got, content(1)) {
					t.Errorf("%d bytes are read that nobody wrote as a whole", len(got))
					return
				}
				if found, err := storage.Exists(ctx, url); !found || err != nil {
					t.Errorf("the file exists: %v, error %v", found, err)
					return
				}
			}
		})
	}
	for i := range 30 {
		if err := storage.WriteFile(ctx, url, content(i)); err != nil {
			t.Error(err)
		}
	}
	ended.Store(true)
	readers.Wait()
}

// testListRemove checks that a folder's name is no prefix of others: a/ is listed and removed without ab/.
func testListRemove(t *testing.T, folder string) {
	ctx := t.Context()
	var want []string
	for _, name := range []string{"a/2", "a/1", "a/b/3", "ab/4", "a.txt"} {
		write(t, storage.Join(folder, name), []byte(name))
		want = append(want, storage.Join(folder, name))
	}
	slices.Sort(want)
	if got, err := storage.List(ctx, folder+"/"); err != nil || !slices.Equal(got, want) {
		t.Errorf("listed %q, error %v, want %q", got, err, want)
	}
	if err := storage.RemoveAll(ctx, storage.Join(folder, "a")); err != nil {
		t.Error(err)
	}
	if err := storage.Remove(ctx, storage.Join(folder, "a.txt")); err != nil {
		t.Error(err)
	}
	if got, err := storage.List(ctx, folder); err != nil || !slices.Equal(got, []string{storage.Join(folder, "ab/4")}) {
		t.Errorf("listed %q, error %v", got, err)
	}
}

// testCompareAndSwap takes a file through swaps that fail and that succeed, then lets callers compete: one wins.
func testCompareAndSwap(t *testing.T, folder string) {
	ctx := t.Context()
	url := storage.Join(folder, "new", "lock")
	one, two := []byte("one"), []byte("second")
	// One caller: each swap succeeds only if old is the content; nil is no file.
	for i, step := range []struct {
		old, replacement []byte
		swapped          bool
		left             string
	}{
		{one, two, false, ""},
		{one, nil, false, ""},
		{nil, one, true, "one"},
		{nil, two, false, "one"},
		{two, one, false, "one"},
		{two, nil, false, "one"},
		{one, two, true, "second"},
		{two, one, true, "one"},
		{one, nil, true, ""},
		{nil, two, true, "second"},
	} {
		swapped, err := storage.CompareAndSwap(ctx, url, step.old, step.replacement)
		if swapped != step.swapped || err != nil {
			t.Fatalf("step %d: swapped %v, error %v", i, swapped, err)
		}
		got, err := storage.ReadFile(ctx, url)
		if string(got) != step.left || (err != nil) != (step.left == "") {
			t.Fatalf("step %d: left %q, error %v", i, got, err)
		}
	}
	// Eight callers at a time.
	for _, round := range []struct {
		from   []byte
		remove bool
	}{{two, false}, {nil, false}, {two, true}} {
		if err := storage.Remove(ctx, url); err != nil {
			t.Fatal(err)
		}
		if round.from != nil {
			write(t, url, round.from)
		}
		var winners atomic.Int64
		var callers sync.WaitGroup
		for i := range 8 {
			replacement := fmt.Appendf(nil, "caller %d", i)
			if round.remove {
				replacement = nil
			}
			callers.Go(func() {
				swapped, err := storage.CompareAndSwap(ctx, url, round.from, replacement)
				if err != nil {
					t.Error(err)
				}
				if swapped {
					winners.Add(1)
				}
			})
		}
		callers.Wait()
		if winners.Load() != 1 {
			t.Errorf("%d callers replaced %q, by nothing: %v", winners.Load(), round.from, round.remove)
		}
		if exists, err := storage.Exists(ctx, url); exists == round.remove || err != nil {
			t.Errorf("after %q, replaced by nothing: %v, the file exists: %v, error %v", round.from, round.remove, exists, err)
		}
	}
}

// testClear checks that all files of a folder but the kept one are removed.
func testClear(t *testing.T, folder string) {
	ctx := t.Context()
	kept := storage.Join(folder, "kept")
	for _, url := range []string{kept, storage.Join(folder, "other"), storage.Join(folder, "a", "b")} {
		write(t, url, []byte("x"))
	}
	if err := storage.Clear(ctx, folder, kept); err != nil {
		t.Fatal(err)
	}
	if got, err := storage.List(ctx, folder); err != nil || !slices.Equal(got, []string{kept}) {
		t.Errorf("left %q, error %v", got, err)
	}
}
