package interpreter

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// kernel is an entry of a module, compiled to closures.
type kernel struct {
	name       string
	threads    int // the most that .maxntid allows, 0 for no limit
	shared     int // bytes
	parameters []parameter
	code       []instruction
	values     int // rows of registers
	predicates int
	constants  []constant
	specials   []special
	alwaysTrue int       // the predicate that is true in all lanes, -1 if none is used
	narrow     bool      // accesses global memory by less than 4 bytes
	idle       []*worker // of earlier launches
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

type parser struct {
	kernels map[string]*kernel
	b       *builder
}

// parse reads a module. Errors name the line and the statement. Braces are statements; kernels with scopes
// inside are refused.
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

// top reads a statement outside of kernels: a directive, or the head of a kernel.
func (p *parser) top(s statement) error {
	switch {
	case endsWithLine(s.text):
		return nil
	case strings.Contains(s.text, ".entry"):
		return p.entry(s)
	}
	return fmt.Errorf("only kernels are supported, without functions and variables")
}

// entry reads the head of a kernel: its name, its parameters, and directives such as .maxntid.
func (p *parser) entry(s statement) error {
	_, rest, _ := strings.Cut(s.text, ".entry")
	name, rest, _ := strings.Cut(rest, "(")
	list, directives, ok := strings.Cut(rest, ")")
	if !ok {
		return fmt.Errorf("no list of parameters")
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
	// The threads of .maxntid are a product of up to three numbers.
	words := strings.Fields(strings.ReplaceAll(directives, ",", " , "))
	for i, word := range words {
		if word != ".maxntid" {
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
	p.b = newBuilder(k)
	return nil
}

// declare reads an array in shared memory, as in ".align 4 .b8 table[8]", and returns its name and size.
func declare(s string) (name string, bytes int, err error) {
	words := strings.Fields(s)
	name, count, ok := strings.Cut(words[len(words)-1], "[")
	n, err := strconv.Atoi(strings.TrimSuffix(count, "]"))
	if len(words) != 4 || words[0] != ".align" || words[2] != ".b8" || !ok || err != nil {
		return "", 0, fmt.Errorf("only arrays of bytes are supported")
	}
	return name, n, nil
}

// typeBytes returns the size of a type such as u32, 0 if there is no such type.
func typeBytes(kind string) int {
	switch kind {
	case "u8", "s8", "b8":
		return 1
	case "u16", "s16", "b16":
		return 2
	case "u32", "s32", "b32", "f32":
		return 4
	case "u64", "s64", "b64":
		return 8
	}
	return 0
}

// immediate reads a number as the bits of a register.
func immediate(s string) (uint64, error) {
	if hexadecimal, ok := strings.CutPrefix(s, "0f"); ok {
		return strconv.ParseUint(hexadecimal, 16, 32)
	}
	if n, err := strconv.ParseUint(s, 0, 64); err == nil {
		return n, nil
	}
	n, err := strconv.ParseInt(s, 0, 64)
	return uint64(n), err
}

func f32(x uint64) float32 { return math.Float32frombits(uint32(x)) }
