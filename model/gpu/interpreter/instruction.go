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

type instruction struct {
	do      func(w *warp)
	kind    kind
	guarded bool
	guard   source
	target  int   // of a branch
	writes  []int // rows of values that it writes
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
	case word == ".shared":
		name, bytes, err := declare(rest)
		at := (b.k.shared + 15) &^ 15
		b.variables[name], b.k.shared = uint64(at), at+bytes
		return err
	case word == ".pragma":
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
	c := instruction{text: s.text, line: s.line}
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
	operands := split(strings.TrimSpace(rest))
	if err := b.compile(&c, strings.Split(name, "."), operands); err != nil {
		return err
	}
	if len(operands) > 0 {
		c.writes = b.written(operands[0])
	}
	b.k.code = append(b.k.code, c)
	return nil
}

// written returns the rows of an instruction's results, its first operand: a register, {some}, or a register|predicate.
func (b *builder) written(results string) (rows []int) {
	for _, name := range strings.FieldsFunc(results, func(c rune) bool { return strings.ContainsRune("{}|, ", c) }) {
		if r, ok := b.registers[name]; ok && !r.predicate {
			rows = append(rows, r.row)
		}
	}
	return rows
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
	case "ret":
	case "bra":
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
	case "bar":
		return b.barrier(c, op, operands)
	case "ld", "st":
		return b.access(c, op, operands)
	case "red":
		return b.atomic(c, op, operands)
	}
	// Each family returns nil for an instruction of another one.
	for _, family := range []func(op, operands []string) (func(*warp), error){
		b.move, b.compare, b.exchange, b.logic, b.selection, b.convert, b.integer, b.float,
	} {
		if c.do, err = family(op, operands); c.do != nil || err != nil {
			return err
		}
	}
	return errUnknown
}

// finish resolves the labels.
func (b *builder) finish() error {
	k := b.k
	k.code = append(k.code, instruction{kind: end, text: "}"})
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
