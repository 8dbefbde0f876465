package interpreter

import (
	"errors"
	"fmt"
	"strings"
)

// kind is an instruction's effect on the warp's control flow.
type kind byte

const (
	plain kind = iota
	branch
	end
	barrier
)

// instruction is a compiled instruction.
type instruction struct {
	do      func(w *warp)
	kind    kind
	guarded bool
	guard   source
	target  int // of a branch
	index   int // row of a barrier's number
	count   int // row of a barrier's thread count, -1 for all threads of the block
	label   string
	text    string
	line    int
}

var errInexact = errors.New("the result is not exact: a card computes other bits")

// statement compiles a declaration, a label or an instruction.
func (b *builder) statement(s statement) error {
	word, rest, _ := strings.Cut(s.text, " ")
	switch {
	case word == ".reg":
		return b.declareRegisters(rest)
	case word == ".shared", word == ".local":
		v, err := declare(rest)
		if err != nil {
			return err
		}
		// Variables get offsets in the block's shared, or the thread's local memory.
		used := &b.k.shared
		if word == ".local" {
			used = &b.k.local
		}
		b.reserve(used, v.name, len(v.bytes))
		return nil
	case word == ".pragma", word == ".loc":
		return nil
	case word[0] == '.':
		return fmt.Errorf("unknown directive")
	case strings.HasSuffix(s.text, ":"):
		label := strings.TrimSuffix(s.text, ":")
		if _, ok := b.labels[label]; ok {
			return fmt.Errorf("label used before")
		}
		b.labels[label] = len(b.k.code)
		return nil
	}
	// An instruction, after a guard such as @!%p1.
	c := instruction{text: s.text, line: s.line, count: -1}
	line := s.text
	if line[0] == '@' {
		var guard string
		var err error
		guard, line, _ = strings.Cut(line[1:], " ")
		if c.guard, err = b.predicate(guard); err != nil {
			return err
		}
		c.guarded = true
	}
	name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	if err := b.compile(&c, strings.Split(name, "."), split(strings.TrimSpace(rest))); err != nil {
		return err
	}
	b.k.code = append(b.k.code, c)
	return nil
}

// compile dispatches on the instruction's name, split at its dots.
func (b *builder) compile(c *instruction, op, operands []string) (err error) {
	// Refuse what is not exact, and what has too few words or operands to be compiled.
	for _, word := range op {
		switch word {
		case "approx", "full":
			return errInexact
		case "":
			return errUnknown
		}
	}
	switch op[0] {
	case "ret", "trap":
	case "bra", "call":
		if len(operands) == 0 {
			return errUnknown
		}
	default:
		if len(operands) == 0 || len(op) < 2 {
			return errUnknown
		}
	}
	switch op[0] {
	case "bra":
		c.kind, c.label = branch, operands[0]
		return nil
	case "ret":
		c.kind = end
		return nil
	case "bar", "barrier":
		return b.barrier(c, op, operands)
	case "ld", "st":
		return b.access(c, op, operands)
	case "atom", "red":
		return b.atomic(c, op, operands)
	case "trap":
		c.do = func(w *warp) { w.fail(-1, "trap") }
		return nil
	case "call":
		return fmt.Errorf("calls are not supported: let the compiler inline them")
	}
	// Each family returns nil for an instruction of another one.
	for _, family := range []func(op, operands []string) (func(*warp), error){b.move, b.compare, b.exchange, b.logic, b.selection, b.convert, b.integer, b.float, b.double} {
		if c.do, err = family(op, operands); c.do != nil || err != nil {
			return err
		}
	}
	return errUnknown
}

// finish resolves the labels.
func (b *builder) finish() error {
	k := b.k
	k.code = append(k.code, instruction{kind: end, text: "}", count: -1})
	for i := range k.code {
		c := &k.code[i]
		if c.kind != branch {
			continue
		}
		var ok bool
		if c.target, ok = b.labels[c.label]; !ok {
			return fmt.Errorf("line %d: %s: no label %s", c.line, c.text, c.label)
		}
	}
	return nil
}
