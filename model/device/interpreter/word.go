package interpreter

import (
	encoding "encoding/binary"
	"math/bits"
)

// loadShared loads 4 bytes of shared memory in each lane. Whatever is not plainly right is left to one.
func (a *access) loadShared(w *warp) {
	s := &w.block.shared
	if s.shift != 2 {
		a.do(w)
		return
	}
	d, addresses := &w.r[a.rows[0]], &w.r[a.address]
	if w.mask == all && uniform(addresses) {
		at := addresses[0] + a.offset // before the first load: the result may replace the address
		value := a.one(w, 0, at)
		a.one(w, 1, at) // so that the record says: several threads
		for l := range d {
			d[l] = value
		}
		return
	}
	data, records, thread, together := s.data, s.touched, int32(w.first), trace{s.clock, severalOf(w.number)}
	for m := w.mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) & 31
		at := addresses[l] + a.offset
		i := at >> 2
		if at&3 != 0 || i >= uint64(len(records)) || at+4 > uint64(len(data)) {
			a.one(w, l, at)
			continue
		}
		t := &records[i]
		// Written before the last barrier by this block, and never atomically since.
		if t.write.clock-s.begin >= s.whole-s.begin || t.change.clock >= s.whole {
			a.one(w, l, at)
			continue
		}
		if who := thread + int32(l); t.read.clock < s.whole {
			t.read = trace{s.clock, who}
		} else if t.read.who != who && t.read.who != -1 && t.read != together {
			s.join(&t.read, w, who)
		}
		d[l] = uint64(encoding.LittleEndian.Uint32(data[at:]))
	}
}

// storeShared stores 4 bytes of shared memory in each lane. Whatever is not plainly right is left to touch.
func (a *access) storeShared(w *warp) {
	s := &w.block.shared
	if s.shift != 2 {
		a.do(w)
		return
	}
	values, addresses := &w.r[a.rows[0]], &w.r[a.address]
	data, records, thread := s.data, s.touched, int32(w.first)
	for m := w.mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) & 31
		at := addresses[l] + a.offset
		i, who := at>>2, thread+int32(l)
		if at&3 != 0 || i >= uint64(len(records)) || at+4 > uint64(len(data)) {
			w.touch(a.space, l, writes, at, 4)
		}
		t := &records[i]
		if t.read.clock >= s.whole && t.read.who != who || t.write.clock >= s.whole && t.write.who != who || t.change.clock >= s.whole {
			w.touch(a.space, l, writes, at, 4)
		}
		t.write = trace{s.clock, who}
		encoding.LittleEndian.PutUint32(data[at:], uint32(values[l]))
	}
}

// loadGlobal loads 4 bytes of global memory in each lane. Whatever is not plainly right is left to one.
func (a *access) loadGlobal(w *warp) {
	d, addresses := &w.r[a.rows[0]], &w.r[a.address]
	first := addresses[bits.TrailingZeros32(w.mask)&31] + a.offset
	n := first >> spacing
	if w.run.kernel.narrow || n == 0 || n > uint64(len(w.run.memory.buffers)) {
		a.do(w)
		return
	}
	b := w.run.memory.buffers[n-1]
	cells, data, known, id := b.cells(false), b.data, b.written, w.block.mark
	if w.mask == all && uniform(addresses) {
		value := a.one(w, 0, first)
		for l := range d {
			d[l] = value
		}
		return
	}
	for m := w.mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) & 31
		at := addresses[l] + a.offset
		i := at - n<<spacing
		if at&3 != 0 || i >= uint64(len(data)) || i+4 > uint64(len(data)) || !cells[i>>2].readBefore(id) || encoding.LittleEndian.Uint32(known[i:]) != 0x01010101 {
			a.one(w, l, at)
			continue
		}
		d[l] = uint64(encoding.LittleEndian.Uint32(data[i:]))
	}
}

// readBefore reports whether a read by a block changes nothing in the cell, and is no conflict.
func (c *cell) readBefore(id uint64) bool {
	if r := c.reader.Load(); r != id && r != id|several {
		return false
	}
	w := c.writer.Load()
	return w>>launchBit != id>>launchBit || w&several == id&several
}

// uniform reports whether all lanes hold the same value.
func uniform(row *[32]uint64) bool {
	differs := uint64(0)
	for _, v := range row {
		differs |= v ^ row[0]
	}
	return differs == 0
}

// one loads 4 bytes for a lane, with all checks.
func (a *access) one(w *warp, lane int, at uint64) uint64 {
	value := uint64(encoding.LittleEndian.Uint32(w.touch(a.space, lane, reads, at, 4)))
	w.r[a.rows[0]][lane] = value
	return value
}
