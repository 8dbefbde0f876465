// Command generate makes a knowledge graph of a kind and any size, as train.txt, valid.txt and test.txt.
package main

import (
	"context"
	"flag"
	"io"
	"math"
	"os"

	_ "tagnet/formats/storage/schemes" // --out may be a gs:// URL
	"tagnet/infra/internal/program"
	"tagnet/model/graph/synthetic"
)

func main() { os.Exit(program.Run("generate", "interrupted, nothing was written", run)) }

type options struct {
	out                 string
	facts, valid, test  int64
	entities, relations int64
	exponent            float64
	seed                uint64
	kind                string
}

// The kinds of graphs, beside synthetic.Kinds.
const (
	powerLawKind = "power-law"
	rulesKind    = "rules"
)

// onlyFor has the flags that are only for a power law, and for one other kind if it is not "".
var onlyFor = map[string]string{"valid": "", "test": "", "exponent": "", "entities": rulesKind, "relations": rulesKind}

func parse(arguments []string, diagnostics io.Writer) (options, error) {
	var o options
	set := flag.NewFlagSet("generate", flag.ContinueOnError)
	set.StringVar(&o.out, "out", "", "`folder` or URL that takes the three files; it must hold none of them yet")
	set.Int64Var(&o.facts, "facts", 1_000_000, "facts of train.txt")
	set.Int64Var(&o.valid, "valid", 500, "facts of valid.txt")
	set.Int64Var(&o.test, "test", 500, "facts of test.txt")
	set.Int64Var(&o.entities, "entities", 0, "entities; 0 for one to every ten facts of train.txt")
	set.Int64Var(&o.relations, "relations", 500, "relations")
	set.Float64Var(&o.exponent, "exponent", 2.5,
		"of the power law: a degree of k is had by a share that falls as k to minus this, above 2 (huge hubs) to 10 (none)")
	set.StringVar(&o.kind, "kind", powerLawKind,
		"`power-law|rules|shop|hierarchy`: degrees by a power law; relations and random rules that they follow, with rules.txt; purchases of customers who "+
			"like brands; terms, and what follows from which is part of which; of all but the first, --facts are about as many, "+
			"and what is held out can be known")
	set.Uint64Var(&o.seed, "seed", 0, "decides everything that is drawn at random")
	if err := program.Parse(set, "Makes a knowledge graph of a kind: train.txt, valid.txt and test.txt.", arguments, diagnostics); err != nil {
		return o, err
	}
	if o.entities == 0 {
		o.entities = min(max(1, o.facts/10), mostEntities)
	}
	return o, o.check(set)
}

// mostFacts and mostRelations bound what is counted in float64 without loss, and in ids of
// relations and their inverse edges as int32.
const (
	mostFacts     = 1 << 40
	mostEntities  = math.MaxInt32
	mostRelations = math.MaxInt32 / 2
	mostInMemory  = 20_000_000 // facts, of all kinds but a power law
)

func (o options) check(set *flag.FlagSet) error {
	for _, n := range []struct {
		name               string
		value, least, most int64
	}{
		{"facts", o.facts, 1, mostFacts}, {"valid", o.valid, 1, mostFacts}, {"test", o.test, 1, mostFacts},
		{"entities", o.entities, 1, mostEntities}, {"relations", o.relations, 1, mostRelations},
	} {
		if n.value < n.least || n.value > n.most {
			return program.Usage("--%s is %d: want %d to %d", n.name, n.value, n.least, n.most)
		}
	}
	other := ""
	set.Visit(func(f *flag.Flag) {
		if kind, limited := onlyFor[f.Name]; limited && o.kind != powerLawKind && o.kind != kind {
			other = f.Name
		}
	})
	_, drawn := synthetic.Kinds[o.kind]
	switch {
	case !drawn && o.kind != powerLawKind && o.kind != rulesKind:
		return program.Usage("--kind is %q: want power-law, rules, shop or hierarchy", o.kind)
	case other != "":
		return program.Usage("--%s is not for --kind %s, which draws it: leave it out", other, o.kind)
	case o.out == "":
		return program.Usage("--out is missing: name the folder that takes the files")
	case o.kind != powerLawKind && o.facts > mostInMemory:
		return program.Usage("--facts is %d: with --kind %s want at most %d", o.facts, o.kind, mostInMemory)
	case !(o.exponent > 2 && o.exponent <= 10):
		return program.Usage("--exponent is %v: want more than 2, and 10 at most", o.exponent)
	}
	return nil
}

func run(ctx context.Context, arguments []string, out, diagnostics io.Writer) error {
	o, err := parse(arguments, diagnostics)
	if err != nil {
		return err
	}
	switch o.kind {
	case rulesKind:
		return writeRules(ctx, o, out)
	case powerLawKind:
		return writePowerLaw(ctx, o, out)
	}
	return writeKind(ctx, o, out)
}
