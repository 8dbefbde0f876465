package golden

import (
	"math/rand/v2"
	"testing"

	"tagnet/model/graph"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// RandomGraph returns a graph of that many entities, base relations and facts, in which a quarter of the entities is
// the tail of no fact.
func RandomGraph(t testing.TB, rng *rand.Rand, entities, relations, facts int) *graph.Graph {
	t.Helper()
	drawn := make([]graph.Fact, facts)
	for i := range drawn {
		drawn[i] = graph.Fact{Head: int32(rng.IntN(entities)), Relation: int32(rng.IntN(relations)), Tail: int32(rng.IntN(1 + entities*3/4))}
	}
	g, err := graph.New(entities, relations, drawn)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// RandomWeights returns weights that are equal in both precisions, of a model over that many relations,
// inverse ones included.
func RandomWeights(rng *rand.Rand, c configuration.Configuration, relations int) (*parameters.Set[float64], *parameters.Set[float32]) {
	set := parameters.NewSet[float64](parameters.Layout(c, relations))
	rounded := parameters.NewSet[float32](parameters.Layout(c, relations))
	for i, tensor := range set.Tensors {
		for j := range tensor.Data {
			rounded.Tensors[i].Data[j] = float32(rng.NormFloat64() / 2)
			tensor.Data[j] = float64(rounded.Tensors[i].Data[j])
		}
	}
	return set, rounded
}

// Widened returns the same values in float64.
func Widened(set *parameters.Set[float32]) *parameters.Set[float64] {
	var layout []parameters.Shape
	for _, tensor := range set.Tensors {
		layout = append(layout, parameters.Shape{Name: tensor.Name, Shape: tensor.Shape})
	}
	wide := parameters.NewSet[float64](layout)
	for i, tensor := range set.Tensors {
		for j, v := range tensor.Data {
			wide.Tensors[i].Data[j] = float64(v)
		}
	}
	return wide
}
