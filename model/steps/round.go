package steps

import "tagnet/model/weights/configuration"

// Round is a range of an epoch's batches that several workers share. Shard i of n trains the batches
// First + i, First + i + n, First + i + 2n, ... of the range, in this order. In the last round of an
// epoch, whose batches may be fewer, the shards' steps differ by at most one.
type Round struct {
	// Epoch counts from 1.
	Epoch int
	// First and Batches are the range in the Schedule of the epoch.
	First, Batches int
	// Workers is the number of shards that the range is dealt to; each has a batch at least.
	Workers int
}

// NextRound returns the round that begins with batch first of an epoch of batches: the
// next LocalSteps batches for each of the workers, or what is left of the epoch.
func NextRound(r configuration.Rounds, epoch, first, batches int) Round {
	left := batches - first
	if each := (left + r.Workers - 1) / r.Workers; each > r.LocalSteps {
		left = r.LocalSteps * r.Workers
	}
	return Round{Epoch: epoch, First: first, Batches: left, Workers: min(r.Workers, left)}
}

// Shard returns the indices, in the Schedule of the epoch, of the batches that a shard trains, from 0.
func (r Round) Shard(shard int) []int {
	indices := make([]int, 0, r.Steps())
	for i := shard; i < r.Batches; i += r.Workers {
		indices = append(indices, r.First+i)
	}
	return indices
}

// Steps returns the number of steps of the first shard, the most that any shard of the round makes. A
// round advances the solver's count of steps by it: see Average.
func (r Round) Steps() int { return (r.Batches + r.Workers - 1) / r.Workers }
