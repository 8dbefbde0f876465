package answer

import (
	"context"
	"fmt"

	"tagnet/model/answer/probability"
)

// Missing says how many facts are presumed to be missing.
type Missing struct {
	// Share is the share of the facts of all relations but those of Relations, which miss a share of their own each.
	// Nobody said so where it is Guessed.
	Share     float64
	Guessed   bool
	Relations map[string]float64
}

// Check returns an error for shares that no estimator presumes.
func (m Missing) Check() error {
	shares := map[int32]float64{} // by no id
	for _, share := range m.Relations {
		shares[int32(len(shares))] = share
	}
	return probability.OwnShares(m.Share, shares).Check()
}

// Presume returns what an estimator presumes. The error of an unknown relation is a *kg.UnknownNameError.
func (m *Model) Presume(ctx context.Context, missing Missing) (probability.Presumed, error) {
	shares, lookup := map[int32]float64{}, m.KG.Lookup(m.View)
	for name, share := range missing.Relations {
		id, err := lookup.Relation(ctx, name, false)
		if err != nil {
			return probability.Presumed{}, fmt.Errorf("presuming a share that is missing: %w", err)
		}
		shares[id] = share
	}
	presumed := probability.OwnShares(missing.Share, shares)
	presumed.Guessed = missing.Guessed
	return presumed, presumed.Check()
}
