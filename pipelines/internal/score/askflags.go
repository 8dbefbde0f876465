package score

import (
	"flag"
	"slices"

	"tagnet/formats/workspace/metrics"
	"tagnet/model/graph/kg"
	"tagnet/model/weights/checkpoint"
	"tagnet/pipelines/internal/cli/command"
)

// askFlags are the flags of a user's own queries and of lists of new facts.
type askFlags struct {
	queries, relation   string
	sources, candidates string
	output              string
	graph               string
	known               bool
	missing             float64
}

// trainGraph is the value of --graph that asks as the evaluation of the test split does.
const trainGraph = "train"

// everything is the value of --relation, --sources and --candidates that stands for all.
const everything = "all"

func (f *askFlags) register(set *flag.FlagSet) {
	set.StringVar(&f.queries, "queries", "", "`file` of queries to answer instead, or - for standard input: source TAB relation in a line, where a leading ~ on the relation is its inverse; or triples to score, head TAB relation TAB tail; or pairs whose relations are ranked, with a ? for the relation")
	set.StringVar(&f.relation, "relation", "", "`R,~S|all|~all`: relations to ask all --sources about instead; a leading ~ is the inverse")
	set.StringVar(&f.sources, "sources", "", "`type:T|FILE|all`: with --relation, the entities to ask about, with --facts the heads: those of a type, or the names in a file; default all")
	set.StringVar(&f.candidates, "candidates", "", "`type:T|FILE|all`: the only entities that may be answers to your own queries, or with --facts tails; default all")
	command.GraphFlag(set, &f.graph)
	set.BoolVar(&f.known, "known", false, "list known answers to your own queries, too, each scored without its own fact: the 100 best of a query")
	command.MissingFlag(set, &f.missing)
	set.StringVar(&f.output, "output", "", "`name` of the folder of the answers to your own queries, in evaluation/; default queries, or one made of --relation and the lists")
}

// asks reports whether a user's queries are answered, or a list is made, instead of evaluating a split.
func (f *flags) asks() bool { return f.queries != "" || f.relation != "" || f.facts != "" }

// about returns the name of the graph that is queried, as kg.KG.On takes it.
func (f *flags) about() string {
	switch {
	case !f.asks():
		return f.split
	case f.graph == trainGraph:
		return "test"
	}
	return kg.All
}

// check checks the flags beside the others.
func (f *askFlags) check(all *flags, e *command.Environment) error {
	if err := e.NotEmpty("a file of queries", "queries"); err != nil {
		return err
	}
	if err := e.NotEmpty("the names of relations, or all", "relation"); err != nil {
		return err
	}
	if err := e.NotEmpty("type:NAME, a file of names, or all", "sources", "candidates"); err != nil {
		return err
	}
	given := map[string]bool{}
	e.Flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if !all.asks() {
		return f.checkUnasked(given)
	}
	switch {
	case given["split"]:
		return command.Usage("--split is about the evaluation of a split: leave it out with --queries, --relation and --facts; --graph train asks about the graph of the test queries")
	case f.relation != "" && f.queries != "":
		return command.Usage("--relation and --queries exclude each other: the lines of --queries have relations")
	case f.sources != "" && f.queries != "":
		return command.Usage("--sources needs --relation or --facts: the relations to ask, or all")
	case f.known && all.facts != "":
		return command.Usage("--facts excludes --known: a list has new facts only")
	case given["missing"] && f.graph != kg.All:
		return command.Usage("--missing is about probabilities, which --graph %s does not have: leave one of the two out", f.graph)
	case f.sources == standardInput && f.candidates == standardInput || f.queries == standardInput && f.candidates == standardInput:
		return command.Usage("--candidates is -: standard input can be read only once")
	case f.output != "" && (checkpoint.CheckRun(f.output) != nil || slices.Contains(kg.Splits, f.output) || slices.Contains(metrics.Protocols, f.output)):
		return command.FlagError("output", f.output, checkpoint.RunName+", and not that of a split or of a protocol")
	}
	return command.CheckMissing(f.missing)
}

// checkUnasked returns an error for flags that only queries and lists have.
func (f *askFlags) checkUnasked(given map[string]bool) error {
	switch {
	case f.sources != "":
		return command.Usage("--sources needs --relation or --facts: the relations to ask, or all")
	case f.candidates != "":
		return command.Usage("--candidates needs --relation, --facts or --queries: all entities are candidates when a split is ranked")
	case given["known"]:
		return command.Usage("--known needs --relation or --queries")
	case given["output"]:
		return command.Usage("--output needs --relation, --queries or --facts")
	case given["graph"]:
		return command.Usage("--graph is about your own queries: the queries of a split are queried in the graph of that split; leave it out, or ask with --queries, --relation or --facts")
	case given["missing"]:
		return command.Usage("--missing is about probabilities, which an evaluation does not have: leave it out, or ask with --queries, --relation or --facts")
	}
	return nil
}
