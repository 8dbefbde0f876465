package counts

import (
	"strings"
	"testing"

	"tagnet/formats/storage"
)

// TestForgedDataset reads summary.json of graph/ with numbers that no dataset has.
func TestForgedDataset(t *testing.T) {
	t.Parallel()
	folder := "mem://" + t.Name()
	const sizes = `"entities": 9, "relations": 2, "facts": 10, "edges": 20`
	for text, want := range map[string]string{
		`{` + sizes + `}`: "",
		`{"entities": 0, "relations": 2, "facts": 10, "edges": 20}`:          "entities is 0",
		`{"entities": 9, "relations": 2, "facts": 10, "edges": 10}`:          "edges is 10, want 20 to 20",
		`{` + sizes + `, "types": {"listed": -1}}`:                           "types.listed is -1",
		`{` + sizes + `, "known_share": {"valid": 2}}`:                       "known_share.valid is 2",
		`{` + sizes + `, "inference_graph": {"entities": 3}}`:                "inference_graph.facts is 0",
		`{` + sizes + `, "queries": {"test": -2}}`:                           "queries.test is -2",
		`{"entities": 9, "relations": 2147483647, "facts": 10, "edges": 20}`: "relations is 2147483647",
	} {
		if err := storage.WriteFile(t.Context(), storage.Join(folder, SummaryFile), []byte(text)); err != nil {
			t.Fatal(err)
		}
		_, err := ReadDataset(t.Context(), folder)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: error %v, want %q", text, err, want)
		}
	}
}
