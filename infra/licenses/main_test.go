package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEqualTextsStandOnce has two modules of one license, which differs in its ends of lines, one of
// them with a notice.
func TestEqualTextsStandOnce(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for name, text := range map[string]string{
		"host/b/LICENSE": "free\nas air\n", "host/a/v2/LICENSE.txt": "free\r\nas air", "host/a/v2/NOTICE": "by a\n", "host/a/v2/README": "a\n",
		"host/c/LICENCE": "other\n",
	} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got := texts{}
	for range 2 { // as of two platforms
		for name, license := range map[string]string{"host/b": "LICENSE", "host/a/v2": "LICENSE.txt", "host/c": "LICENCE"} {
			if err := got.read(library{name, filepath.Join(folder, name, license)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	line := "\n" + strings.Repeat("=", 80) + "\n\n"
	want := head + line + "host/a/v2\n\nby a\n" + line + "host/a/v2\nhost/b\n\nfree\nas air\n" + line + "host/c\n\nother\n"
	if diff := cmp.Diff(want, string(got.bytes())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestATextThatIsNotCurrent runs with a go-licenses that finds one license, one that finds another, and one that fails.
func TestATextThatIsNotCurrent(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	script := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	license := filepath.Join(folder, "LICENSE")
	if err := os.WriteFile(license, []byte("free\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	row := `echo W1 a warning >&2; printf 'host/a\t%s\t%s\n' `
	finds, refuses := script("finds", row+license+" MIT"), script("refuses", row+license+" GPL-3.0")
	fails := script("fails", "echo W1 a warning >&2; echo E1 no package >&2; exit 1")
	file := filepath.Join(folder, "licenses")
	if err := write(finds, file, true); err == nil || !strings.Contains(err.Error(), "make licenses") {
		t.Errorf("no file: %v", err)
	}
	if err := write(finds, file, false); err != nil {
		t.Fatal(err)
	}
	if err := write(finds, file, true); err != nil {
		t.Errorf("what was written is not current: %v", err)
	}
	if err := os.WriteFile(file, []byte(head), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := write(finds, file, true); err == nil || !strings.Contains(err.Error(), "not current") {
		t.Errorf("another file: %v", err)
	}
	if err := write(refuses, file, false); err == nil || !strings.Contains(err.Error(), "host/a, which is linked on linux/amd64, has the license GPL-3.0") {
		t.Errorf("a license that is not allowed: %v", err)
	}
	if err := write(fails, file, false); err == nil || !strings.Contains(err.Error(), "no package") || strings.Contains(err.Error(), "a warning") {
		t.Errorf("a go-licenses that fails: %v", err)
	}
}
