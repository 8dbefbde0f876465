package interpreter

import "fmt"

// shared is the shared memory of a block. A clock counts its barriers, and a word records the time of its last accesses:
// two accesses do not race if both threads took part in a barrier between them.
type shared struct {
	data    []byte
	touched []touched
	shift   int        // bytes a record, as a power of 2: 4, or 1 if the kernel accesses less
	clock   uint32     // after the last barrier
	begin   uint32     // when the block began
	whole   uint32     // after the last barrier of all threads
	ordered [][]uint32 // [warp][other]: what other did before that time, warp sees
}

// touched records who accessed a word of shared memory last.
type touched struct{ write, read, change trace }

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

// init makes the shared memory of blocks of a kernel and its records, which blocks of the given number of warps use one after another.
func (s *shared) init(k *kernel, warps int) {
	s.data = make([]byte, k.shared)
	if !k.narrowShare {
		s.shift = 2
	}
	s.touched = make([]touched, (k.shared+1<<s.shift-1)>>s.shift)
	s.clock = 1
	for range warps {
		s.ordered = append(s.ordered, make([]uint32, warps))
	}
}

// start begins a block.
func (s *shared) start() {
	if s.clock++; s.clock > 1<<31 { // before it overflows
		clear(s.touched)
		for _, o := range s.ordered {
			clear(o)
		}
		s.clock = 1
	}
	s.begin, s.whole = s.clock, s.clock
}

// synchronize is a barrier of warps.
func (s *shared) synchronize(group []*warp, whole bool) {
	s.clock++
	if whole {
		s.whole = s.clock
		return
	}
	joined := make([]uint32, len(s.ordered))
	for _, w := range group {
		for other, clock := range s.ordered[w.number] {
			joined[other] = max(joined[other], clock)
		}
	}
	for _, w := range group {
		joined[w.number] = s.clock
	}
	for _, w := range group {
		copy(s.ordered[w.number], joined)
	}
}

func (s *shared) synchronizeWarp(w *warp) {
	s.clock++
	s.ordered[w.number][w.number] = s.clock
}

// races reports whether an earlier access is not ordered before one by a thread of w.
func (s *shared) races(a *trace, w *warp, thread int32) bool {
	if a.clock < s.whole || a.who == thread {
		return false
	}
	return a.who == -1 || a.clock >= s.ordered[w.number][a.warp()]
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
	for i := int(at) >> s.shift; i <= (int(at)+bytes-1)>>s.shift; i++ {
		t := &s.touched[i]
		switch {
		case how != writes && t.write.clock < s.begin && t.change.clock < s.begin:
			w.fail(lane, "reads byte %d of shared memory, which nothing wrote", at)
		case s.races(&t.write, w, thread):
			w.fail(lane, "races for byte %d of shared memory with %v, which wrote it", i<<s.shift, t.write)
		case how != reads && s.races(&t.read, w, thread):
			w.fail(lane, "races for byte %d of shared memory with %v, which read it", i<<s.shift, t.read)
		case how != changes && s.races(&t.change, w, thread):
			w.fail(lane, "races for byte %d of shared memory with %v, which changed it atomically", i<<s.shift, t.change)
		}
		switch how {
		case reads:
			s.join(&t.read, w, thread)
		case writes:
			t.write = trace{s.clock, thread}
		case changes:
			s.join(&t.change, w, thread)
		}
	}
}

// local is the local memory of a warp's threads.
type local struct {
	data    [][]byte
	written [][]byte
}

// start marks the local memory of all lanes unwritten, and makes it at the first block.
func (m *local) start(k *kernel) {
	if k.local == 0 {
		return
	}
	if m.data == nil {
		m.data, m.written = make([][]byte, 32), make([][]byte, 32)
		for l := range 32 {
			m.data[l], m.written[l] = make([]byte, k.local), make([]byte, k.local)
		}
	}
	for l := range 32 {
		clear(m.written[l])
	}
}
