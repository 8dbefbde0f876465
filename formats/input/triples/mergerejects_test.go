package triples

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tagnet/formats/storage"
)

// rejected writes the rejects of a chunk: the lines of those numbers, with the texts of textOf.
func rejected(t *testing.T, url string, chunk Chunk, numbers []int, textOf func(int) string) Rejects {
	t.Helper()
	w := NewRejectsWriter(url, chunk)
	defer w.Abort()
	for _, number := range numbers {
		if err := w.Write(t.Context(), BadLine{File: chunk.URL, Line: number, Reason: "reason", Text: textOf(number)}); err != nil {
			t.Fatal(err)
		}
	}
	r, any, err := w.Commit()
	if err != nil || !any || r.Lines != int64(len(numbers)) {
		t.Fatalf("%+v, %v, %v", r, any, err)
	}
	return r
}

// joined returns rejects.tsv without its heading, as "text:line".
func joined(t *testing.T, folder string, rejects []Rejects) (order []string, text string) {
	t.Helper()
	n, err := MergeRejects(t.Context(), folder+"/rejects.tsv", rejects)
	if err != nil {
		t.Fatal(err)
	}
	data, err := storage.ReadFile(t.Context(), folder+"/rejects.tsv")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	if lines[0] != "file\tline\treason\ttext" || int64(len(lines)) != n+1 {
		t.Fatalf("%d lines, want a heading and %d: %q", len(lines), n, lines[0])
	}
	for _, line := range lines[1:] {
		fields := strings.Split(line, "\t")
		order = append(order, fields[0]+":"+fields[1])
	}
	return order, string(data)
}

