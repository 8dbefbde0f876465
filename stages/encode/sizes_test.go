package encode

import (
	"fmt"
	"strings"
	"testing"

	"tagnet/formats/storage"
	"tagnet/formats/workspace/counts"
	"tagnet/formats/workspace/manifest"
	"tagnet/formats/workspace/tables"
	"tagnet/model/graph/kg"
)

// TestSizesOfLongNames has names of which most compress a hundred times.
func TestSizesOfLongNames(t *testing.T) {
	const folder = "mem://sizes/graph"
	m := manifest.Manifest{Rows: map[string]int64{"entities": 2000, "edges": 4, "inference_entities": 2000, "inference_edges": 4}}
	for _, shard := range []string{kg.EdgesFile(0, 1), kg.InferenceEdgesFile(0, 1)} {
		m.Files = append(m.Files, manifest.File{Name: shard, Size: 1})
	}
	length := int64(0)
	for file, schema := range map[string]string{kg.EntitiesFile: tables.Entities, kg.RelationsFile: tables.Relations,
		kg.InferenceEntitiesFile: tables.Entities} {
		w, err := tables.CreateNames(t.Context(), storage.Join(folder, file), schema)
		if err != nil {
			t.Fatal(err)
		}
		written := int64(0)
		for i := range 2000 {
			name := strings.Repeat("http://example.org/", 50) + fmt.Sprintf("%04d", i)
			written += int64(len(name))
			if err := w.Write([]byte(name)); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
		data, err := storage.ReadFile(t.Context(), storage.Join(folder, file))
		if err != nil || written < 100*int64(len(data)) {
			t.Fatalf("%d bytes of names take %d, error %v: they should compress better", written, len(data), err)
		}
		m.Files = append(m.Files, manifest.File{Name: file, Size: int64(len(data))})
		length += written
	}
	if err := storage.WriteJSON(t.Context(), storage.Join(folder, counts.SummaryFile),
		counts.Dataset{Entities: 2000, Relations: 2000, Facts: 2, Edges: 4, InferenceGraph: &counts.Graph{Entities: 2000, Facts: 2, Edges: 4}}); err != nil {
		t.Fatal(err)
	}
	bytes, err := kg.NameBytes(t.Context(), folder, m)
	if err != nil || bytes != length {
		t.Errorf("%d bytes of names, error %v, want %d", bytes, err, length)
	}
	if sizes, err := Sizes(t.Context(), folder, m, "test"); err != nil || sizes.Graph < length || sizes.Graph > length+length/10 {
		t.Errorf("sizes %+v, error %v", sizes, err)
	}
}
