package command

import (
	"flag"

	"tagnet/model/answer/probability"
	"tagnet/model/graph/kg"
)

// GraphFlag registers --graph of commands that answer queries: kg.All, or the name of the split of training.
func GraphFlag(set *flag.FlagSet, graph *string) {
	Choice(set, graph, "graph", kg.All, []string{kg.All, "train"},
		"the graph that is queried: of all facts, or without those of validation and test, as an evaluation asks it, which gives no probabilities")
}

// MissingFlag registers --missing of commands that show probabilities.
func MissingFlag(set *flag.FlagSet, missing *float64) {
	set.Float64Var(missing, "missing", probability.DefaultMissing,
		"`share` of the graph's facts that probabilities presume to be missing from it, more than 0, at most 1")
}

// CheckMissing returns an error unless --missing can have the share.
func CheckMissing(missing float64) error {
	if !(missing > 0 && missing <= 1) {
		return FlagError("missing", missing, "more than 0, at most 1")
	}
	return nil
}
