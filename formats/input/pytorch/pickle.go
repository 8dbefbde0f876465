package pytorch

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"
)

// Bounds of the stack machine.
const (
	maxStack = 1 << 16
	maxMemo  = 1 << 16
	maxDepth = 64  // of marks, and of a shape
	maxName  = 256 // bytes of a global
)

// The instructions that the machine has: the ones of pickle's protocol 2 that make plain values.
const (
	protocol   = 0x80
	stop       = '.'
	mark       = '('
	none       = 'N'
	newTrue    = 0x88
	newFalse   = 0x89
	binInt     = 'J'
	binInt1    = 'K'
	binInt2    = 'M'
	long1      = 0x8a
	binFloat   = 'G'
	binUnicode = 'X'
	emptyTuple = ')'
	tuple      = 't'
	tuple1     = 0x85
	tuple2     = 0x86
	tuple3     = 0x87
	emptyList  = ']'
	appendOne  = 'a'
	appends    = 'e'
	emptyDict  = '}'
	setItem    = 's'
	setItems   = 'u'
	global     = 'c'
	reduce     = 'R'
	build      = 'b'
	binPersID  = 'Q'
	binPut     = 'q'
	longBinPut = 'r'
	binGet     = 'h'
	longBinGet = 'j'
)

// refused names the other instructions of all protocols, for messages.
var refused = map[byte]string{
	'0': "POP", '1': "POP_MARK", '2': "DUP", 'F': "FLOAT", 'I': "INT", 'L': "LONG", 'P': "PERSID", 'S': "STRING", 'T': "BINSTRING",
	'U': "SHORT_BINSTRING", 'V': "UNICODE", 'd': "DICT", 'g': "GET", 'i': "INST", 'l': "LIST", 'o': "OBJ", 'p': "PUT", 'B': "BINBYTES",
	'C': "SHORT_BINBYTES", 0x81: "NEWOBJ", 0x82: "EXT1", 0x83: "EXT2", 0x84: "EXT4", 0x8b: "LONG4", 0x8c: "SHORT_BINUNICODE", 0x8d: "BINUNICODE8",
	0x8e: "BINBYTES8", 0x8f: "EMPTY_SET", 0x90: "ADDITEMS", 0x91: "FROZENSET", 0x92: "NEWOBJ_EX", 0x93: "STACK_GLOBAL", 0x94: "MEMOIZE",
	0x95: "FRAME", 0x96: "BYTEARRAY8", 0x97: "NEXT_BUFFER", 0x98: "READONLY_BUFFER",
}

// value is what a pickle makes: nil for None, bool, int64, float64, string, *sequence, *dict, name, storage, *stored.
type value any

// sequence is a tuple or a list. It may hold itself: nothing here follows values of values to their end.
type sequence struct {
	items []value
	list  bool
}

// dict keeps its keys in the order in which they were first set. As in Python, setting a key again replaces its value.
// Other keys than texts are not compared, as no state_dict has them.
type dict struct {
	keys, values []value
	texts        map[string]int // positions of the keys that are texts
}

func (d *dict) set(key, to value) {
	text, isText := key.(string)
	if at, found := d.texts[text]; isText && found {
		d.values[at] = to
		return
	}
	if isText {
		if d.texts == nil {
			d.texts = map[string]int{}
		}
		d.texts[text] = len(d.keys)
	}
	d.keys, d.values = append(d.keys, key), append(d.values, to)
}

// name is a global, module and name joined by a dot.
type name string

// machine executes a pickle.
type machine struct {
	rest  []byte // of the program
	size  int
	stack []value
	marks []int // lengths of the stack
	memo  map[uint32]value
}

// refusal is the panic that ends an instruction with an error; execute recovers it.
type refusal struct{ error }

// refuse ends the instruction with an error.
func refuse(format string, arguments ...any) { panic(refusal{fmt.Errorf(format, arguments...)}) }

