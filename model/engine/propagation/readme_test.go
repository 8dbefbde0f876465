package propagation

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"text/tabwriter"

	"tagnet/model/engine/kernel"
	"tagnet/model/graph"
	"tagnet/model/study"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// TestReadmeExample propagates the example of model/README.md and of this package's documentation, and
// checks their numbers.
func TestReadmeExample(t *testing.T) {
	t.Parallel()
	g, err := graph.New(8, 2, []graph.Fact{
		{Head: 0, Relation: 0, Tail: 1}, // a-r-b
		{Head: 0, Relation: 0, Tail: 2},
		{Head: 1, Relation: 1, Tail: 2},
		{Head: 1, Relation: 0, Tail: 3},
		{Head: 1, Relation: 0, Tail: 4},
		{Head: 2, Relation: 0, Tail: 5},
		{Head: 5, Relation: 0, Tail: 6},
	})
	if err != nil {
		t.Fatal(err)
	}
	c, k := configuration.Default(), kernel.Available()[0]
	c.Layers, c.Delta, c.Dim = 2, 2, 4
	w := NewWeights(g, nil, c, false)
	if err := w.Load(k, parameters.Initialize(parameters.Layout(c, g.RelationCount()), 1)); err != nil {
		t.Fatal(err)
	}
	p := New(g, c, k)
	if err := p.Forward(t.Context(), w, Request{}); err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{updatesTable(p), countsTable(g, c)} {
		if !strings.Contains(string(readme), table) {
			t.Errorf("model/README.md lacks this table:\n%s", table)
		}
	}
	if p.Sent() != 11 || p.Updated() != 9 {
		t.Errorf("%d messages and %d updates, want 11 and 9 as model/README.md says", p.Sent(), p.Updated())
	}
	c.Policy = configuration.PolicyFull
	full, weights := New(g, c, k), NewWeights(g, nil, c, false)
	if err := weights.Load(k, parameters.Initialize(parameters.Layout(c, g.RelationCount()), 1)); err != nil {
		t.Fatal(err)
	}
	if err := full.Forward(t.Context(), weights, Request{}); err != nil {
		t.Fatal(err)
	}
	if full.Sent() != 28 || full.Updated() != 16 {
		t.Errorf("full propagation: %d messages and %d updates, want 28 and 16 as model/README.md says", full.Sent(), full.Updated())
	}
}

// updatesTable lists the updates of every layer with the messages that they read.
func updatesTable(p *Propagator) string {
	return table(func(out *tabwriter.Writer) {
		fmt.Fprint(out, "layer\tage\tupdates\tmessages\n")
		for t := 1; t <= p.configuration.Layers; t++ {
			p.policy.(*windowPolicy).windowUpdate(t)
			for i := range p.update.groups {
				x := &p.update.groups[i]
				var names, sent []string
				for _, row := range x.rows {
					names = append(names, name(p.layout.Entities[row]))
					for kind := range min(x.age+1, 3) {
						for e := p.layout.Senders.Offsets[3*int(row)+kind]; e < p.layout.Senders.Offsets[3*int(row)+kind+1]; e++ {
							sender := p.layout.SenderRow(p.layout.Senders.Rows[e], kind)
							sent = append(sent, name(p.layout.Entities[sender])+">"+name(p.layout.Entities[row]))
						}
					}
				}
				fmt.Fprintf(out, "%d\t%d\t%s\t%s\n", t, x.age, strings.Join(names, " "), strings.Join(sent, " "))
			}
		}
	})
}

// countsTable lists the counts of messages by layer.
func countsTable(g *graph.Graph, c configuration.Configuration) string {
	distances := make([]uint8, g.Entities)
	graph.NewSearcher(g).Search(0, c.Layers, graph.Query{}, distances)
	levels := study.CountLevels(g, distances, c.Layers)
	return table(func(out *tabwriter.Writer) {
		fmt.Fprint(out, "layer\tedges\tkept\tkept empty\tpruned empty\tpruned redundant\n")
		for t := 1; t <= c.Layers; t++ {
			n := levels.Layer(c.Layers, t, c.Delta)
			fmt.Fprintf(out, "%d\t%d\t%d\t%d\t%d\t%d\n", t, n.Edges, n.Kept, n.KeptEmpty, n.PrunedEmpty, n.PrunedRedundant)
		}
	})
}

func name(entity int32) string { return string(rune('a' + entity)) }

// table returns tab-separated lines as aligned columns, indented like a code block.
func table(write func(*tabwriter.Writer)) string {
	var text strings.Builder
	out := tabwriter.NewWriter(&text, 0, 0, 3, ' ', 0)
	write(out)
	out.Flush()
	lines := strings.Split(strings.TrimSpace(text.String()), "\n")
	for i := range lines {
		lines[i] = "    " + strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}
