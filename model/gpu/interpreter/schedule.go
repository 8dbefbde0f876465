package interpreter

import (
	"fmt"
	"sync/atomic"
)

// streams is the number of a device's streams.
const streams = 2

// schedule says which of a device's operations come before which, by the stream, the host's waiting and marks.
// Operations are numbered in the order of their calls, in which the interpreter executes them; a card need not.
type schedule struct {
	stream int // the current one
	count  uint64
	// known has, for each stream, what its next operation comes after.
	known [streams]past
}

// past has the last operation of each stream that something comes after.
type past [streams]uint64

func (p *past) join(other past) {
	for s := range p {
		p[s] = max(p[s], other[s])
	}
}

type operation struct {
	number uint64
	stream int
	after  past
}

// next numbers an operation of the current stream.
func (s *schedule) next() operation {
	after := s.known[s.stream]
	s.count++
	s.known[s.stream][s.stream] = s.count
	return operation{s.count, s.stream, after}
}

// wait notes that the host has waited for the current stream: whatever it starts from now on comes later.
func (s *schedule) wait() {
	done := s.known[s.stream]
	for i := range s.known {
		s.known[i].join(done)
	}
}

// users are the last operations of each stream that read and wrote a buffer.
type users [streams]struct{ read, written atomic.Uint64 }

// note records that an operation uses a buffer. It describes in a message another stream's use of it meanwhile; memory
// is compared by buffers. It is empty if there is no conflict.
func (u *users) note(op operation, how use) conflict {
	own, number := &u[op.stream].read, op.number
	if how != reads {
		own = &u[op.stream].written
	}
	if own.Load() == number {
		return ""
	}
	for s := range u {
		switch {
		case s == op.stream:
		case u[s].written.Load() > op.after[s]:
			return conflict(fmt.Sprintf("is written on stream %d, which nothing waits for", s))
		case how != reads && u[s].read.Load() > op.after[s]:
			return conflict(fmt.Sprintf("is read on stream %d, which nothing waits for", s))
		}
	}
	own.Store(number)
	return ""
}