// unpickle returns the value that a pickle makes. It executes nothing but the instructions above.
func unpickle(program []byte) (value, error) {
	m := &machine{rest: program, size: len(program), memo: map[uint32]value{}}
	if len(program) < 2 || program[0] != protocol || program[1] != 2 {
		return nil, errors.New("it is no pickle of protocol 2, the default of torch.save: save it again without pickle_protocol")
	}
	m.rest = program[2:]
	for {
		if len(m.rest) == 0 {
			return nil, errors.New("it has no end")
		}
		at, code := m.size-len(m.rest), m.take(1)[0]
		if code == stop {
			break
		}
		if err := m.execute(code); err != nil {
			return nil, fmt.Errorf("byte %d: %w", at, err)
		}
	}
	if len(m.rest) > 0 || len(m.stack) != 1 || len(m.marks) > 0 {
		return nil, fmt.Errorf("it ends with %d values and %d more bytes, want one value", len(m.stack), len(m.rest))
	}
	return m.stack[0], nil
}

func (m *machine) execute(code byte) (err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			refused, ok := panicked.(refusal)
			if !ok {
				panic(panicked)
			}
			err = refused.error
		}
	}()
	m.step(code)
	return nil
}

// step executes an instruction. An instruction that makes anything but plain values is refused, as it could run code.
func (m *machine) step(code byte) {
	switch code {
	// Plain values are pushed.
	case none:
		m.push(nil)
	case newTrue, newFalse:
		m.push(code == newTrue)
	case binInt, binInt1, binInt2, long1:
		m.integer(code)
	case binFloat:
		m.push(math.Float64frombits(binary.BigEndian.Uint64(m.take(8))))
	case binUnicode:
		m.text()
	// Containers. A mark begins the arguments of an instruction that takes any number of them.
	case mark:
		if len(m.marks) >= maxDepth {
			refuse("more than %d marks in one another", maxDepth)
		}
		m.marks = append(m.marks, len(m.stack))
	case emptyTuple, tuple, tuple1, tuple2, tuple3:
		m.tuple(code)
	case emptyList:
		m.push(&sequence{list: true})
	case emptyDict:
		m.push(&dict{})
	case appendOne, appends:
		m.extend(code)
	case setItem, setItems:
		m.set(code)
	// Objects: global and reduce accept the few names that describe tensors.
	case global:
		m.global()
	case reduce, build, binPersID:
		m.object(code)
	case binPut, longBinPut, binGet, longBinGet:
		m.remember(code)
	default:
		if name, ok := refused[code]; ok {
			refuse("instruction %s is refused: torch.save does not write it for tensors with its default protocol", name)
		}
		refuse("instruction %#02x is not known", code)
	}
}

// take returns the next n bytes of the program.
func (m *machine) take(n int) []byte {
	if n > len(m.rest) {
		refuse("it ends in an instruction")
	}
	bytes := m.rest[:n]
	m.rest = m.rest[n:]
	return bytes
}

func (m *machine) push(v value) {
	if len(m.stack) >= maxStack {
		refuse("more than %d values", maxStack)
	}
	m.stack = append(m.stack, v)
}

// pop returns the topmost n values. None of them may lie below a mark.
func (m *machine) pop(n int) []value {
	floor := 0
	if len(m.marks) > 0 {
		floor = m.marks[len(m.marks)-1]
	}
	if len(m.stack)-n < floor {
		refuse("a value is missing on the stack")
	}
	values := m.stack[len(m.stack)-n:]
	m.stack = m.stack[:len(m.stack)-n]
	return values
}

// popMark returns the values above the topmost mark and removes it.
func (m *machine) popMark() []value {
	if len(m.marks) == 0 {
		refuse("a mark is missing on the stack")
	}
	values := m.pop(len(m.stack) - m.marks[len(m.marks)-1])
	m.marks = m.marks[:len(m.marks)-1]
	return values
}

// top returns the topmost value, below which no mark lies.
func (m *machine) top() value {
	v := m.pop(1)[0]
	m.stack = append(m.stack, v)
	return v
}

