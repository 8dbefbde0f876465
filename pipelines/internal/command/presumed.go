package command

import (
	"flag"

	"tagnet/model/answer/probability"
)

// Missing registers --missing, the share of the graph's facts that probabilities presume to be missing.
func Missing(set *flag.FlagSet, missing *float64) {
	set.Float64Var(missing, "missing", probability.DefaultMissing, "`share` of the graph's facts that probabilities presume to be missing; more than 0, at most 1")
}

// CheckMissing returns an error for a share that cannot be presumed.
func CheckMissing(missing float64) error {
	if !(missing > 0 && missing <= 1) {
		return FlagError("missing", missing, "more than 0, at most 1")
	}
	return nil
}
