package externalsort

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestMergeFactRows checks that fact rows of several files and sections come back whole and in order, also if there are
// more files than are merged at a time.
func TestMergeFactRows(t *testing.T) {
	t.Parallel()
	for _, files := range []int{3, fanIn + 5} {
		random := rand.New(rand.NewPCG(1, 2))
		folder := t.TempDir()
		var spills []Spill
		var want []FactRow
		for file := range files {
			rows := make([]FactRow, 20)
			for i := range rows {
				rows[i] = FactRow{random.Int32N(9), random.Int32N(3), int32(file), int32(i), random.Int32() - 1<<30, -1, random.Int32(), 5}
			}
			slices.SortFunc(rows, FactRow.Compare)
			want = append(want, rows...)
			w, err := Create(t.Context(), filepath.Join(folder, fmt.Sprint(file)), FactRows)
			if err != nil {
				t.Fatal(err)
			}
			for i, r := range rows {
				if err := w.Write(r); err != nil {
					t.Fatal(err)
				}
				if i == 12 || i == 19 {
					spills = append(spills, w.Cut())
				}
			}
			if err := w.Commit(); err != nil {
				t.Fatal(err)
			}
		}
		slices.SortFunc(want, FactRow.Compare)
		var got []FactRow
		err := Merge(t.Context(), FactRows, spills, filepath.Join(folder, "merge"), func(r FactRow, _ int) error { got = append(got, r); return nil })
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%d files: %v\n%s", files, err, diff)
		}
	}
}
