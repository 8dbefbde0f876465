package steps

import (
	"fmt"
	"slices"
	"tagnet/formats/workspace/safetensors"
)

// Average is the weighted mean of the tensors of several shards: of weights, or of Adam's moments.
// Shards are added in the order of their index, which fixes the rounding.
//
// The weight of a shard is the number of queries that it trained, so that every query of a round
// counts the same (McMahan et al., arXiv 1602.05629). The mean of both moments continues Adam from
// the state of a single worker that made the steps of a shard, and not of all shards: each
// moment is an exponential mean over t gradients, short of its limit by the factor 1 - beta^t, and so
// is the mean over the shards. So Adam counts the steps of a shard. The count is the largest: some
// shards may make one step less.
type Average struct {
	tensors []safetensors.Tensor[float32] // names and shapes
	sums    [][]float64
	weight  float64
}

// Add adds the tensors of a shard. All shards have tensors of the same names and shapes, in the same
// order, and weights above 0. An error leaves the average unusable.
func (a *Average) Add(tensors []safetensors.Tensor[float32], weight int64) error {
	if weight <= 0 {
		return fmt.Errorf("averaging a shard of %d queries, want 1 or more", weight)
	}
	if a.sums == nil {
		for _, t := range tensors {
			a.tensors = append(a.tensors, safetensors.Tensor[float32]{Name: t.Name, Shape: t.Shape})
			a.sums = append(a.sums, make([]float64, len(t.Data)))
		}
	}
	if len(tensors) != len(a.tensors) {
		return fmt.Errorf("averaging a shard of %d tensors, want %d", len(tensors), len(a.tensors))
	}
	for i, t := range tensors {
		want := a.tensors[i]
		if t.Name != want.Name || !slices.Equal(t.Shape, want.Shape) || len(t.Data) != len(a.sums[i]) {
			return fmt.Errorf("averaging %s of shape %v, want %s of %v", t.Name, t.Shape, want.Name, want.Shape)
		}
		sum := a.sums[i]
		for j, x := range t.Data {
			// Exact: 24 bits of the value and at most 29 of the weight fit into a float64.
			sum[j] += float64(weight) * float64(x)
		}
	}
	a.weight += float64(weight)
	return nil
}

// Mean returns the mean of what was added, each value rounded once to float32.
func (a *Average) Mean() []safetensors.Tensor[float32] {
	mean := slices.Clone(a.tensors)
	for i, sum := range a.sums {
		mean[i].Data = make([]float32, len(sum))
		for j, x := range sum {
			mean[i].Data[j] = float32(x / a.weight)
		}
	}
	return mean
}