// integer pushes an integer of 1, 2, 4 or more bytes, little-endian.
func (m *machine) integer(code byte) {
	switch code {
	case binInt:
		m.push(int64(int32(binary.LittleEndian.Uint32(m.take(4)))))
	case binInt2:
		m.push(int64(binary.LittleEndian.Uint16(m.take(2))))
	case binInt1:
		m.push(int64(m.take(1)[0]))
	default:
		m.long()
	}
}

// long pushes an integer of as many bytes as the next one says.
func (m *machine) long() {
	n := int(m.take(1)[0])
	bytes := m.take(n)
	if n > 8 {
		refuse("an integer of %d bytes, at most 8 are read", n)
	}
	v := int64(0)
	for i, b := range bytes {
		v |= int64(b) << (8 * i)
	}
	if n > 0 && n < 8 && bytes[n-1]&0x80 != 0 {
		v -= 1 << (8 * n)
	}
	m.push(v)
}

// text pushes a string: its length in bytes, then UTF-8.
func (m *machine) text() {
	n := binary.LittleEndian.Uint32(m.take(4))
	if uint64(n) > uint64(len(m.rest)) {
		refuse("a text of %d bytes is longer than the file", n)
	}
	bytes := m.take(int(n))
	if !utf8.Valid(bytes) {
		refuse("a text is not UTF-8")
	}
	m.push(string(bytes))
}

// tuple replaces none, the top 1, 2 or 3 values, or all above the mark, by a tuple.
func (m *machine) tuple(code byte) {
	var items []value
	switch code {
	case tuple:
		items = m.popMark()
	case tuple1, tuple2, tuple3:
		items = m.pop(int(code-tuple1) + 1)
	}
	m.push(&sequence{items: slices.Clone(items)})
}

// extend appends the top value, or all above the mark, to the list below.
func (m *machine) extend(code byte) {
	items := m.arguments(code == appends, 1)
	list, ok := m.top().(*sequence)
	if !ok || !list.list {
		refuse("values are appended to what is no list")
	}
	list.items = append(list.items, items...)
}

// arguments returns the values above the topmost mark, or the topmost n.
func (m *machine) arguments(marked bool, n int) []value {
	if marked {
		return m.popMark()
	}
	return m.pop(n)
}

// set puts the top pair, or all pairs above the mark, into the dict below.
func (m *machine) set(code byte) {
	items := m.arguments(code == setItems, 2)
	d, ok := m.top().(*dict)
	if !ok || len(items)%2 != 0 {
		refuse("keys and values are set in what is no dict, or not in pairs")
	}
	for i := 0; i < len(items); i += 2 {
		d.set(items[i], items[i+1])
	}
}

// global pushes the name of a class or a function, and refuses all names that tensors do not need.
func (m *machine) global() {
	begin := m.rest[:min(len(m.rest), maxName)]
	module, rest, ok := bytes.Cut(begin, []byte("\n"))
	of, _, ended := bytes.Cut(rest, []byte("\n"))
	if !ok || !ended {
		refuse("a global without an end")
	}
	m.rest = m.rest[len(module)+len(of)+2:]
	full := name(string(module) + "." + string(of))
	if !known(full) {
		refuse("the global %q is refused, since a checkpoint of tensors does not need it: "+
			"save the weights alone, torch.save(model.state_dict(), file)", string(full))
	}
	m.push(full)
}

// remember executes the instructions of the memo.
func (m *machine) remember(code byte) {
	var key uint32
	if code == longBinPut || code == longBinGet {
		key = binary.LittleEndian.Uint32(m.take(4))
	} else {
		key = uint32(m.take(1)[0])
	}
	if code == binGet || code == longBinGet {
		v, ok := m.memo[key]
		if !ok {
			refuse("value %d of the memo is not set", key)
		}
		m.push(v)
		return
	}
	if key >= maxMemo {
		refuse("value %d of the memo, at most %d are kept", key, maxMemo)
	}
	m.memo[key] = m.top()
}
