package interpreter

import (
	encoding "encoding/binary"
	"math/bits"
)

// loadShared loads 4 bytes of shared memory a lane. What may be wrong is left to one.
func (a *access) loadShared(w *warp) {
	s := &w.block.shared
	if s.shift != 2 {
		a.do(w)
		return
	}
	d, place := &w.r[a.rows[0]], &w.r[a.address]
	data, records, thread := s.data, s.touched, int32(w.first)
	for m := w.mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) & 31
		at := place[l] + a.offset
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
		} else if t.read.who != who && t.read.who != -1 {
			s.join(&t.read, w, who)
		}
		d[l] = uint64(encoding.LittleEndian.Uint32(data[at:]))
	}
}

// loadGlobal loads 4 bytes of global memory a lane. What may be wrong is left to one.
func (a *access) loadGlobal(w *warp) {
	d, place := &w.r[a.rows[0]], &w.r[a.address]
	if w.run.kernel.narrow {
		a.do(w)
		return
	}
	id := w.block.id1
	for m := w.mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) & 31
		at := place[l] + a.offset
		b, i := w.last, at&(1<<spacing-1)
		if at>>spacing != w.lastN || at&3 != 0 || b == nil || i+4 > uint64(len(b.data)) {
			a.one(w, l, at)
			continue
		}
		c := &w.cells[i>>2]
		reader, writer := c.reader.Load(), c.writer.Load()
		if reader|several != id|several || reader&several != several && reader != id || writer>>launchBit == id>>launchBit && writer&several != id&several ||
			encoding.LittleEndian.Uint32(b.written[i:]) != 0x01010101 {
			a.one(w, l, at)
			continue
		}
		d[l] = uint64(encoding.LittleEndian.Uint32(b.data[i:]))
	}
}

// one loads 4 bytes for a lane.
func (a *access) one(w *warp, lane int, at uint64) {
	w.r[a.rows[0]][lane] = uint64(encoding.LittleEndian.Uint32(w.touch(a.space, lane, reads, at, 4)))
}