// TestRejectsOfAChunkAreMerged has several files of one chunk, and other chunks.
func TestRejectsOfAChunkAreMerged(t *testing.T) {
	type file struct {
		chunk   Chunk
		numbers []int
	}
	a, behind, b := Chunk{URL: "a.txt"}, Chunk{URL: "a.txt", Line: 20}, Chunk{URL: "b.txt"}
	for name, test := range map[string]struct {
		files []file
		want  string
	}{
		"none":                     {nil, ""},
		"one":                      {[]file{{a, []int{2, 9}}}, "a.txt:2 a.txt:9"},
		"alternating":              {[]file{{a, []int{1, 3, 5}}, {a, []int{2, 4, 6}}}, "a.txt:1 a.txt:2 a.txt:3 a.txt:4 a.txt:5 a.txt:6"},
		"one after the other":      {[]file{{a, []int{9, 10}}, {a, []int{2, 3}}}, "a.txt:2 a.txt:3 a.txt:9 a.txt:10"},
		"one within the other":     {[]file{{a, []int{4, 5}}, {a, []int{2, 11}}}, "a.txt:2 a.txt:4 a.txt:5 a.txt:11"},
		"by number, not by letter": {[]file{{a, []int{9}}, {a, []int{8, 10}}}, "a.txt:8 a.txt:9 a.txt:10"},
		"chunks and texts": {[]file{{b, []int{1}}, {behind, []int{22}}, {a, []int{7}}, {behind, []int{21}}, {b, []int{2}}, {a, []int{3}}},
			"a.txt:3 a.txt:7 a.txt:21 a.txt:22 b.txt:1 b.txt:2"},
		"a text read twice": {[]file{{a, []int{1, 4}}, {a, []int{1, 4}}, {a, []int{2}}, {a, []int{2}}}, "a.txt:1 a.txt:1 a.txt:2 a.txt:2 a.txt:4 a.txt:4"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := "mem://" + t.Name()
			var all []Rejects
			for i, f := range test.files {
				all = append(all, rejected(t, fmt.Sprintf("%s/%d", folder, i), f.chunk, f.numbers, func(int) string { return "text" }))
			}
			if got, _ := joined(t, folder, all); strings.Join(got, " ") != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

// TestRejectsDoNotDependOnTheirFiles distributes the lines of a chunk over files in many ways, some
// of them longer than any buffer: the bytes are those of one file.
func TestRejectsDoNotDependOnTheirFiles(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	chunk := Chunk{URL: "a text.txt", Line: 95}
	textOf := func(line int) string { return strings.Repeat("\tä", (line%5)*(line%5)*3000) + fmt.Sprint(line) }
	var numbers []int
	for line := 96; line < 140; line++ {
		numbers = append(numbers, line)
	}
	folder := "mem://" + t.Name()
	_, want := joined(t, folder, []Rejects{rejected(t, folder+"/one", chunk, numbers, textOf)})
	for round := range 20 {
		files := make([][]int, 1+random.IntN(4))
		for _, number := range numbers {
			i := random.IntN(len(files))
			files[i] = append(files[i], number)
		}
		var all []Rejects
		for i, numbers := range files {
			if len(numbers) > 0 {
				all = append(all, rejected(t, fmt.Sprintf("%s/%d-%d", folder, round, i), chunk, numbers, textOf))
			}
		}
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		before := slices.Clone(all)
		if _, got := joined(t, folder, all); got != want {
			t.Fatalf("round %d, %d files: %d bytes, want %d others", round, len(all), len(got), len(want))
		}
		if !slices.Equal(all, before) {
			t.Fatal("the files were put into another order")
		}
	}
}

// TestDamagedRejects truncates a file at every byte: it ends with a whole line, or the error names it.
func TestDamagedRejects(t *testing.T) {
	folder := "mem://" + t.Name()
	r := rejected(t, folder+"/whole", Chunk{URL: "a.txt"}, []int{7, 12}, func(int) string { return "text" })
	data, err := storage.ReadFile(t.Context(), r.URL)
	if err != nil {
		t.Fatal(err)
	}
	r.URL = folder + "/cut"
	for n := range data {
		if err := storage.WriteFile(t.Context(), r.URL, data[:n]); err != nil {
			t.Fatal(err)
		}
		_, err := MergeRejects(t.Context(), folder+"/rejects.tsv", []Rejects{r})
		whole := n == 0 || data[n-1] == '\n'
		if whole != (err == nil) || err != nil && (!errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), r.URL)) {
			t.Errorf("%q: %v", data[:n], err)
		}
	}
	if err := storage.WriteFile(t.Context(), r.URL, []byte("a.txt\tseven\treason\ttext\n")); err != nil {
		t.Fatal(err)
	}
	if _, err := MergeRejects(t.Context(), folder+"/rejects.tsv", []Rejects{r}); err == nil || !strings.Contains(err.Error(), r.URL) {
		t.Errorf("a number in letters: %v", err)
	}
}

// TestRejectsOfConvertedTexts has chunks of the texts that a file was divided into, and lines that its conversion
// rejected: their numbers are those of the file, not in the order of chunks.
func TestRejectsOfConvertedTexts(t *testing.T) {
	folder := "mem://" + t.Name()
	var all []Rejects
	for i, c := range []struct {
		line    int64
		numbers []int
	}{{0, []int{3, 90}}, {40, []int{50, 95}}, {7, []int{1, 60}}} {
		chunk := Chunk{URL: fmt.Sprintf("spill/%d", i), Original: "a.csv", Line: c.line}
		w := NewRejectsWriter(fmt.Sprintf("%s/%d", folder, i), chunk)
		defer w.Abort()
		for _, number := range c.numbers {
			if err := w.Write(t.Context(), BadLine{File: chunk.File(), Line: number, Reason: "reason", Text: "text"}); err != nil {
				t.Fatal(err)
			}
		}
		r, _, err := w.Commit()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	if got, _ := joined(t, folder, all); strings.Join(got, " ") != "a.csv:1 a.csv:3 a.csv:50 a.csv:60 a.csv:90 a.csv:95" {
		t.Errorf("%s", got)
	}
}
