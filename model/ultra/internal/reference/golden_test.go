package reference_test

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	tagnet "tagnet/model/internal/reference"
	"testing"

	compare "tagnet/model/internal/golden"
	"tagnet/model/ultra"
	"tagnet/model/ultra/internal/golden"
	"tagnet/model/ultra/internal/reference"

	gocmp "github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden case of the repository")

// TestGoldenFloat64 compares everything that golden cases have.
func TestGoldenFloat64(t *testing.T) {
	t.Parallel()
	for name, c := range golden.Cases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, g := compare.Widened(c.Parameters(t)), c.Graph(t)
			edges := tagnet.RelationGraph(g)
			for k, of := range golden.Types {
				if diff := gocmp.Diff(c.RelationGraph[of], edges[k]); diff != "" {
					t.Errorf("edges of type %s (-want +got):\n%s", of, diff)
				}
			}
			check := func(what string, got []float64, want golden.Tensor) {
				t.Helper()
				if err := compare.Compare(what, got, want.Data, compare.Tolerance64); err != nil {
					t.Error(err)
				}
			}
			relations, tables := map[int32][]float64{}, map[int32][][]float64{}
			for base, b := range c.BaseRelations {
				states := reference.RelationStates(p, edges, g.RelationCount(), base)
				relations[base] = states[ultra.Layers]
				tables[base] = reference.Tables(p, relations[base])
				check(fmt.Sprintf("final of %d", base), relations[base], b.Final)
				for l, want := range b.Layers {
					check(fmt.Sprintf("layer %d of %d", l, base), states[l], want)
				}
				for l, want := range b.Tables {
					check(fmt.Sprintf("table %d of %d", l, base), tables[base][l-1], want)
				}
				for l, ground := range b.Ground {
					check(fmt.Sprintf("ground states %d of %d", l, base), reference.EntityStates(p, g, tables[base], -1, nil)[l], ground)
				}
			}
			for i, q := range c.Queries {
				query := relations[q.Base][int(q.Relation)*ultra.Dim:][:ultra.Dim]
				states := reference.EntityStates(p, g, tables[q.Base], q.Source, query)
				for l, want := range q.Layers {
					check(fmt.Sprintf("query %d, layer %d", i, l), states[l], want)
				}
				scores := reference.Scores(p, states[ultra.Layers], query)
				check(fmt.Sprintf("scores of query %d", i), scores, q.Scores)
				if least, most := ranks(scores, q.Answer, c.Known(q)); least != q.RankLeast || most != q.RankMost {
					t.Errorf("query %d: ranks %d to %d, want %d to %d", i, least, most, q.RankLeast, q.RankMost)
				}
			}
		})
	}
}

// ranks returns the filtered ranks of an answer with ties counted for and against it.
func ranks(scores []float64, answer int32, known []int32) (least, most int64) {
	least, most = 1, 1
	for o, score := range scores {
		if int32(o) == answer || slices.Contains(known, int32(o)) {
			continue
		}
		if score > scores[answer]+1e-6 {
			least++
		}
		if score >= scores[answer]-1e-6 {
			most++
		}
	}
	return least, most
}

// TestWriteGoldenCase writes the repository's case with -update: a hub, a loop, parallel relations, a chain that is longer than
// the layers, another component, an entity without edges, and a relation without facts.
func TestWriteGoldenCase(t *testing.T) {
	t.Parallel()
	if !*update {
		t.Skip("the golden case is written with -update")
	}
	c := &golden.Case{Seed: 7, Entities: 20, Relations: 4}
	for i := range int32(8) {
		c.Facts = append(c.Facts, [3]int32{i, 0, i + 1}) // the chain
	}
	for i := range int32(6) {
		c.Facts = append(c.Facts, [3]int32{9 + i, 1, 8}) // the hub
	}
	c.Facts = append(c.Facts, [3]int32{3, 2, 3}, [3]int32{1, 2, 2}, [3]int32{9, 2, 10}, [3]int32{15, 1, 16}, [3]int32{16, 0, 17}, [3]int32{17, 2, 15}, [3]int32{10, 0, 11})
	slices.SortFunc(c.Facts, func(a, b [3]int32) int {
		return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]), cmp.Compare(a[2], b[2]))
	})
	p, g := compare.Widened(c.Parameters(t)), c.Graph(t)
	edges := tagnet.RelationGraph(g)
	c.RelationGraph, c.BaseRelations = map[string][][2]int32{}, map[int32]golden.BaseRelation{}
	for k, name := range golden.Types {
		c.RelationGraph[name] = edges[k]
	}
	for _, q := range []golden.Query{
		{Source: 0, Relation: 0, Base: 0, Answer: 1}, {Source: 8, Relation: 5, Base: 1, Answer: 9}, {Source: 3, Relation: 2, Base: 2, Answer: 3},
		{Source: 19, Relation: 0, Base: 0, Answer: 4}, {Source: 5, Relation: 7, Base: 3, Answer: 16},
	} {
		relations := reference.RelationStates(p, edges, g.RelationCount(), q.Base)[ultra.Layers]
		tables := reference.Tables(p, relations)
		c.BaseRelations[q.Base] = golden.BaseRelation{Final: rounded(relations, g.RelationCount(), ultra.Dim)}
		query := relations[int(q.Relation)*ultra.Dim:][:ultra.Dim]
		scores := reference.Scores(p, reference.EntityStates(p, g, tables, q.Source, query)[ultra.Layers], query)
		q.Scores = rounded(scores, g.Entities)
		q.RankLeast, q.RankMost = ranks(scores, q.Answer, c.Known(q))
		c.Queries = append(c.Queries, q)
	}
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(golden.Path(t), append(text, '\n'), 0o666); err != nil {
		t.Fatal(err)
	}
}

// rounded returns a tensor with eleven digits of each number.
func rounded(data []float64, shape ...int) golden.Tensor {
	for i, v := range data {
		if v != 0 {
			digit := math.Pow(10, math.Floor(math.Log10(math.Abs(v)))-10)
			data[i] = math.Round(v/digit) * digit
		}
	}
	return golden.Tensor{Shape: shape, Data: data}
}
