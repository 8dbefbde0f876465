package triples

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"tagnet/formats/storage"
)

// lines reads the facts and bad lines of chunks as "line: text".
func lines(t *testing.T, files ...Chunk) []string {
	t.Helper()
	var got []string
	for _, f := range files {
		err := f.Read(t.Context(), func(line int, fact Triple) error {
			got = append(got, fmt.Sprintf("%d: %s %s %s", line, fact.Head, fact.Relation, fact.Tail))
			return nil
		}, func(b BadLine) error {
			got = append(got, fmt.Sprintf("%d: bad %q", b.Line, b.Text))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return got
}

func put(t *testing.T, text string) Chunk {
	t.Helper()
	f := Chunk{URL: "mem://" + t.Name() + "/train.txt", Graph: Training, Split: "train"}
	if err := storage.WriteFile(t.Context(), f.URL, []byte(text)); err != nil {
		t.Fatal(err)
	}
	return f
}

// TestChunksCoverText splits texts into chunks of every size: together they are the text, each line
// with its number.
func TestChunksCoverText(t *testing.T) {
	for _, text := range []string{
		"\ufeffa\tr\tb\r\nbad\nc\tr\td\n\ne\tr\tf",
		"a\tr\tb\n\n\nc\tr\td\n",
		strings.Repeat("a\tr\tb\n", 5) + strings.Repeat("x", 40) + "\n" + "\ufeffa\tr\tb\n",
		"a\tr\tb", "one", "a\tr\tb\n\n\nc\tr\td\n\n\r\n\n",
	} {
		f := put(t, text)
		want := lines(t, f)
		for size := int64(1); size <= int64(len(text))+1; size++ {
			scanned, err := Scan(t.Context(), f, size, 1000)
			if err != nil {
				t.Fatal(err)
			}
			if got := lines(t, scanned.Chunks...); !slices.Equal(got, want) {
				t.Errorf("chunks of %d bytes of %q: %q, want %q", size, text, got, want)
			}
			sum := sha256.Sum256([]byte(text))
			if scanned.Size != int64(len(text)) || scanned.Lines != int64(strings.Count(strings.TrimSuffix(text, "\n"), "\n")+1) ||
				scanned.SHA256 != hex.EncodeToString(sum[:]) {
				t.Errorf("%q: %d bytes, %d lines", text, scanned.Size, scanned.Lines)
			}
			for i, chunk := range scanned.Chunks {
				if chunk.Length < size && i < len(scanned.Chunks)-1 || i > 0 && chunk.Offset != scanned.Chunks[i-1].Offset+scanned.Chunks[i-1].Length {
					t.Errorf("chunks of %d bytes: %+v", size, scanned.Chunks)
				}
			}
		}
		if scanned, err := Scan(t.Context(), f, 1, 2); err != nil || len(scanned.Chunks) > 3 {
			t.Errorf("%d chunks of %q, error %v: want two or three", len(scanned.Chunks), text, err)
		}
	}
}

// TestScanLongText has block borders within lines and at their ends.
func TestScanLongText(t *testing.T) {
	for _, length := range []int{1 << 20, 7, 64, 1000} {
		line := strings.Repeat("n", length-len("\tr\tb\n")) + "\tr\tb\n"
		f := put(t, strings.Repeat(line, 1+3<<20/length))
		scanned, err := Scan(t.Context(), f, 300_000, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if got := lines(t, scanned.Chunks...); len(got) != 1+3<<20/length || len(scanned.Chunks) < 3 || scanned.Lines != int64(len(got)) {
			t.Errorf("lines of %d bytes: %d lines in %d chunks", length, len(got), len(scanned.Chunks))
		}
	}
}

func TestScanGzip(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	fmt.Fprint(w, "a\tr\tb\nc\tr\td\n")
	w.Close()
	f := put(t, packed.String())
	scanned, err := Scan(t.Context(), f, 1, 1000)
	if err != nil || len(scanned.Chunks) != 1 || !scanned.Chunks[0].Packed || scanned.Lines != 0 {
		t.Fatalf("%+v, %v", scanned, err)
	}
	if got := lines(t, scanned.Chunks...); len(got) != 2 {
		t.Errorf("%q", got)
	}
}

func TestScanEmpty(t *testing.T) {
	f := put(t, "")
	scanned, err := Scan(t.Context(), f, 1, 1000)
	if err != nil || len(scanned.Chunks) != 1 {
		t.Fatalf("%+v, %v", scanned, err)
	}
	err = scanned.Chunks[0].Read(t.Context(), nil, nil)
	if !errors.Is(err, ErrEmpty) {
		t.Errorf("error %v, want that it is empty", err)
	}
}

// TestChangesAreNoticed changes a text after Scan.
func TestChangesAreNoticed(t *testing.T) {
	f := put(t, "a\tr\tb\nc\tr\td\n")
	scanned, err := Scan(t.Context(), f, 1, 1000)
	if err != nil || len(scanned.Chunks) != 2 {
		t.Fatalf("%+v, %v", scanned, err)
	}
	put(t, "a\tr\tb\nc\tr\tx\n")
	ignore := func(int, Triple) error { return nil }
	if err := scanned.Chunks[0].Read(t.Context(), ignore, nil); err != nil {
		t.Error(err)
	}
	if err := scanned.Chunks[1].Read(t.Context(), ignore, nil); !errors.Is(err, ErrChanged) || !strings.Contains(err.Error(), f.URL) {
		t.Errorf("error %v", err)
	}
}

// TestRejectsAreMergedInOrder merges rejects of several chunks and texts.
func TestRejectsAreMergedInOrder(t *testing.T) {
	folder := "mem://" + t.Name()
	var all []Rejects
	for i, chunk := range []Chunk{{URL: "b.txt"}, {URL: "a.txt", Line: 10}, {URL: "a.txt", Line: 9}, {URL: "c.txt"}} {
		w := NewRejectsWriter(fmt.Sprintf("%s/%d", folder, i), chunk)
		defer w.Abort()
		for line := range 2 * (i % 3) { // none of the first and the last
			if err := w.Write(t.Context(), BadLine{File: chunk.URL, Line: int(chunk.Line) + 1 + line, Reason: "reason", Text: "a\t\xff"}); err != nil {
				t.Fatal(err)
			}
		}
		r, any, err := w.Commit()
		if err != nil || any != (i%3 > 0) {
			t.Fatalf("chunk %d: %v, %v", i, any, err)
		}
		if any {
			all = append(all, r)
		}
	}
	n, err := MergeRejects(t.Context(), folder+"/rejects.tsv", all)
	if err != nil || n != 6 {
		t.Fatalf("%d lines, %v", n, err)
	}
	text, err := storage.ReadFile(t.Context(), folder+"/rejects.tsv")
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if len(got) != 7 || got[0] != "file\tline\treason\ttext" || got[1] != `a.txt	10	reason	a\t\xff` || got[5] != `a.txt	11	reason	a\t\xff` {
		t.Errorf("%q", got)
	}
}
