package gpu

import (
	"slices"

	"tagnet/model/engine/device"
	"tagnet/model/steps"
)

// The streams of a trainer: one prepares queries while the other computes the queries before.
const (
	computing = iota
	preparing
)

// set is a batch with buffers of its own, and the input that it is copied with, for preparing queries.
type set struct {
	batch   batch          // what does not depend on the queries
	at      device.Pointer // of the input: a batch, and behind it its queries and their candidates
	current int            // queries of the last chunk
}

// prepared returns the buffers that preparing queries writes and computing them reads.
func (e *engine) prepared() []*device.Pointer {
	b := &e.batch
	return []*device.Pointer{&e.at, &b.Reached, &b.Active, &b.Counts, &b.Starts, &b.RowBegin, &b.HeavyEnd, &b.Rows, &b.RowDegree, &b.RowNumbers,
		&b.StripBegin, &b.Strips, &b.Spans, &b.SpanCounts, &b.Masks}
}

// doubled returns the buffers of prepared queries.
func (e *engine) doubled(stride, capacity int) []buffer {
	prepared := e.prepared()
	return slices.DeleteFunc(e.buffers(stride, capacity), func(b buffer) bool { return !slices.Contains(prepared, b.at) })
}

// setBytes returns the bytes of a second set for a number of queries, and of base relations.
func (e *engine) setBytes(stride, queries, bases int) int64 {
	bytes := int64(0)
	for _, b := range e.doubled(stride, queries) {
		bytes += b.bytes*int64(queries) + b.once + 256
	}
	if b := e.between; b != nil {
		bytes += b.setBytes(b.relations, bases, 0)
	}
	return bytes
}

// makeOther makes the other set, which shares its buffers with the current one unless two are held.
func (e *engine) makeOther(stride int) {
	e.other = e.set
	if e.twice {
		for _, b := range e.doubled(stride, e.capacity) {
			*b.at = e.memory.allocate(b.bytes*int64(e.capacity) + b.once)
		}
		e.shareDistances()
	}
	if e.between != nil {
		e.between.makeOther(e.between.relations)
	}
}

// swap makes the other set the current one.
func (e *engine) swap() {
	e.set, e.other = e.other, e.set
	if e.between != nil {
		e.between.swap()
	}
}

// ahead is a step whose first chunk is prepared. err is the error of its examples.
type ahead struct {
	examples []steps.Example // a copy
	seed     uint64
	err      error
}

func (a ahead) isStep(examples []steps.Example, seed uint64) bool {
	return len(a.examples) > 0 && a.seed == seed && slices.EqualFunc(a.examples, examples, func(a, b steps.Example) bool {
		return a.Source == b.Source && a.Relation == b.Relation && a.Answer == b.Answer && a.Key == b.Key &&
			(a.Negatives == nil) == (b.Negatives == nil) && slices.Equal(a.Negatives, b.Negatives) && slices.Equal(a.Known, b.Known) &&
			slices.Equal(a.OtherAnswers(), b.OtherAnswers()) && slices.Equal(a.OtherKeys, b.OtherKeys)
	})
}
