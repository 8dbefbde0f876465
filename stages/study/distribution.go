package study

import (
	"context"
	"fmt"
	"strconv"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/hop"
	"tagnet/formats/storage"
	"tagnet/formats/workspace/counts"
)

// writeDistribution adds up the counts of all tables and writes the distribution. It returns the
// URL of the file, which is the last one of the folder.
func writeDistribution(s beam.Scope, written beam.PCollection, p SearchParams) beam.PCollection {
	return beam.ParDo(s, &distributionFn{Params: p}, beam.GroupByKey(s, beam.AddFixedKey(s, written)))
}

func init() {
	beam.RegisterDoFn(&distributionFn{})
}

type distributionFn struct{ Params SearchParams }

// ProcessElement receives all tables at once.
func (f *distributionFn) ProcessElement(ctx context.Context, _ int, written func(*WrittenTable) bool, emit func(string)) error {
	ctx = f.Params.Lock.Guard(ctx)
	d := counts.Distribution{Split: f.Params.Split, ByDistance: map[string]int64{}}
	var table WrittenTable
	sum := make([]int64, f.Params.Hops+2)
	for written(&table) {
		if len(table.ByDistance) != len(sum) {
			return fmt.Errorf("%s counts %d distances: want %d", table.File, len(table.ByDistance), len(sum))
		}
		for i, n := range table.ByDistance {
			sum[i] += n
		}
	}
	for i, n := range sum {
		d.Queries += n
		switch {
		case i == f.Params.Hops+1:
			d.ByDistance[hop.Key] = n
		case i > 0 || n > 0:
			d.ByDistance[strconv.Itoa(i)] = n
		}
	}
	url := storage.Join(f.Params.Folder, counts.DistributionFile)
	if err := storage.WriteJSON(ctx, url, d); err != nil {
		return err
	}
	emit(url)
	return nil
}
