package distances

import (
	"context"
	"fmt"
	"strconv"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/check"
	"tagnet/formats/storage"
)

// DistributionFile is the name of the distribution, beside the tables.
const DistributionFile = "distribution.json"

// Distribution is the content of distribution.json: how far the answers of a split's queries are
// from their sources.
type Distribution struct {
	Split   string `json:"split"`
	Queries int64  `json:"queries"`
	// ByDistance has the number of queries at each distance: "1", "2", ..., "unreached", and
	// "0" if some answer is its own source.
	ByDistance map[string]int64 `json:"by_distance"`
}

// Check returns an error for negative numbers.
func (d Distribution) Check() error {
	return check.First(check.Count("queries", d.Queries), check.Counts("by_distance", d.ByDistance))
}

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
	d := Distribution{Split: f.Params.Split, ByDistance: map[string]int64{}}
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
			d.ByDistance["unreached"] = n
		case i > 0 || n > 0:
			d.ByDistance[strconv.Itoa(i)] = n
		}
	}
	url := storage.Join(f.Params.Folder, DistributionFile)
	if err := storage.WriteJSON(ctx, url, d); err != nil {
		return err
	}
	emit(url)
	return nil
}

// ReadDistribution reads distribution.json of a distances/SPLIT folder.
func ReadDistribution(ctx context.Context, folder string) (Distribution, error) {
	return storage.ReadJSON[Distribution](ctx, storage.Join(folder, DistributionFile))
}
