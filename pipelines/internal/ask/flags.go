package ask

import (
	"cmp"
	"flag"

	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/scoring"
)

// The values of --on_unknown.
const (
	fail = "fail"
	skip = "skip"
)

type flags struct {
	scoring.Flags
	scoring.AskFlags
	queries, relation string
	known             bool
	onUnknown         string
	patternFlags
}

// Pipeline returns the ask command.
func Pipeline() command.Pipeline {
	f := &flags{}
	return command.Pipeline{
		Name:    "ask",
		Summary: "Answers queries with a trained model: those of a file, of relations about many entities, or of several steps. Scores triples, too.",
		First:   "workspace run queries relation pattern stated sources candidates known model output top_k explain device memory",
		Flags: func(set *flag.FlagSet) {
			set.StringVar(&f.queries, "queries", "",
				"`file` of queries, or - for standard input: source TAB relation in a line, where a leading ~ on the relation is its inverse; or triples "+
					"to score, head TAB relation TAB tail; or pairs whose relations are ranked, with a ? for the relation")
			set.StringVar(&f.relation, "relation", "",
				"`R,~S|all|~all`: instead of a file, the relations to ask about all --sources; a leading ~ is the inverse, and a leading - leaves one out")
			command.Choice(set, &f.onUnknown, "on_unknown", fail, []string{fail, skip},
				"stop at names of --queries that the graph does not have; or skip their lines, which "+skippedFile+" lists, and answer the others")
			f.AskFlags.Register(set, "with --relation, the entities to ask about", "the only entities that may be answers")
			f.patternFlags.register(set)
			set.BoolVar(&f.known, "known", false, "list known answers, too, each scored without its own fact: the 100 best of a query")
			f.Flags.Register(set, "best answers of each query, 1 or more")
		},
		Run: f.run,
	}
}

func (f *flags) check(e *command.Environment) error {
	err := cmp.Or(e.NotEmpty("a file of queries", "queries"), e.NotEmpty("the names of relations, or all", "relation"), f.Flags.Check(e, 1),
		f.AskFlags.Check(e, f.queries), f.patternFlags.check(e))
	if err != nil || f.asks() {
		return err
	}
	switch {
	case (f.queries == "") == (f.relation == ""):
		return command.Usage("ask answers the queries of a file, --queries FILE, or those of relations, --relation NAME or all: give one of the two, " +
			"or a pattern, --pattern TEXT")
	case f.queries == "" && e.HasFlag("on_unknown"):
		return command.Usage("--on_unknown is for the lines of --queries")
	case f.queries != "" && e.HasFlag("sources"):
		return command.Usage("--sources is for --relation: the lines of --queries have sources")
	}
	return nil
}
