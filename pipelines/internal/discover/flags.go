package discover

import (
	"cmp"
	"flag"
	"fmt"

	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/scoring"
)

type flags struct {
	scoring.Flags
	scoring.AskFlags
	relation  string
	most      int
	threshold float64
}

const mostFacts = 10_000_000

// Pipeline returns the discover command.
func Pipeline() command.Pipeline {
	f := &flags{}
	return command.Pipeline{
		Name: "discover",
		Summary: "Lists new facts of the graph by a trained model, the most probable first: the best answers of all --sources, of all --candidates, or " +
			"without lists in both directions.",
		First: "workspace run relation sources candidates missing model output top_k most threshold explain memory",
		Flags: func(set *flag.FlagSet) {
			set.StringVar(&f.relation, "relation", scoring.All, "`R,S|all`: the relations of the facts; a leading - leaves one out, as in all,-R")
			f.AskFlags.Register(set, "heads of the facts", "their tails")
			set.IntVar(&f.most, "most", 10_000, "facts that are listed at most, 1 or more")
			set.Float64Var(&f.threshold, "threshold", 0, "lowest `probability` of a fact; 0 or more, less than 1")
			f.Flags.Register(set, "best answers of each query that are candidates, 1 or more")
		},
		Run: f.run,
	}
}

func (f *flags) check(e *command.Environment) error {
	if err := e.NotEmpty("the names of relations, or all", "relation"); err != nil {
		return err
	}
	switch {
	case f.most < 1 || f.most > mostFacts:
		return command.FlagError("most", f.most, fmt.Sprintf("1 to %d", mostFacts))
	case !(f.threshold >= 0 && f.threshold < 1):
		return command.FlagError("threshold", f.threshold, "0 or more, less than 1")
	}
	return cmp.Or(f.Flags.Check(e, 1), f.AskFlags.Check(e, f.relation))
}
