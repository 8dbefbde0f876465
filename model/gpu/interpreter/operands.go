package interpreter

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// register is a declared register: a row of values, or a mask of lanes if it is a predicate.
type register struct {
	row       int
	predicate bool
}

// declaration declares registers, as in .reg .b32 %r<5>.
type declaration struct {
	count     int
	predicate bool
}

// builder compiles a kernel.
type builder struct {
	k         *kernel
	variables map[string]uint64      // addresses in shared memory
	declared  map[string]declaration // by the prefix of the names
	registers map[string]register
	constants map[uint64]int
	specials  map[string]int
	labels    map[string]int
}

func newBuilder(k *kernel) *builder {
	k.alwaysTrue = -1
	return &builder{
		k: k, variables: map[string]uint64{}, declared: map[string]declaration{}, registers: map[string]register{},
		constants: map[uint64]int{}, specials: map[string]int{}, labels: map[string]int{},
	}
}

// declareRegisters reads what follows .reg, as in ".b32 %r<5>" or ".b64 %SP".
func (b *builder) declareRegisters(s string) error {
	kind, name, _ := strings.Cut(strings.TrimSpace(s), " ")
	prefix, count, isRange := strings.Cut(strings.TrimSuffix(strings.TrimSpace(name), ">"), "<")
	if !isRange {
		b.newRegister(prefix, kind == ".pred")
		return nil
	}
	n, err := strconv.Atoi(count)
	b.declared[prefix] = declaration{n, kind == ".pred"}
	return err
}

// newRegister gives a row to a register.
func (b *builder) newRegister(name string, predicate bool) register {
	r := register{predicate: predicate}
	if predicate {
		r.row = b.freshPredicate()
	} else {
		r.row = b.fresh()
	}
	b.registers[name] = r
	return r
}

// register returns a declared register and gives it a row at its first use.
func (b *builder) register(name string) (register, bool) {
	if r, ok := b.registers[name]; ok {
		return r, true
	}
	prefix := strings.TrimRight(name, "0123456789")
	n, err := strconv.Atoi(name[len(prefix):])
	d := b.declared[prefix]
	if err != nil || n >= d.count {
		return register{}, false
	}
	return b.newRegister(name, d.predicate), true
}

func (b *builder) fresh() int          { b.k.values++; return b.k.values - 1 }
func (b *builder) freshPredicate() int { b.k.predicates++; return b.k.predicates - 1 }

// constant returns the row that holds a number.
func (b *builder) constant(n uint64) int {
	row, ok := b.constants[n]
	if !ok {
		row = b.fresh()
		b.constants[n] = row
		b.k.constants = append(b.k.constants, constant{row, n})
	}
	return row
}

var specials = []string{"%tid.x", "%ntid.x", "%ctaid.x", "%nctaid.x"}

// value returns the row of an operand: a register, a special register, an immediate, or the address of an
// array in shared memory.
func (b *builder) value(s string) (int, error) {
	if r, ok := b.register(s); ok {
		if r.predicate {
			return 0, fmt.Errorf("%s is a predicate", s)
		}
		return r.row, nil
	}
	// A special register gets a row at its first use, which a launch fills.
	if slices.Contains(specials, s) {
		row, ok := b.specials[s]
		if !ok {
			row = b.fresh()
			b.specials[s] = row
			b.k.specials = append(b.k.specials, special{row, s})
		}
		return row, nil
	}
	if n, err := immediate(s); err == nil {
		return b.constant(n), nil
	}
	// An array, maybe with an offset in bytes.
	name, add, _ := strings.Cut(s, "+")
	address, ok := b.variables[name]
	if !ok {
		return 0, fmt.Errorf("unknown operand %s", s)
	}
	if add != "" {
		n, err := immediate(add)
		if err != nil {
			return 0, fmt.Errorf("unknown operand %s", s)
		}
		address += n
	}
	return b.constant(address), nil
}

func (b *builder) allValues(operands []string) ([]int, error) {
	rows := make([]int, len(operands))
	for i, s := range operands {
		var err error
		if rows[i], err = b.value(s); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// source is a predicate that is read, possibly negated.
type source struct {
	row int
	not uint32 // all ones if it is negated
}

// predicate returns a predicate that is read: a register or a constant, with or without an exclamation mark.
func (b *builder) predicate(s string) (source, error) {
	name, negated := strings.CutPrefix(s, "!")
	p := source{}
	if negated {
		p.not = ^uint32(0)
	}
	if r, ok := b.register(name); ok {
		if !r.predicate {
			return p, fmt.Errorf("%s is no predicate", name)
		}
		p.row = r.row
		return p, nil
	}
	n, err := immediate(name)
	if err != nil {
		return p, fmt.Errorf("unknown predicate %s", name)
	}
	if b.k.alwaysTrue < 0 {
		b.k.alwaysTrue = b.freshPredicate()
	}
	p.row = b.k.alwaysTrue
	if n == 0 {
		p.not = ^p.not
	}
	return p, nil
}

func (p source) lanes(w *warp) uint32 { return w.p[p.row] ^ p.not }

// setPredicate returns the row of a predicate that is written.
func (b *builder) setPredicate(s string) (int, error) {
	if r, ok := b.register(s); ok && r.predicate {
		return r.row, nil
	}
	return 0, fmt.Errorf("%s is no predicate", s)
}
