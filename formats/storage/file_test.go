package storage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func temporaries(t *testing.T, folder string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(folder, TemporaryPrefix+"*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// fullDisk fails as a disk does when it is full, at a chosen moment.
type fullDisk struct {
	*os.File
	space     int
	atSync    bool
	atClosing bool
}

func (f *fullDisk) Write(p []byte) (int, error) {
	if len(p) <= f.space {
		f.space -= len(p)
		return f.File.Write(p)
	}
	n, _ := f.File.Write(p[:f.space])
	f.space = 0
	return n, &fs.PathError{Op: "write", Path: f.Name(), Err: syscall.ENOSPC}
}

func (f *fullDisk) Sync() error {
	if f.atSync {
		return &fs.PathError{Op: "sync", Path: f.Name(), Err: syscall.ENOSPC}
	}
	return f.File.Sync()
}

func (f *fullDisk) Close() error {
	err := f.File.Close()
	if f.atClosing {
		return &fs.PathError{Op: "close", Path: f.Name(), Err: syscall.ENOSPC}
	}
	return err
}

func TestFullDiskLeavesNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		moment string
		fill   func(*fullDisk)
	}{
		{"first write", func(f *fullDisk) { f.space = 0 }},
		{"later write", func(f *fullDisk) { f.space = 5 }},
		{"sync", func(f *fullDisk) { f.atSync = true }},
		{"close", func(f *fullDisk) { f.atClosing = true }},
	} {
		folder := t.TempDir()
		url := filepath.Join(folder, "table.arrow")
		w, err := Create(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		disk := &fullDisk{File: w.(*fileWriter).file.(*os.File), space: 100}
		c.fill(disk)
		w.(*fileWriter).file = disk
		for range 3 {
			// A caller that overlooks the error of a Write is told by Commit.
			w.Write([]byte("four"))
		}
		err = w.Commit()
		if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), url) ||
			!strings.Contains(err.Error(), "the disk is full") || strings.Contains(err.Error(), TemporaryPrefix) {
			t.Errorf("%s: error %v", c.moment, err)
		}
		if entries, _ := os.ReadDir(folder); len(entries) != 0 {
			t.Errorf("%s: %q was left", c.moment, entries)
		}
		if err := w.Abort(); err != nil {
			t.Errorf("%s: Abort after a failed Commit: %v", c.moment, err)
		}
	}
}

// TestFolderRemovedWhileWriting checks that a file whose folder another run removes does not appear,
// with an error that says so.
func TestFolderRemovedWhileWriting(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "made")
	w, err := Create(t.Context(), filepath.Join(folder, "f"))
	if err != nil {
		t.Fatal(err)
	}
	if err := RemoveAll(t.Context(), folder); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(t.Context(), filepath.Join(folder, "other"), nil); err != nil {
		t.Fatal(err)
	}
	err = w.Commit()
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "another run") || strings.Contains(err.Error(), TemporaryPrefix) {
		t.Errorf("error %v", err)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) != 1 {
		t.Errorf("left %v, %v", left, err)
	}
}

// TestKilledWriter kills a process that writes, and then writes the same file.
func TestKilledWriter(t *testing.T) {
	if url := os.Getenv("TAGNET_TEST_WRITE_AND_DIE"); url != "" {
		w, err := Create(context.Background(), url)
		if err != nil {
			t.Fatal(err)
		}
		w.Write([]byte("half"))
		self, _ := os.FindProcess(os.Getpid())
		self.Kill()
		select {}
	}
	url := filepath.Join(t.TempDir(), "f")
	child := exec.Command(os.Args[0], "-test.run=^TestKilledWriter$")
	child.Env = append(os.Environ(), "TAGNET_TEST_WRITE_AND_DIE="+url)
	if err := child.Run(); err == nil {
		t.Fatal("the child was not killed")
	}
	if found, _ := Exists(t.Context(), url); found {
		t.Error("the killed process left a file that looks whole")
	}
	if left := temporaries(t, filepath.Dir(url)); len(left) != 1 {
		t.Fatalf("the killed process left %q", left)
	}
	if urls, err := List(t.Context(), filepath.Dir(url)); err != nil || len(urls) != 0 {
		t.Errorf("listed %q, error %v", urls, err)
	}
	if err := WriteFile(t.Context(), url, []byte("whole")); err != nil {
		t.Fatal(err)
	}
	if err := RemoveTemporary(t.Context(), filepath.Dir(url)); err != nil {
		t.Fatal(err)
	}
	if found, err := Exists(t.Context(), url); !found || err != nil {
		t.Errorf("exists %v, error %v", found, err)
	}
	if left := temporaries(t, filepath.Dir(url)); len(left) != 0 {
		t.Errorf("%q is left", left)
	}
}

