package preprocess

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tagnet/formats/workspace/parquet"
	"tagnet/pipelines/internal/pipelinetest"
)

// table writes the facts of each part of a table, with two further columns.
func table(t *testing.T, parts map[string][][3]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, facts := range parts {
		var rows []parquet.Ranking
		for _, f := range facts {
			rows = append(rows, parquet.Ranking{Source: f[0], Relation: f[1], Answer: f[2]})
		}
		if err := parquet.Write(t.Context(), filepath.Join(folder, name), rows); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// TestPartitions reads a table in parts as the one file that it is, also with --split and in a second run.
func TestPartitions(t *testing.T) {
	facts := nations()["train"]
	for name, parts := range map[string]map[string][][3]string{
		"threads": {"data_0.parquet": facts[:20], "data_1.parquet": facts[20:]},
		"hive":    {"letter=l/data_0.parquet": facts[:10], "letter=m/year=2020/data_0.parquet": facts[10:45], "letter=m/year=2021/part-0.parquet": facts[45:]},
	} {
		t.Run(name, func(t *testing.T) {
			folder := table(t, parts)
			pipelinetest.Write(t, filepath.Join(folder, "_SUCCESS"), "")
			plain := pipelinetest.Dataset(t, written(map[string][][3]string{"train": facts}, ".txt", "",
				func(f [3]string) string { return strings.Join(f[:], "\t") + "\n" }))
			for _, flags := range [][]string{nil, {"--split", "50,25,25"}} {
				w, want := t.TempDir(), t.TempDir()
				command := append([]string{"--workspace", w, "--dataset", folder, "--columns", "source,relation,answer"}, flags...)
				pipelinetest.Succeed(t, Pipeline(), command...)
				pipelinetest.Succeed(t, Pipeline(), append([]string{"--workspace", want, "--dataset", plain}, flags...)...)
				pipelinetest.Same(t, factTables(t, w), factTables(t, want))
				if again := pipelinetest.Succeed(t, Pipeline(), command...); !strings.Contains(again, "is complete with the same data") {
					t.Errorf("a second run: %s", again)
				}
				changed := table(t, map[string][][3]string{"data.parquet": facts[:3]})
				pipelinetest.Write(t, filepath.Join(folder, slices.Sorted(maps.Keys(parts))[0]), pipelinetest.Read(t, changed, "data.parquet"))
				if code, _, _ := pipelinetest.Run(t, Pipeline(), command...); code == 0 {
					t.Error("a part that has changed is not noticed")
				}
				folder = table(t, parts)
			}
		})
	}
}

// TestPartitionsThatAreNone refuses parts that lack a column, and parts of splits.
func TestPartitionsThatAreNone(t *testing.T) {
	facts := nations()["train"]
	for name, says := range map[string]string{
		"relation=r/data_0.parquet":    `the column "relation" is in the name of the folder`,
		"answer=r/data_0.parquet":      `the column "answer" is in the name of the folder`,
		"train-00000-of-00001.parquet": "the facts of a split are in parts",
		"split=x/test/data_0.parquet":  "the facts of a split are in parts",
		"year=2020/notes.md":           "the folder has only folders (year=2020)",
		"a/data_0.parquet":             "the folder has only folders (a)",
	} {
		folder := table(t, map[string][][3]string{name: facts})
		if strings.HasSuffix(name, ".md") {
			pipelinetest.Write(t, filepath.Join(folder, name), "no table")
		}
		pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: 1, Begin: folder, Says: []string{says}}, "--workspace", t.TempDir(), "--dataset", folder,
			"--columns", "source,relation,answer")
	}
}
