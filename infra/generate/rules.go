package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"

	"tagnet/infra/internal/program"
	"tagnet/model/graph"
	"tagnet/model/graph/synthetic"
	"tagnet/model/parallel"
)

// writeRules makes a graph in which rules hold, and writes it: half of the facts that are held out are for validation.
func writeRules(ctx context.Context, o options, out io.Writer) error {
	exactly := func(n int64) synthetic.Range { return synthetic.Range{Least: int(n), Most: int(n)} }
	g, err := synthetic.New(o.seed, synthetic.Options{
		Entities: exactly(o.entities), Relations: exactly(o.relations),
		// each fact has two ends; rules add about as many as are drawn twice
		Degree: exactly(max(1, int64(math.Round(1.8*float64(o.facts)/float64(o.entities))))),
	})
	if err != nil {
		return program.Usage("%w", err)
	}
	train, valid, test := divide(g)
	if len(train)*len(valid)*len(test) == 0 {
		return o.tooFew()
	}
	if err := writeFiles(ctx, o.out, text("train", lines(train)), text("valid", lines(valid)), text("test", lines(test)), text("rules", rules(g))); err != nil {
		return err
	}
	fmt.Fprintf(out, "wrote %s: %d, %d and %d facts about %d entities, and %d rules\n", o.out, len(train), len(valid), len(test), g.Entities, len(g.Rules))
	return nil
}

// writeKind makes a graph of a kind that synthetic draws, and writes it.
func writeKind(ctx context.Context, o options, out io.Writer) error {
	const step = 0x9e3779b97f4a7c15 // of Mix
	s := synthetic.Kinds[o.kind].Draw(int(o.facts), rand.New(rand.NewPCG(o.seed, parallel.Mix(o.seed-step))))
	if len(s.Valid)*len(s.Test) == 0 {
		return o.tooFew()
	}
	train, valid, test := text("train", synthetic.Lines(s.Train)), text("valid", synthetic.Lines(s.Valid)), text("test", synthetic.Lines(s.Test))
	if err := writeFiles(ctx, o.out, train, valid, test); err != nil {
		return err
	}
	fmt.Fprintf(out, "wrote %s: %d, %d and %d facts\n", o.out, len(s.Train), len(s.Valid), len(s.Test))
	return nil
}

// divide halves the facts that are held out. Those of a relation of which all are held out stay in the graph: nothing
// could be learned about it.
func divide(g *synthetic.Graph) (train, valid, test []graph.Fact) {
	learned := make([]bool, g.Relations)
	for _, f := range g.Facts {
		learned[f.Relation] = true
	}
	train = g.Facts
	for i, f := range g.HeldOut {
		switch {
		case !learned[f.Relation]:
			train = append(train, f)
		case i%2 == 0:
			valid = append(valid, f)
		default:
			test = append(test, f)
		}
	}
	return train, valid, test
}

func lines(facts []graph.Fact) string {
	var text strings.Builder
	for _, f := range facts {
		fmt.Fprintf(&text, "e%d\tr%d\te%d\n", f.Head, f.Relation, f.Tail)
	}
	return text.String()
}

// rules returns a line for each rule, such as "r7(x, y) if r2(x, z1) and ~r1(z1, y), confidence 0.83". A ~ is
// the inverse relation.
func rules(g *synthetic.Graph) string {
	var text strings.Builder
	for _, rule := range g.Rules {
		fmt.Fprintf(&text, "r%d(x, y) if ", rule.Head)
		for i, relation := range rule.Body {
			name, from, to := fmt.Sprintf("r%d", relation), fmt.Sprintf("z%d", i), fmt.Sprintf("z%d", i+1)
			if base := relation - int32(g.Relations); base >= 0 {
				name = fmt.Sprintf("~r%d", base)
			}
			if i == 0 {
				from = "x"
			} else {
				text.WriteString(" and ")
			}
			if i == len(rule.Body)-1 {
				to = "y"
			}
			fmt.Fprintf(&text, "%s(%s, %s)", name, from, to)
		}
		fmt.Fprintf(&text, ", confidence %.2f\n", rule.Confidence)
	}
	return text.String()
}