// TestTwoWritersOfOneFile checks that of two writers of a file each commits what it wrote.
func TestTwoWritersOfOneFile(t *testing.T) {
	t.Parallel()
	url := filepath.Join(t.TempDir(), "f")
	first, err := Create(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Create(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	for content, w := range map[string]Writer{"first": first, "second": second} {
		if _, err := w.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
		if err := w.Commit(); err != nil {
			t.Errorf("%s: %v", content, err)
		}
		if got, err := os.ReadFile(url); err != nil || string(got) != content {
			t.Errorf("%s: read %q, error %v", content, got, err)
		}
	}
}

func TestFoldersThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file := filepath.Join(folder, "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	err := CheckWritable(t.Context(), filepath.Join(file, "workspace"))
	if err == nil || !strings.Contains(err.Error(), "a file stands where a folder is needed") {
		t.Errorf("below a file: error %v", err)
	}
	if err := CheckWritable(t.Context(), file); err == nil {
		t.Error("a file is no folder to write into")
	}
	if err := WriteFile(t.Context(), folder, nil); err == nil || !strings.Contains(err.Error(), "a folder of that name is in the way") {
		t.Errorf("a folder in the way: error %v", err)
	}
	if _, err := ReadFile(t.Context(), filepath.Join(file, "f")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("reading below a file: error %v", err)
	}
	if _, err := ReadFile(t.Context(), folder); err == nil || !strings.Contains(err.Error(), folder) {
		t.Errorf("reading a folder: error %v", err)
	}
	readOnly := filepath.Join(folder, "read-only")
	if err := os.Mkdir(readOnly, 0o555); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		t.Log("permissions do not hold root back; that part is not tested")
		return
	}
	err = CheckWritable(t.Context(), readOnly)
	if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "write elsewhere") {
		t.Errorf("without permission: error %v", err)
	}
}

func TestExplainNamesTheRemedy(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]string{
		syscall.ENOSPC: "writing f: the disk is full (no space left on device); free some space there or write elsewhere",
		syscall.EROFS:  "writing f: read-only file system; allow writing there or write elsewhere",
		syscall.EACCES: "writing f: permission denied; allow writing there or write elsewhere",
	} {
		got := explain("writing", "f", fmt.Errorf("wrapped: %w", &fs.PathError{Op: "write", Path: "/tmp/x", Err: err}))
		if got.Error() != want || !errors.Is(got, err) {
			t.Errorf("%v became %v, want %s", err, got, want)
		}
	}
}

// TestRemoveAllOfMountedFolder checks that a folder which cannot be removed itself is left empty.
func TestRemoveAllOfMountedFolder(t *testing.T) {
	t.Parallel()
	outer := t.TempDir()
	inner := filepath.Join(outer, "inner")
	if err := WriteFile(t.Context(), filepath.Join(inner, "deep", "file"), []byte("x")); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		t.Skip("permissions do not hold root back")
	}
	if err := os.Chmod(outer, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(outer, 0o777) })
	if err := RemoveAll(t.Context(), inner); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(inner); err != nil || len(left) > 0 {
		t.Errorf("%v are left: %v", left, err)
	}
	readOnly := filepath.Join(inner, "read-only")
	if err := WriteFile(t.Context(), filepath.Join(readOnly, "file"), []byte("x")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(readOnly, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(readOnly, 0o777) })
	if err := RemoveAll(t.Context(), inner); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("where a file cannot be removed: %v", err)
	}
}
