package workspace

import (
	"math"
	"testing"

	"tagnet/formats/storage"
	"tagnet/formats/workspace/counts"
	"tagnet/formats/workspace/manifest"
	"tagnet/model/budget"
	"tagnet/model/weights/configuration"
)

// TestScoreSeconds takes the figures of FB15k-237 in infra/dataflow/README.md.
func TestScoreSeconds(t *testing.T) {
	w, sizes := New(t.TempDir()), budget.Sizes{Entities: 14_505, Edges: 544_230}
	c := configuration.Default()
	seconds := func() (float64, bool) { return w.ScoreSeconds(t.Context(), sizes, c, "test", 40_932) }
	most, bound := seconds()
	if !bound {
		t.Error("without messages/ it is no bound")
	}
	folder := w.Messages("test")
	kept := counts.Configuration{Layers: c.Layers, Delta: c.Delta, KeptPerQuery: 1.085e6}
	if err := storage.WriteJSON(t.Context(), storage.Join(folder, counts.SummaryFile),
		counts.Summary{Configurations: []counts.Configuration{kept}}); err != nil {
		t.Fatal(err)
	}
	if err := manifest.Write(t.Context(), folder, manifest.Manifest{}); err != nil {
		t.Fatal(err)
	}
	c.Reach = 1451 // a tenth, whose messages were not counted
	if tenth, bound := seconds(); !bound || math.Abs(tenth-most/10) > most/1000 {
		t.Errorf("with a reach of a tenth of the entities %g s, a bound %v, want a bound of a tenth of %g", tenth, bound, most)
	}
	c.Reach = 0
	got, bound := seconds()
	if bound || math.Abs(got-466) > 5 || most <= got {
		t.Errorf("%.0f s, at most %v; want 466 s; without messages/ %.0f s", got, bound, most)
	}
}
