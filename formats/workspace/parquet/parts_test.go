package parquet

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/storage"
)

func TestParts(t *testing.T) {
	const table = "mem://parts/rankings"
	want := sampleRows[Ranking](7)
	for i, rows := range [][]Ranking{want[:3], nil, want[3:]} { // a shard may have no rows
		if err := Write(t.Context(), PartFile(table, i, 3), rows); err != nil {
			t.Fatal(err)
		}
	}
	read := func(table string) (all []Ranking, err error) {
		err = EachPart(t.Context(), table, func(rows []Ranking) error {
			all = append(all, rows...)
			return nil
		})
		return all, err
	}
	got, err := read(table)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	enough := errors.New("enough")
	if err := EachPart(t.Context(), table, func([]Ranking) error { return enough }); err != enough {
		t.Errorf("error %v, want that of the caller", err)
	}
	if _, err := read("mem://parts/absent"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no table: error %v", err)
	}
	if err := storage.Remove(t.Context(), PartFile(table, 1, 3)); err != nil {
		t.Fatal(err)
	}
	if _, err := read(table); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "rankings/part-0000") {
		t.Errorf("a part is missing: error %v", err)
	}
}
