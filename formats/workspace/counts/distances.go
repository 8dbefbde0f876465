package counts

import (
	"context"

	"tagnet/formats/storage"
	"tagnet/formats/strict"
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
	return strict.First(strict.Count("queries", d.Queries), strict.Counts("by_distance", d.ByDistance))
}

// ReadDistribution reads distribution.json of a distances/SPLIT folder.
func ReadDistribution(ctx context.Context, folder string) (Distribution, error) {
	return storage.ReadJSON[Distribution](ctx, storage.Join(folder, DistributionFile))
}
