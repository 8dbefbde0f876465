package interpreter

import (
	encoding "encoding/binary"
	"math/bits"
)

// loadShared loads 4 bytes of shared memory in each lane. Whatever is not plainly right is left to lane.
func (a *access) loadShared(w *warp) {
	s := &w.block.shared
	d, addresses := &w.r[a.rows[0]], &w.r[a.address]
	if w.mask == all && uniform(addresses) {
		a.lane(w, 0)
		a.lane(w, 1) // so that the record says: several threads
		for l := range d {
			d[l] = d[0]
		}
		return
	}
	data, records, thread, together := s.data, s.touched, int32(w.first), trace{s.clock, severalOf(w.number)}
	for m := w.mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) & 31
		at := addresses[l] + a.offset
		i := at >> 2
		if at&3 != 0 || i >= uint64(len(records)) || at+4 > uint64(len(data)) {
			a.lane(w, l)
			continue
		}
		t := &records[i]
		// Written before the last barrier by this block.
		if t.write.clock-s.begin >= s.whole-s.begin {
			a.lane(w, l)
			continue
		}
		if who := thread + int32(l); t.read.clock < s.whole || t.read.who == who {
			t.read = trace{s.clock, who}
		} else if t.read.who != -1 && t.read != together {
			s.join(&t.read, w, who)
		}
		d[l] = get(data[at:], 4, a.signed)
	}
}

// storeShared stores 4 bytes of shared memory in each lane. Whatever is not plainly right is left to touch.
func (a *access) storeShared(w *warp) {
	s := &w.block.shared
	values, addresses := &w.r[a.rows[0]], &w.r[a.address]
	data, records, thread := s.data, s.touched, int32(w.first)
	for m := w.mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) & 31
		at := addresses[l] + a.offset
		i, who := at>>2, thread+int32(l)
		if at&3 != 0 || i >= uint64(len(records)) || at+4 > uint64(len(data)) {
			w.touch(true, l, writes, at, 4)
		}
		t := &records[i]
		if t.read.clock >= s.whole && t.read.who != who || t.write.clock >= s.whole && t.write.who != who {
			w.touch(true, l, writes, at, 4)
		}
		t.write = trace{s.clock, who}
		encoding.LittleEndian.PutUint32(data[at:], uint32(values[l]))
	}
}

// loadGlobal loads 4, 8 or 16 bytes of global memory in each lane. Whatever is not plainly right is left to lane.
func (a *access) loadGlobal(w *warp) {
	// Lanes of several buffers, one address for all lanes, and wide loads have ways of their own.
	n, ok := a.buffer(w, reads)
	switch {
	case !ok:
		a.do(w)
		return
	case w.mask == all && uniform(&w.r[a.address]):
		a.lane(w, 0)
		for _, row := range a.rows {
			d := &w.r[row]
			for l := range d {
				d[l] = d[0]
			}
		}
		return
	case a.size > 4 || len(a.rows) > 1:
		a.loadWide(w, n)
		return
	}
	d, addresses := &w.r[a.rows[0]], &w.r[a.address]
	b := w.run.memory.buffers[n-1]
	cells, data, known, mark := b.cells(false), b.data, b.written, w.block.mark
	for m := w.mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) & 31
		// A lane that is not aligned, outside, in conflict, or reads what nothing wrote fails in lane.
		i := addresses[l] + a.offset - n<<spacing
		if i&3 != 0 || i >= uint64(len(data)) || i+4 > uint64(len(data)) || !cells[i>>2].readBefore(mark) ||
			encoding.LittleEndian.Uint32(known[i:]) != 0x01010101 {
			a.lane(w, l)
			continue
		}
		d[l] = get(data[i:], 4, a.signed)
	}
}

// loadWide loads 8 or 16 bytes of buffer n in each lane.
func (a *access) loadWide(w *warp, n uint64) {
	addresses, total := &w.r[a.address], uint64(a.size*len(a.rows))
	b := w.run.memory.buffers[n-1]
	cells, data, known, mark := b.cells(false), b.data, b.written, w.block.mark
	for m := w.mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) & 31
		i := addresses[l] + a.offset - n<<spacing
		if i&(total-1) != 0 || i >= uint64(len(data)) || i+total > uint64(len(data)) || !readBefore(cells[i>>2:(i+total)>>2], known[i:i+total], mark) {
			a.lane(w, l)
			continue
		}
		for e, row := range a.rows {
			w.r[row][l] = get(data[int(i)+e*a.size:], a.size, a.signed)
		}
	}
}

// storeGlobal stores 4, 8 or 16 bytes of global memory in each lane. Whatever is not plainly right is left to lane.
func (a *access) storeGlobal(w *warp) {
	n, ok := a.buffer(w, writes)
	if !ok {
		a.do(w)
		return
	}
	addresses, total := &w.r[a.address], uint64(a.size*len(a.rows))
	b := w.run.memory.buffers[n-1]
	cells, data, known, mark := b.cells(false), b.data, b.written, w.block.mark
	for m := w.mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) & 31
		i := addresses[l] + a.offset - n<<spacing
		if i&(total-1) != 0 || i >= uint64(len(data)) || i+total > uint64(len(data)) {
			a.lane(w, l)
			continue
		}
		for c := i >> 2; c < (i+total)>>2; c++ {
			if cells[c].write(mark) != "" {
				a.lane(w, l) // fails
			}
			encoding.LittleEndian.PutUint32(known[4*c:], 0x01010101)
		}
		for e, row := range a.rows {
			put(data[int(i)+e*a.size:], a.size, w.r[row][l])
		}
	}
}

// buffer returns the number of the buffer that the first lane uses. It returns false if there is none, if another
// stream uses it, or if the kernel needs a record of every byte.
func (a *access) buffer(w *warp, how use) (n uint64, ok bool) {
	n = (w.r[a.address][bits.TrailingZeros32(w.mask)&31] + a.offset) >> spacing
	if w.run.kernel.narrow || n == 0 || n > uint64(len(w.run.memory.buffers)) {
		return n, false
	}
	return n, w.run.memory.buffers[n-1].users.note(w.run.operation, how) == ""
}

// readBefore reports whether all bytes were written and a read by a block changes nothing in their cells,
// and is no conflict.
func readBefore(cells []cell, known []byte, mark uint64) bool {
	for c := range cells {
		if !cells[c].readBefore(mark) || encoding.LittleEndian.Uint32(known[4*c:]) != 0x01010101 {
			return false
		}
	}
	return true
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
