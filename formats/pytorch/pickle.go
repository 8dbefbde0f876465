package pytorch

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"
)

// Bounds of the stack machine.
const (
	maxStack = 1 << 16
	maxMemo  = 1 << 16
	maxDepth = 64  // of marks, and of lists in lists
	maxName  = 256 // bytes of a global
)

// The instructions that the machine has: those of pickle's protocol 2 that make plain values.
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

// sequence is a tuple or a list. depth counts the levels below it that it had when it was last extended.
type sequence struct {
	items []value
	list  bool
	depth int
}

// dict keeps its keys in the order in which they were first set. As in Python, setting a key again replaces its value. Other
// keys than texts are not compared, as no state_dict has them.
type dict struct {
	keys, values []value
	texts        map[string]int // positions of the keys that are texts
	depth        int
}

// set sets the value of a key.
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

// depth returns the levels of a value.
func depth(v value) int {
	switch v := v.(type) {
	case *sequence:
		return v.depth
	case *dict:
		return v.depth
	}
	return 0
}

// machine executes a pickle.
type machine struct {
	rest  []byte // of the program
	size  int
	stack []value
	marks []int // lengths of the stack
	memo  map[uint32]value
}

var errEnd = errors.New("it ends in an instruction")

// unpickle returns the value that a pickle makes. It executes nothing but the instructions above.
func unpickle(program []byte) (value, error) {
	m := &machine{rest: program, size: len(program), memo: map[uint32]value{}}
	if len(program) < 2 || program[0] != protocol || program[1] != 2 {
		return nil, errors.New("it is no pickle of protocol 2, the default of torch.save: save it again without pickle_protocol")
	}
	m.rest = program[2:]
	for {
		at := m.size - len(m.rest)
		code, err := m.take(1)
		if err != nil {
			return nil, errors.New("it has no end")
		}
		if code[0] == stop {
			break
		}
		if err := m.step(code[0]); err != nil {
			return nil, fmt.Errorf("byte %d: %w", at, err)
		}
	}
	if len(m.rest) > 0 || len(m.stack) != 1 || len(m.marks) > 0 {
		return nil, fmt.Errorf("it ends with %d values and %d more bytes, want one value", len(m.stack), len(m.rest))
	}
	return m.stack[0], nil
}

// step executes an instruction.
func (m *machine) step(code byte) error {
	switch code {
	case none:
		return m.push(nil)
	case newTrue, newFalse:
		return m.push(code == newTrue)
	case binInt, binInt1, binInt2, long1:
		return m.integer(code)
	case binFloat:
		bits, err := m.take(8)
		if err != nil {
			return err
		}
		return m.push(math.Float64frombits(binary.BigEndian.Uint64(bits)))
	case binUnicode:
		return m.text()
	case mark:
		if len(m.marks) >= maxDepth {
			return fmt.Errorf("more than %d values in one another", maxDepth)
		}
		m.marks = append(m.marks, len(m.stack))
		return nil
	case emptyTuple, tuple, tuple1, tuple2, tuple3:
		return m.tuple(code)
	case emptyList:
		return m.push(&sequence{list: true, depth: 1})
	case emptyDict:
		return m.push(&dict{depth: 1})
	case appendOne, appends:
		return m.extend(code)
	case setItem, setItems:
		return m.set(code)
	case global:
		return m.global()
	case reduce, build, binPersID:
		return m.object(code)
	case binPut, longBinPut, binGet, longBinGet:
		return m.remember(code)
	}
	if name, ok := refused[code]; ok {
		return fmt.Errorf("instruction %s is refused: torch.save does not write it for tensors with its default protocol", name)
	}
	return fmt.Errorf("instruction %#02x is not known", code)
}

// take returns the next n bytes of the program.
func (m *machine) take(n int) ([]byte, error) {
	if n > len(m.rest) {
		return nil, errEnd
	}
	bytes := m.rest[:n]
	m.rest = m.rest[n:]
	return bytes, nil
}

func (m *machine) push(v value) error {
	if len(m.stack) >= maxStack {
		return fmt.Errorf("more than %d values", maxStack)
	}
	m.stack = append(m.stack, v)
	return nil
}

// pop returns the topmost n values. None of them may lie below a mark.
func (m *machine) pop(n int) ([]value, error) {
	floor := 0
	if len(m.marks) > 0 {
		floor = m.marks[len(m.marks)-1]
	}
	if len(m.stack)-n < floor {
		return nil, errors.New("a value is missing on the stack")
	}
	values := m.stack[len(m.stack)-n:]
	m.stack = m.stack[:len(m.stack)-n]
	return values, nil
}

// popMark returns the values above the topmost mark and removes it.
func (m *machine) popMark() ([]value, error) {
	if len(m.marks) == 0 {
		return nil, errors.New("a mark is missing on the stack")
	}
	values, err := m.pop(len(m.stack) - m.marks[len(m.marks)-1])
	m.marks = m.marks[:len(m.marks)-1]
	return values, err
}

