package score

import (
	"flag"

	"tagnet/pipelines/internal/command"
)

// reachFlag changes how many entities a query's propagation covers.
type reachFlag struct{ reach int }

func (f *reachFlag) register(set *flag.FlagSet) {
	set.IntVar(&f.reach, "reach", -1, "most entities that a query's propagation covers, those of the largest personalized PageRank from its source; 0 or more, where 0 covers all, or -1: as many as in training")
}

// setReach has the model's propagation cover as many entities as --reach says.
func (a *opened) setReach() error {
	c := &a.model.Record.Configuration
	if a.reach < -1 {
		return command.FlagError("reach", a.reach, "-1 or more")
	}
	if a.reach > 0 && c.Prioritized() {
		return command.Usage("--reach is not for models with --policy %s: leave it out", c.Policy)
	}
	if a.reach >= 0 {
		c.Reach = a.reach
	}
	return nil
}
