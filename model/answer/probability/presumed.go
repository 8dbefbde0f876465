package probability

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"tagnet/formats/strict"
)

// DefaultMissing is the share of the graph's facts that is presumed to be missing.
const DefaultMissing = .05

// Presumed says how many facts are presumed to be missing. Equal ones are equal by ==.
type Presumed struct {
	// Missing is the share of the facts of relations without a share of their own. Nobody said so where it is Guessed.
	// Told says that verdicts tell it.
	Missing float64
	Guessed bool
	Told    bool
	// Shares is the text of the relations' own shares, which OwnShares writes.
	Shares string
}

// OwnShares returns what is presumed if relations, by id, miss shares of their facts, which may be more than 1, and all
// others the share missing.
func OwnShares(missing float64, shares map[int32]float64) Presumed {
	var text []string
	for _, r := range slices.Sorted(maps.Keys(shares)) {
		text = append(text, fmt.Sprintf("%d=%v", r, shares[r]))
	}
	return Presumed{Missing: missing, Shares: strings.Join(text, " ")}
}

// Own returns the shares of relations with one of their own, by id.
func (p Presumed) Own() map[int32]float64 {
	shares := map[int32]float64{}
	for _, field := range strings.Fields(p.Shares) {
		var r int32
		var share float64
		_, _ = fmt.Sscanf(field, "%d=%g", &r, &share) // OwnShares wrote it
		shares[r] = share
	}
	return shares
}

// Check returns an error for shares that no estimator presumes.
func (p Presumed) Check() error {
	if !(p.Missing > 0 && p.Missing <= 1) {
		return fmt.Errorf("presuming that %v of the graph's facts are missing, want more than 0 and at most 1", p.Missing)
	}
	for _, share := range p.Own() {
		if !(share > 0) || strict.Finite("share", share) != nil {
			return fmt.Errorf("presuming that %v of a relation's facts are missing, want a number above 0", share)
		}
	}
	return nil
}
