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

// scope holds the registers that a pair of braces declares.
type scope struct {
	predicates map[string]bool // declared one by one, by name: whether it is a predicate
	ranges     map[string]int  // declared as %r<n>, by prefix: how many
	isRange    map[string]bool // by prefix: whether they are predicates
	registers  map[string]register
}

// builder compiles a kernel.
type builder struct {
	k         *kernel
	module    *parser
	variables map[string]uint64 // addresses in shared and local memory
	scopes    []*scope
	constants map[uint64]int
	specials  map[string]int
	labels    map[string]int
	tables    map[string][]string
	label     string
}

func newBuilder(k *kernel, module *parser) *builder {
	k.alwaysTrue = -1
	b := &builder{k: k, module: module, variables: map[string]uint64{}, constants: map[uint64]int{}, specials: map[string]int{}, labels: map[string]int{}, tables: map[string][]string{}}
	b.open()
	return b
}

func (b *builder) open() {
	b.scopes = append(b.scopes, &scope{map[string]bool{}, map[string]int{}, map[string]bool{}, map[string]register{}})
}

func (b *builder) close() { b.scopes = b.scopes[:len(b.scopes)-1] }

// declareRegisters reads what follows .reg, as in ".b32 %r<5>" or ".pred p, q".
func (b *builder) declareRegisters(s string) error {
	kind, names, ok := strings.Cut(strings.TrimSpace(s), " ")
	if !ok {
		return fmt.Errorf("no register")
	}
	in := b.scopes[len(b.scopes)-1]
	for _, name := range split(names) {
		prefix, count, isRange := strings.Cut(strings.TrimSuffix(name, ">"), "<")
		if !isRange {
			in.predicates[name] = kind == ".pred"
			continue
		}
		n, err := strconv.Atoi(count)
		if err != nil {
			return err
		}
		in.ranges[prefix], in.isRange[prefix] = n, kind == ".pred"
	}
	return nil
}

// register returns a declared register and gives it a row at its first use.
func (b *builder) register(name string) (register, bool) {
	for _, in := range slices.Backward(b.scopes) {
		if r, ok := in.registers[name]; ok {
			return r, true
		}
		predicate, ok := in.predicates[name]
		if !ok {
			prefix := strings.TrimRight(name, "0123456789")
			n, err := strconv.Atoi(name[len(prefix):])
			if err != nil || n >= in.ranges[prefix] {
				continue
			}
			predicate = in.isRange[prefix]
		}
		r := register{predicate: predicate}
		if predicate {
			r.row = b.freshPredicate()
		} else {
			r.row = b.fresh()
		}
		in.registers[name] = r
		return r, true
	}
	return register{}, false
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

// number returns the number that a row holds, if it is a constant.
func (b *builder) number(row int) (uint64, bool) {
	for _, c := range b.k.constants {
		if c.row == row {
			return c.value, true
		}
	}
	return 0, false
}

var specials = []string{"%tid.x", "%tid.y", "%tid.z", "%ntid.x", "%ntid.y", "%ntid.z", "%ctaid.x", "%ctaid.y", "%ctaid.z", "%nctaid.x", "%nctaid.y", "%nctaid.z", "%laneid", "%warpid",
	"%nwarpid", "%lanemask_eq", "%lanemask_lt", "%lanemask_le", "%lanemask_gt", "%lanemask_ge"}

// value returns the row of an operand: a register, a special register, an immediate, or the address of a variable.
func (b *builder) value(s string) (int, error) {
	if r, ok := b.register(s); ok {
		if r.predicate {
			return 0, fmt.Errorf("%s is a predicate", s)
		}
		return r.row, nil
	}
	if s == "_" {
		return b.fresh(), nil
	}
	if slices.Contains(specials, s) {
		row, ok := b.specials[s]
		if !ok {
			row = b.fresh()
			b.specials[s] = row
			b.k.specials = append(b.k.specials, special{row, s})
		}
		return row, nil
	}
	if s == "WARP_SZ" {
		return b.constant(32), nil
	}
	if n, err := immediate(s); err == nil {
		return b.constant(n), nil
	}
	name, add, _ := strings.Cut(s, "+")
	address, ok := b.address(strings.TrimSpace(name))
	if !ok {
		return 0, fmt.Errorf("unknown operand %s", s)
	}
	if add != "" {
		n, err := immediate(strings.TrimSpace(add))
		if err != nil {
			return 0, fmt.Errorf("unknown operand %s", s)
		}
		address += n
	}
	return b.constant(address), nil
}

// address returns that of a variable.
func (b *builder) address(name string) (uint64, bool) {
	if address, ok := b.variables[name]; ok {
		return address, true
	}
	if bytes, ok := b.module.shared[name]; ok {
		return b.reserve(&b.k.shared, name, bytes), true
	}
	address, ok := b.module.globals[name]
	return address, ok
}

// reserve gives bytes of shared or local memory to a variable.
func (b *builder) reserve(used *int, name string, bytes int) uint64 {
	at := (*used + 15) &^ 15
	b.variables[name] = uint64(at)
	*used = at + bytes
	return uint64(at)
}

// allValues returns the rows of operands.
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

// setPredicate returns the row of a predicate that is written. For "_" and "" it is one that no instruction reads.
func (b *builder) setPredicate(s string) (int, error) {
	if s == "_" || s == "" {
		return b.freshPredicate(), nil
	}
	if r, ok := b.register(s); ok && r.predicate {
		return r.row, nil
	}
	return 0, fmt.Errorf("%s is no predicate", s)
}
