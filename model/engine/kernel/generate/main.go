// Command generate writes the assembly of the kernel variants avx512 and avx2. It is a module of
// its own, so that nothing else depends on the assembler avo.
//
// Both variants come from the same functions; machine.go has what differs between the two
// instruction sets. The functions expect strides in bytes and shapes that Go has checked.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/mmcloughlin/avo/build"
)

// main writes the assembly of a variant, with the numbers of columns that the processor's registers hold.
func main() {
	variant := flag.String("variant", "avx512", "the variant to write: avx512 or avx2")
	flag.Parse()
	build.ConstraintExpr("amd64")
	switch *variant {
	case "avx512":
		m := &machine{suffix: "AVX512", wide: true}
		m.generate(12, 16, 32, 64)
	case "avx2":
		m := &machine{suffix: "AVX2"}
		m.generate(6, 16)
	default:
		fmt.Fprintf(os.Stderr, "unknown variant %q\n", *variant)
		os.Exit(2)
	}
	build.Generate()
}

// generate writes all functions: products of up to rows rows at once, and aggregations by PNA
// for stripes of columns of each width.
func (m *machine) generate(rows int, stripes ...int) {
	m.multiply(rows, 2, false)
	m.multiply(rows, 1, true)
	for _, columns := range stripes {
		m.aggregate(columns)
		m.aggregateBackward(columns)
	}
	for columns := m.floats(); columns <= 64; columns *= 2 {
		m.sum(columns)
	}
	for dim := 2 * m.floats(); dim <= 64; dim *= 2 {
		m.normalize(dim, false)
		m.normalize(dim, true)
		m.normalizeBackward(dim)
	}
	m.sumsBackward()
	m.fold()
	m.foldTwo()
	m.unfold()
	m.partition()
	m.score()
	m.vectors()
	m.bits()
}
