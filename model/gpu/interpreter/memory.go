package interpreter

import (
	"fmt"
	"sync"
	"sync/atomic"

	"tagnet/model/engine/device"
)

// memory is the global memory of a device. Buffers lie 2^spacing bytes apart, so that a stray access meets none: an
// address is the number of a buffer, from 1, and an offset in it.
type memory struct {
	buffers []*buffer
	limit   int64
	used    int64
}

const spacing = 40

type buffer struct {
	data    []byte // nil once it is freed
	written []byte // 1 for each byte that was written
	words   atomic.Pointer[[]cell]
	bytes   atomic.Pointer[[]cell]
	lock    sync.Mutex // for atomic instructions, and for making cells
	users   users
}

// allocate returns the address of a new buffer, whose bytes nothing wrote. The error is
// device.ErrMemory beyond the limit.
func (m *memory) allocate(bytes int64) (uint64, error) {
	if bytes < 0 || bytes > m.limit-m.used {
		return 0, fmt.Errorf("allocating %d bytes with %d of %d used: %w", bytes, m.used, m.limit, device.ErrMemory)
	}
	m.used += bytes
	m.buffers = append(m.buffers, &buffer{data: make([]byte, bytes), written: make([]byte, bytes)})
	return uint64(len(m.buffers)) << spacing, nil
}

// free frees the buffer at p, an address that allocate returned. Its number is not used again, so that
// later accesses fail.
func (m *memory) free(p uint64) error {
	n := p >> spacing
	if n == 0 || n > uint64(len(m.buffers)) || p<<(64-spacing) != 0 || m.buffers[n-1].data == nil {
		return fmt.Errorf("freeing %#x, which is not allocated", p)
	}
	m.used -= int64(len(m.buffers[n-1].data))
	m.buffers[n-1] = &buffer{}
	return nil
}

// find returns the buffer that holds a range of bytes, and their offset in it. It is for copies by the host.
func (m *memory) find(p uint64, bytes int) (*buffer, int, error) {
	n, i := p>>spacing, int(p&(1<<spacing-1))
	if n == 0 || n > uint64(len(m.buffers)) {
		return nil, 0, fmt.Errorf("no buffer at %#x", p)
	}
	b := m.buffers[n-1]
	if b.data == nil {
		return nil, 0, fmt.Errorf("buffer %d was freed", n)
	}
	if i+bytes > len(b.data) || bytes < 0 {
		return nil, 0, fmt.Errorf("%d bytes at %d of buffer %d, which has %d", bytes, i, n, len(b.data))
	}
	return b, i, nil
}

func (b *buffer) mark(at, bytes int) {
	for i := range b.written[at : at+bytes] {
		b.written[at+i] = 1
	}
}

// cell records which blocks touched a word in a launch; for kernels that access less than 4 bytes at a time, a byte.
// Both fields hold the number of the launch, so that nothing has to be cleared before the next. A block first claims
// the cell and then looks at the other field: of two blocks at the same time one sees the other.
type cell struct {
	writer atomic.Uint64 // launch, how, block + 1
	reader atomic.Uint64 // launch, 0, block + 1 or several
}

const (
	plainWrite = 1 << 32
	atomics    = 2 << 32
	how        = 3 << 32
	several    = 1<<32 - 1
	launchBit  = 34
)

// cells returns the records of a buffer. They are made at the first access, since many buffers are only copied.
func (b *buffer) cells(narrow bool) []cell {
	at, n := &b.words, (len(b.data)+3)/4
	if narrow {
		at, n = &b.bytes, len(b.data)
	}
	if c := at.Load(); c != nil {
		return *c
	}
	b.lock.Lock()
	defer b.lock.Unlock()
	if c := at.Load(); c != nil {
		return *c
	}
	c := make([]cell, n)
	at.Store(&c)
	return c
}

// conflict says in a message what another block did with a cell. It is empty if there is no conflict.
type conflict string

// read records a read by a block, given as launch<<launchBit | block+1.
func (c *cell) read(id uint64) conflict {
	for {
		old := c.reader.Load()
		if old == id || old>>launchBit == id>>launchBit && old&several == several {
			break
		}
		now := id
		if old>>launchBit == id>>launchBit {
			now = id | several
		}
		if c.reader.CompareAndSwap(old, now) {
			break
		}
	}
	if w := c.writer.Load(); w>>launchBit == id>>launchBit && w&several != id&several {
		return written(w)
	}
	return ""
}

// write records a write by a block.
func (c *cell) write(id uint64) conflict {
	for {
		old := c.writer.Load()
		if old == id|plainWrite {
			break
		}
		if old>>launchBit == id>>launchBit && old&several != id&several {
			return written(old)
		}
		if c.writer.CompareAndSwap(old, id|plainWrite) {
			break
		}
	}
	return c.others(id)
}

// change records an atomic instruction of a block.
func (c *cell) change(id uint64) conflict {
	for {
		old, now := c.writer.Load(), id|atomics
		if old>>launchBit == id>>launchBit {
			switch {
			case old&several == id&several:
				now = old
			case old&how == plainWrite:
				return written(old)
			default:
				now = old | several
			}
		}
		if c.writer.CompareAndSwap(old, now) {
			break
		}
	}
	return c.others(id)
}

// others returns the conflict of a write by a block with an earlier read by another one.
func (c *cell) others(id uint64) conflict {
	r := c.reader.Load()
	switch {
	case r>>launchBit != id>>launchBit || r&several == id&several:
		return ""
	case r&several == several:
		return "was read by several blocks"
	}
	return conflict(fmt.Sprintf("was read by block %d", r&several-1))
}

// written describes an earlier write, as the cell's field records it.
func written(w uint64) conflict {
	what := "was written by"
	if w&how == atomics {
		what = "was changed atomically by"
	}
	if w&several == several {
		return conflict(what + " several blocks")
	}
	return conflict(fmt.Sprintf("%s block %d", what, w&several-1))
}
