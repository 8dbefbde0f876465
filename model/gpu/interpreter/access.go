package interpreter

import (
	encoding "encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"strings"
)

var errUnknown = errors.New("unknown instruction")

// access is a compiled load or store.
type access struct {
	shared  bool
	store   bool
	size    int    // bytes of an element
	signed  bool   // whether loads extend the sign
	address int    // row
	offset  uint64 // added to the address
	rows    []int  // of the elements
}

// memoryOperand reads an operand such as [%rd1+4].
func (b *builder) memoryOperand(s string) (row int, offset uint64, err error) {
	s = strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(s, "["), "]"))
	base := s
	if at := strings.LastIndex(s, "+"); at > 0 {
		if offset, err = immediate(s[at+1:]); err != nil {
			return 0, 0, err
		}
		base = s[:at]
	}
	row, err = b.value(base)
	return row, offset, err
}

// access compiles ld and st: the words of op name the space, the number of elements and the type of each. Kernels'
// parameters are compiled by parameter.
func (b *builder) access(c *instruction, op, operands []string) error {
	a := access{store: op[0] == "st"}
	elements := 1
	for _, word := range op[1 : len(op)-1] {
		switch word {
		case "shared":
			a.shared = true
		case "global", "nc": // as generic addresses
		case "v2":
			elements = 2
		case "v4":
			elements = 4
		case "param":
			return b.parameter(c, op, operands)
		default:
			return errUnknown
		}
	}
	// The type is the last word; ld names its result first, st its address. Kernels load and store single bytes in
	// global memory only.
	t := op[len(op)-1]
	a.size, a.signed = typeBytes(t), t[0] == 's'
	if a.size == 0 || a.size == 2 || a.size == 1 && (a.shared || t != "u8") || len(operands) != 2 {
		return errUnknown
	}
	at, data := operands[1], operands[0]
	if a.store {
		at, data = operands[0], operands[1]
	}
	var err error
	if a.address, a.offset, err = b.memoryOperand(at); err != nil {
		return err
	}
	if a.rows, err = b.allValues(split(strings.Trim(data, "{}"))); err != nil {
		return err
	}
	if len(a.rows) != elements {
		return fmt.Errorf("%d operands for %d elements", len(a.rows), elements)
	}
	b.k.narrow = b.k.narrow || a.size == 1
	// The frequent accesses have loops of their own, without a call for each lane.
	c.do = a.do
	switch {
	case a.shared && a.size == 4 && elements == 1 && !a.store:
		c.do = a.loadShared
	case a.shared && a.size == 4 && elements == 1:
		c.do = a.storeShared
	case !a.shared && a.size >= 4 && !a.store:
		c.do = a.loadGlobal
	case !a.shared && a.size >= 4:
		c.do = a.storeGlobal
	}
	return nil
}

func (b *builder) parameter(c *instruction, op, operands []string) error {
	if op[0] == "st" || len(operands) != 2 {
		return errUnknown
	}
	row, err := b.value(operands[0])
	if err != nil {
		return err
	}
	name := strings.Trim(operands[1], "[]")
	for i, p := range b.k.parameters {
		if p.name == name && typeBytes(op[len(op)-1]) == p.bytes {
			c.do = func(w *warp) {
				value := w.run.arguments[i]
				for l := range 32 {
					if w.mask>>l&1 != 0 {
						w.r[row][l] = value
					}
				}
			}
			return nil
		}
	}
	return fmt.Errorf("no parameter %s of that size", name)
}

func (a *access) do(w *warp) {
	for m := w.mask; m != 0; m &= m - 1 {
		a.lane(w, bits.TrailingZeros32(m)&31)
	}
}

// lane loads or stores for a lane, with all checks.
func (a *access) lane(w *warp, l int) {
	how := reads
	if a.store {
		how = writes
	}
	data := w.touch(a.shared, l, how, w.r[a.address][l]+a.offset, a.size*len(a.rows))
	for i, row := range a.rows {
		if a.store {
			put(data[i*a.size:], a.size, w.r[row][l])
		} else {
			w.r[row][l] = get(data[i*a.size:], a.size, a.signed)
		}
	}
}

// put writes the low size bytes of a register, 1, 4 or 8, to data, little-endian.
func put(data []byte, size int, value uint64) {
	switch size {
	case 1:
		data[0] = byte(value)
	case 4:
		encoding.LittleEndian.PutUint32(data, uint32(value))
	default:
		encoding.LittleEndian.PutUint64(data, value)
	}
}

// get reads size bytes, 1, 4 or 8, little-endian, and extends the sign of 4 if signed.
func get(data []byte, size int, signed bool) (value uint64) {
	switch size {
	case 1:
		value = uint64(data[0])
	case 4: // the register may have 64 bits
		if value = uint64(encoding.LittleEndian.Uint32(data)); signed {
			value = uint64(int32(value))
		}
	default:
		value = encoding.LittleEndian.Uint64(data)
	}
	return value
}

// touch checks and records an access to bytes and returns them.
func (w *warp) touch(inShared bool, lane int, how use, at uint64, bytes int) []byte {
	if at&uint64(bytes-1) != 0 {
		w.fail(lane, "address %#x is not aligned to %d bytes", at, bytes)
	}
	if inShared {
		w.block.shared.touch(w, lane, how, at, bytes)
		return w.block.shared.data[at:]
	}
	return w.touchGlobal(lane, how, at, bytes)
}

// touchGlobal returns a buffer's memory from an address on, and records the access. It fails outside of buffers, in a
// freed one, where another stream or block conflicts, and where a read finds bytes that nothing wrote.
func (w *warp) touchGlobal(lane int, how use, at uint64, bytes int) []byte {
	n, i := at>>spacing, int(at&(1<<spacing-1))
	// Most accesses are to the buffer of the one before, so that the look-up is cached.
	b := w.last
	if b == nil || n != w.lastN {
		if n == 0 || n > uint64(len(w.run.memory.buffers)) {
			w.fail(lane, "no buffer at %#x", at)
		}
		b = w.run.memory.buffers[n-1]
		if b.data == nil {
			w.fail(lane, "buffer %d was freed", n)
		}
		w.last, w.lastN, w.cells = b, n, b.cells(w.run.kernel.narrow)
	}
	if wrong := b.users.note(w.run.operation, how); wrong != "" {
		w.fail(lane, "buffer %d %s", n, wrong)
	}
	if i+bytes > len(b.data) {
		w.fail(lane, "%d bytes at %d of buffer %d, which has %d", bytes, i, n, len(b.data))
	}
	// A cell is a word, or a byte in kernels with narrower accesses.
	shift := 2
	if w.run.kernel.narrow {
		shift = 0
	}
	id := w.block.mark
	var wrong conflict
	for c := i >> shift; c <= (i+bytes-1)>>shift; c++ {
		switch how {
		case reads:
			wrong = w.cells[c].read(id)
		case writes:
			wrong = w.cells[c].write(id)
		case changes:
			wrong = w.cells[c].change(id)
		}
		if wrong != "" {
			w.fail(lane, "byte %d of buffer %d %s in this launch", c<<shift, n, wrong)
		}
	}
	// Writes mark their bytes; reads and atomic changes need marked ones.
	known := b.written[i : i+bytes]
	if how == writes {
		for j := range known {
			known[j] = 1
		}
	} else {
		for j, k := range known {
			if k == 0 {
				w.fail(lane, "reads byte %d of buffer %d, which nothing wrote", i+j, n)
			}
		}
	}
	return b.data[i:]
}