// top returns the topmost value, below which no mark lies.
func (m *machine) top() (value, error) {
	values, err := m.pop(1)
	if err != nil {
		return nil, err
	}
	m.stack = append(m.stack, values[0])
	return values[0], nil
}

func (m *machine) integer(code byte) error {
	width := map[byte]int{binInt: 4, binInt1: 1, binInt2: 2, long1: 1}[code]
	bytes, err := m.take(width)
	if err != nil {
		return err
	}
	switch code {
	case binInt:
		return m.push(int64(int32(binary.LittleEndian.Uint32(bytes))))
	case binInt2:
		return m.push(int64(binary.LittleEndian.Uint16(bytes)))
	case binInt1:
		return m.push(int64(bytes[0]))
	}
	n := int(bytes[0])
	if bytes, err = m.take(n); err != nil {
		return err
	}
	if n > 8 {
		return fmt.Errorf("an integer of %d bytes, at most 8 are read", n)
	}
	v := int64(0)
	for i, b := range bytes {
		v |= int64(b) << (8 * i)
	}
	if n > 0 && n < 8 && bytes[n-1]&0x80 != 0 {
		v -= 1 << (8 * n)
	}
	return m.push(v)
}

func (m *machine) text() error {
	length, err := m.take(4)
	if err != nil {
		return err
	}
	n := binary.LittleEndian.Uint32(length)
	if uint64(n) > uint64(len(m.rest)) {
		return fmt.Errorf("a text of %d bytes is longer than the file", n)
	}
	bytes, err := m.take(int(n))
	if err != nil {
		return err
	}
	if !utf8.Valid(bytes) {
		return errors.New("a text is not UTF-8")
	}
	return m.push(string(bytes))
}

func (m *machine) tuple(code byte) error {
	var items []value
	var err error
	switch code {
	case tuple:
		items, err = m.popMark()
	case tuple1, tuple2, tuple3:
		items, err = m.pop(int(code-tuple1) + 1)
	}
	if err != nil {
		return err
	}
	t := &sequence{depth: 1}
	if err := t.add(items); err != nil {
		return err
	}
	return m.push(t)
}

// add appends values.
func (s *sequence) add(items []value) error {
	s.items = append(s.items, items...)
	return deepen(&s.depth, items)
}

// deepen sets the depth of a value that gets others.
func deepen(own *int, items []value) error {
	for _, item := range items {
		*own = max(*own, depth(item)+1)
	}
	if *own > maxDepth {
		return fmt.Errorf("more than %d values in one another", maxDepth)
	}
	return nil
}

func (m *machine) extend(code byte) error {
	items, err := m.arguments(code == appends, 1)
	if err != nil {
		return err
	}
	below, err := m.top()
	if err != nil {
		return err
	}
	list, ok := below.(*sequence)
	if !ok || !list.list {
		return errors.New("values are appended to what is no list")
	}
	return list.add(items)
}

// arguments returns the values above the topmost mark, or the topmost n.
func (m *machine) arguments(marked bool, n int) ([]value, error) {
	if marked {
		return m.popMark()
	}
	return m.pop(n)
}

func (m *machine) set(code byte) error {
	items, err := m.arguments(code == setItems, 2)
	if err != nil {
		return err
	}
	below, err := m.top()
	if err != nil {
		return err
	}
	d, ok := below.(*dict)
	if !ok || len(items)%2 != 0 {
		return errors.New("keys and values are set in what is no dict, or not in pairs")
	}
	for i := 0; i < len(items); i += 2 {
		d.set(items[i], items[i+1])
	}
	return deepen(&d.depth, items)
}

// global pushes the name of a class or a function, if it is one of those that tensors need.
func (m *machine) global() error {
	begin := m.rest[:min(len(m.rest), maxName)]
	module, rest, ok := bytes.Cut(begin, []byte("\n"))
	of, _, ended := bytes.Cut(rest, []byte("\n"))
	if !ok || !ended {
		return errors.New("a global without an end")
	}
	m.rest = m.rest[len(module)+len(of)+2:]
	full := name(string(module) + "." + string(of))
	if !known(full) {
		return fmt.Errorf("the global %q is refused, since a checkpoint of tensors does not need it: "+
			"save the weights alone, torch.save(model.state_dict(), file)", string(full))
	}
	return m.push(full)
}

// remember executes the instructions of the memo.
func (m *machine) remember(code byte) error {
	width := 1
	if code == longBinPut || code == longBinGet {
		width = 4
	}
	bytes, err := m.take(width)
	if err != nil {
		return err
	}
	key := uint32(bytes[0])
	if width == 4 {
		key = binary.LittleEndian.Uint32(bytes)
	}
	if code == binGet || code == longBinGet {
		v, ok := m.memo[key]
		if !ok {
			return fmt.Errorf("value %d of the memo is not set", key)
		}
		return m.push(v)
	}
	if key >= maxMemo {
		return fmt.Errorf("value %d of the memo, at most %d are kept", key, maxMemo)
	}
	v, err := m.top()
	if err != nil {
		return err
	}
	m.memo[key] = v
	return nil
}
