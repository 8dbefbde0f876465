package encode

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tagnet/formats/input/triples"
	"tagnet/formats/storage"
	"tagnet/formats/storage/externalsort"
	"tagnet/formats/workspace/manifest"
	"tagnet/formats/workspace/tables"
	"tagnet/model/graph/kg"
)

// named writes a vocabulary file of sorted names.
func named(t *testing.T, folder, file, schema string, names ...string) Names {
	t.Helper()
	w := Names{File: file, URL: storage.Join(folder, file), Names: int64(len(names))}
	table, err := tables.CreateNames(t.Context(), w.URL, schema)
	if err != nil {
		t.Fatal(err)
	}
	defer table.Abort()
	sum := manifest.NewVocabulary()
	for _, name := range names {
		sum.Add([]byte(name))
		if err := table.Write([]byte(name)); err != nil {
			t.Fatal(err)
		}
	}
	w.Version = sum.Hex()
	if err := table.Commit(); err != nil {
		t.Fatal(err)
	}
	return w
}

// encoded encodes a text of valid with the relations likes and parent. It returns its queries, and the
// lines of rejects.tsv without the heading.
func encoded(t *testing.T, folder, text string, strict bool) (queries []externalsort.Row, rejects []string, err error) {
	t.Helper()
	defer ForgetIDs()
	chunk := triples.Chunk{URL: storage.Join(folder, "valid.txt"), Graph: triples.Training, Split: "valid"}
	if err := storage.WriteFile(t.Context(), chunk.URL, []byte(text)); err != nil {
		t.Fatal(err)
	}
	task := Task{Chunk: chunk, Vocabulary: []Names{
		named(t, folder, kg.EntitiesFile, tables.Entities, "anna", "bert"),
		named(t, folder, kg.RelationsFile, tables.Relations, "likes", "parent"),
	}}
	f := encodeFn{Params: WriteParams{Spill: storage.Join(folder, "spill"), Strict: strict, EdgeShards: 1, Memory: 4 << 30, BufferBytes: 1}}
	var files []triples.Rejects
	if err := f.ProcessElement(t.Context(), task, nil); err != nil {
		t.Fatal(err)
	}
	err = f.FinishBundle(t.Context(), func(file string, in TableInput) {
		switch {
		case file == kg.RejectsFile:
			files = append(files, in.Rejects)
		case file == kg.QueriesFile("valid"):
			err := externalsort.MergeRows(t.Context(), []externalsort.Spill{in.Spill}, "", func(r externalsort.Row, _ int) error { queries = append(queries, r); return nil })
			if err != nil {
				t.Fatal(err)
			}
		}
	})
	if len(files) > 1 {
		t.Errorf("%d files of rejects", len(files))
	}
	if _, err := triples.MergeRejects(t.Context(), storage.Join(folder, kg.RejectsFile), files); err != nil {
		t.Fatal(err)
	}
	joined, failed := storage.ReadFile(t.Context(), storage.Join(folder, kg.RejectsFile))
	if failed != nil {
		t.Fatal(failed)
	}
	return queries, strings.Split(strings.TrimSuffix(string(joined), "\n"), "\n")[1:], err
}

// TestUnknownRelationsAreRejected also encodes each text a second time, as a runner repeats an element
// that failed: nothing is rejected twice.
func TestUnknownRelationsAreRejected(t *testing.T) {
	const reason = "is in no training fact, so nothing can be learned about it"
	likes, liked := externalsort.Row{0, 0, 1}, externalsort.Row{1, 2, 0} // anna likes bert, and the inverse
	for name, test := range map[string]struct {
		text    string
		queries []externalsort.Row
		rejects []string // URL stands for the text's
		strict  string   // what the error says
	}{
		"none":            {"anna\tlikes\tbert\n", []externalsort.Row{likes, liked}, nil, ""},
		"one":             {"anna\tlikes\tbert\nbert\town\tanna\n", []externalsort.Row{likes, liked}, []string{"URL\t2\trelation \"own\" " + reason + `	bert\town\tanna`}, `URL:2: relation "own" ` + reason + "; add training facts with it, or skip such lines with --on_bad_line reject"},
		"all":             {"anna\town\tbert\nanna\thate\tbert\n", nil, []string{"URL\t1\trelation \"own\" " + reason + `	anna\town\tbert`, "URL\t2\trelation \"hate\" " + reason + `	anna\thate\tbert`}, `URL:1: relation "own"`},
		"marked, CRLF":    {"\ufeffanna\town\tbert\r\nanna\tlikes\tbert\r\n", []externalsort.Row{likes, liked}, []string{"URL\t1\trelation \"own\" " + reason + `	anna\town\tbert`}, `URL:1: relation "own"`},
		"no line end":     {"anna\tlikes\tbert\nanna\tÄ \tbert", []externalsort.Row{likes, liked}, []string{"URL\t2\trelation \"Ä \" " + reason + `	anna\tÄ \tbert`}, `URL:2: relation "Ä "`},
		"inverse name":    {"anna\t~likes\tbert\nanna\tlikes\tbert\n", []externalsort.Row{likes, liked}, nil, ""},
		"among bad lines": {"bad\nanna\town\tbert\nbad\nanna\tlikes\tbert\n", []externalsort.Row{likes, liked}, []string{"URL\t2\trelation \"own\" " + reason + `	anna\town\tbert`}, `URL:2: relation "own"`},
	} {
		t.Run(name, func(t *testing.T) {
			folder := "mem://" + t.Name()
			url := storage.Join(folder, "valid.txt")
			for range 2 {
				queries, rejects, err := encoded(t, folder, test.text, false)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(queries, test.queries) {
					t.Errorf("queries %v, want %v", queries, test.queries)
				}
				if got, want := fmt.Sprintf("%q", rejects), strings.ReplaceAll(fmt.Sprintf("%q", test.rejects), "URL", url); got != want {
					t.Errorf("rejects %s, want %s", got, want)
				}
			}
			_, rejects, err := encoded(t, folder, test.text, true)
			if got, want := fmt.Sprint(err), strings.ReplaceAll(test.strict, "URL", url); (err != nil) != (want != "") || err != nil && !strings.HasPrefix(got, want) {
				t.Errorf("strict: %s, want %q", got, want)
			}
			if len(rejects) > 0 {
				t.Errorf("strict: rejects %q", rejects)
			}
		})
	}
}
