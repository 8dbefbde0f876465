package interpreter

import (
	encoding "encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// kernel is an entry of a module, compiled to closures.
type kernel struct {
	name        string
	threads     int // the most that .maxntid or .reqntid allows, 0 for no limit
	shared      int // bytes
	local       int // bytes a thread
	parameters  []parameter
	code        []instruction
	values      int // rows of registers
	predicates  int
	constants   []constant
	specials    []special
	alwaysTrue  int       // the predicate that is true in all lanes, -1 if none is used
	narrow      bool      // accesses global memory by less than 4 bytes
	narrowShare bool      // accesses shared memory by less than 4 bytes
	idle        []*worker // of earlier launches
}

// parameter is a kernel's parameter: a name, a PTX type without its dot, and the type's size.
type parameter struct {
	name, kind string
	bytes      int
}

// constant is a row that holds an immediate in all lanes.
type constant struct {
	row   int
	value uint64
}

// special is a row that holds a special register such as %tid.x.
type special struct {
	row  int
	name string
}

// variable is an array in global, constant, shared or local memory.
type variable struct {
	name    string
	bytes   []byte
	written bool
}

// parser reads a module. address gives memory to its variables.
type parser struct {
	kernels map[string]*kernel
	globals map[string]uint64
	shared  map[string]int // bytes of shared arrays that several kernels may use
	address func(v variable) (uint64, error)
	b       *builder
}

// parse reads a module. Errors name the line and the statement. Braces are statements; kernels with scopes inside are refused.
func (p *parser) parse(text string) error {
	depth := 0
	for _, s := range scan(text) {
		var err error
		switch {
		case s.text == "{":
			if depth++; depth > 1 {
				err = fmt.Errorf("scopes are not supported")
			}
		case s.text == "}":
			if depth--; p.b != nil && depth == 0 {
				err = p.b.finish()
				p.b = nil
			}
		case p.b == nil && depth == 0:
			err = p.top(s)
		case p.b == nil:
			err = fmt.Errorf("outside of a kernel")
		default:
			err = p.b.statement(s)
		}
		if err != nil {
			return fmt.Errorf("line %d: %s: %w", s.line, s.text, err)
		}
	}
	return nil
}

// top reads a statement outside of kernels: a directive, a variable, or the head of a kernel.
func (p *parser) top(s statement) error {
	words := strings.Fields(s.text)
	switch {
	case endsWithLine(s.text), words[0] == ".pragma":
		return nil
	case strings.Contains(s.text, ".func"):
		return fmt.Errorf("functions are not supported: let the compiler inline them")
	case strings.Contains(s.text, ".entry"):
		return p.entry(s)
	}
	// Linkage does not matter in a single module.
	for len(words) > 1 && (words[0] == ".visible" || words[0] == ".weak" || words[0] == ".common") {
		words = words[1:]
	}
	if words[0] == ".shared" {
		v, err := declare(strings.Join(words[1:], " "))
		p.shared[v.name] = len(v.bytes)
		return err
	}
	if words[0] == ".global" || words[0] == ".const" {
		v, err := declare(strings.Join(words[1:], " "))
		if err != nil {
			return err
		}
		v.written = v.written || words[0] == ".global" // global variables begin as 0
		p.globals[v.name], err = p.address(v)
		return err
	}
	if words[0] == ".extern" {
		return fmt.Errorf("dynamic shared memory and other modules are not supported")
	}
	return fmt.Errorf("unknown directive")
}

// entry reads the head of a kernel: its name, its parameters, and directives such as .maxntid.
func (p *parser) entry(s statement) error {
	_, rest, _ := strings.Cut(s.text, ".entry")
	name, rest, _ := strings.Cut(rest, "(")
	list, directives, ok := strings.Cut(rest, ")")
	if !ok {
		name, directives, _ = strings.Cut(strings.TrimSpace(name), " ")
	}
	// Each parameter is ".param .TYPE NAME", with alignment and state space between them for pointers.
	k := &kernel{name: strings.TrimSpace(name)}
	for _, d := range split(list) {
		f := strings.Fields(d)
		if len(f) < 3 {
			return fmt.Errorf("parameter %q: no type or name", d)
		}
		q := parameter{name: f[len(f)-1]}
		for _, word := range f[1 : len(f)-1] {
			if kind := strings.TrimPrefix(word, "."); typeBytes(kind) > 0 {
				q.kind, q.bytes = kind, typeBytes(kind)
			}
		}
		if strings.Contains(q.name, "[") || q.bytes == 0 {
			return fmt.Errorf("parameter %s: only numbers and pointers are supported", d)
		}
		k.parameters = append(k.parameters, q)
	}
	// The threads of .maxntid and .reqntid are a product of up to three numbers.
	words := strings.Fields(strings.ReplaceAll(directives, ",", " , "))
	for i, word := range words {
		if word != ".maxntid" && word != ".reqntid" {
			continue
		}
		k.threads = 1
		for j := i + 1; j < len(words) && (words[j] == "," || words[j][0] != '.'); j++ {
			if n, err := strconv.Atoi(words[j]); err == nil {
				k.threads *= n
			}
		}
	}
	p.kernels[k.name] = k
	p.b = newBuilder(k, p)
	return nil
}

// declare reads a variable, as in ".align 4 .b8 table[8] = {1, 2}".
func declare(s string) (v variable, err error) {
	s, values, initialized := strings.Cut(s, "=")
	words := strings.Fields(s)
	size, kind := 0, ""
	for i := 0; i < len(words)-1; i++ {
		switch w := words[i]; {
		case w == ".align":
			i++
		case w == ".v2", w == ".v4":
			return v, fmt.Errorf("vectors are not supported here")
		case w[0] == '.':
			kind = w[1:]
			size = typeBytes(kind)
		}
	}
	if size == 0 {
		return v, fmt.Errorf("unknown type")
	}
	// The length of an array is the product of its dimensions.
	name := words[len(words)-1]
	count := 1
	for {
		open := strings.LastIndex(name, "[")
		if open < 0 {
			break
		}
		n, err := strconv.Atoi(strings.TrimSuffix(name[open+1:], "]"))
		if err != nil {
			return v, fmt.Errorf("an array of unknown length is not supported")
		}
		count *= n
		name = name[:open]
	}
	v.name, v.bytes, v.written = name, make([]byte, size*count), initialized
	if !initialized {
		return v, nil
	}
	// Elements that are not listed are 0.
	for i, t := range strings.Split(strings.Trim(strings.TrimSpace(values), "{}"), ",") {
		n, err := immediate(strings.TrimSpace(t))
		if err != nil || i >= count {
			return v, fmt.Errorf("value %d: %q is not supported", i, t)
		}
		var all [8]byte
		encoding.LittleEndian.PutUint64(all[:], n)
		copy(v.bytes[i*size:], all[:size])
	}
	return v, nil
}

// typeBytes returns the size of a type such as u32, 0 if there is no such type.
func typeBytes(kind string) int {
	switch kind {
	case "u8", "s8", "b8":
		return 1
	case "u16", "s16", "b16", "f16":
		return 2
	case "u32", "s32", "b32", "f32":
		return 4
	case "u64", "s64", "b64", "f64":
		return 8
	}
	return 0
}

// immediate reads a number as the bits of a register.
func immediate(s string) (uint64, error) {
	switch {
	case strings.HasPrefix(s, "0f"), strings.HasPrefix(s, "0F"):
		return strconv.ParseUint(s[2:], 16, 32)
	case strings.HasPrefix(s, "0d"), strings.HasPrefix(s, "0D"):
		return strconv.ParseUint(s[2:], 16, 64)
	}
	s = strings.TrimSuffix(s, "U")
	if n, err := strconv.ParseUint(s, 0, 64); err == nil {
		return n, nil
	}
	n, err := strconv.ParseInt(s, 0, 64)
	return uint64(n), err
}

func f32(x uint64) float32 { return math.Float32frombits(uint32(x)) }
func f64(x uint64) float64 { return math.Float64frombits(x) }
