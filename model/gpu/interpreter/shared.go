package interpreter

import "fmt"

// shared is the shared memory of a block. A clock counts its barriers, and a word records the time of its last
// accesses: two accesses do not race if both threads took part in a barrier between them.
type shared struct {
	data    []byte
	touched []touched // by word
	clock   uint32    // after the last barrier
	begin   uint32    // when the block began
	whole   uint32    // after the last barrier of all threads
	ordered []uint32  // by warp: after its last barrier of its own
}

// touched records who accessed a word of shared memory last.
type touched struct{ write, read trace }

// trace is an access by a thread, or by several threads of a warp or of the block.
type trace struct {
	clock uint32 // 0: never
	who   int32  // a thread, -1 for several warps, -2-n for several threads of warp n
}

func severalOf(warp int) int32 { return -2 - int32(warp) }

func (a trace) warp() int32 {
	if a.who < 0 {
		return -2 - a.who
	}
	return a.who >> 5
}

// init makes the shared memory of blocks of a kernel and its records, which blocks of the given number of warps
// use one after another.
func (s *shared) init(k *kernel, warps int) {
	s.data, s.touched, s.ordered = make([]byte, k.shared), make([]touched, (k.shared+3)/4), make([]uint32, warps)
	s.clock = 1
}

// start begins a block.
func (s *shared) start() {
	if s.clock++; s.clock > 1<<31 { // before it overflows
		clear(s.touched)
		clear(s.ordered)
		s.clock = 1
	}
	s.begin, s.whole = s.clock, s.clock
}

// synchronize is a barrier of all threads.
func (s *shared) synchronize() {
	s.clock++
	s.whole = s.clock
}

func (s *shared) synchronizeWarp(w *warp) {
	s.clock++
	s.ordered[w.number] = s.clock
}

// races reports whether an earlier access is not ordered before one by a thread of w.
func (s *shared) races(a *trace, w *warp, thread int32) bool {
	if a.clock < s.whole || a.who == thread {
		return false
	}
	return a.who == -1 || a.warp() != int32(w.number) || a.clock >= s.ordered[w.number]
}

// join adds an access to those that several threads may make.
func (s *shared) join(a *trace, w *warp, thread int32) {
	switch {
	case !s.races(a, w, thread):
		a.who = thread
	case a.who != -1 && a.warp() == int32(w.number):
		a.who = severalOf(w.number)
	default:
		a.who = -1
	}
	a.clock = s.clock
}

// String names the threads of an access in a message.
func (a trace) String() string {
	switch {
	case a.who == -1:
		return "several warps"
	case a.who < 0:
		return fmt.Sprintf("several threads of warp %d", a.warp())
	}
	return fmt.Sprintf("thread %d", a.who)
}

// use is how an instruction accesses memory.
type use byte

const (
	reads use = iota
	writes
	changes // atomically
)

// touch records an access to bytes at i and fails on races, strays and reads of what nothing wrote.
func (s *shared) touch(w *warp, lane int, how use, at uint64, bytes int) {
	if at >= uint64(len(s.data)) || int(at)+bytes > len(s.data) {
		w.fail(lane, "%d bytes at %d of shared memory, which has %d", bytes, int64(at), len(s.data))
	}
	thread := int32(w.first + lane)
	for i := int(at) / 4; i <= (int(at)+bytes-1)/4; i++ {
		t := &s.touched[i]
		switch {
		case how == reads && t.write.clock < s.begin:
			w.fail(lane, "reads byte %d of shared memory, which nothing wrote", at)
		case s.races(&t.write, w, thread):
			w.fail(lane, "races for byte %d of shared memory with %v, which wrote it", 4*i, t.write)
		case how == writes && s.races(&t.read, w, thread):
			w.fail(lane, "races for byte %d of shared memory with %v, which read it", 4*i, t.read)
		}
		if how == reads {
			s.join(&t.read, w, thread)
		} else {
			t.write = trace{s.clock, thread}
		}
	}
}
