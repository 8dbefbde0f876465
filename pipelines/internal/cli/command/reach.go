package command

import (
	"flag"

	"tagnet/model/weights/configuration"
)

// ReachFlag registers --reach of commands that ask a model.
func ReachFlag(set *flag.FlagSet, reach *int) {
	set.IntVar(reach, "reach", -1, "most entities that a query's propagation covers, those of the largest personalized PageRank from its source; 0 or "+
		"more, where 0 covers all, or -1: as many as in training")
}

// SetReach has the propagation of a model's queries cover as many entities as --reach says.
func SetReach(c *configuration.Configuration, reach int) error {
	switch {
	case reach < -1:
		return FlagError("reach", reach, "-1 or more")
	case reach > 0 && c.Prioritized():
		return Usage("--reach is not for models with --policy %s: leave it out", c.Policy)
	case reach >= 0:
		c.Reach = reach
	}
	return nil
}
