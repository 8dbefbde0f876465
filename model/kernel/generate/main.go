// Command generate writes the assembly of the kernel variants avx512 and avx2. It is a
// module of its own, so that nothing else depends on the assembler it uses.
//
// Both variants come from the same functions; what differs between the two instruction sets
// is in machine.go. Functions take strides in bytes, and shapes that Go has checked.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/mmcloughlin/avo/build"
)

func main() {
	variant := flag.String("variant", "avx512", "the variant to write: avx512 or avx2")
	flag.Parse()
	build.ConstraintExpr("amd64")
	switch *variant {
	case "avx512":
		m := &machine{suffix: "AVX512", wide: true}
		m.multiply(12, 2, false)
		m.multiply(12, 1, true)
		for _, columns := range []int{16, 32, 64} {
			m.aggregate(columns)
			m.aggregateBackward(columns)
		}
		for _, dim := range []int{32, 64} {
			for _, e := range endings {
				m.normalize(dim, e)
			}
			m.normalizeBackward(dim)
		}
		m.fold()
		m.foldTwo()
		m.unfold()
		m.partition()
		m.score()
		m.vectors()
		m.bits()
	case "avx2":
		m := &machine{suffix: "AVX2"}
		m.multiply(6, 2, false)
		m.multiply(6, 1, true)
		m.aggregate(16)
		m.aggregateBackward(16)
		for _, dim := range []int{32, 64} {
			for _, e := range endings {
				m.normalize(dim, e)
			}
			m.normalizeBackward(dim)
		}
		m.fold()
		m.foldTwo()
		m.unfold()
		m.partition()
		m.score()
		m.vectors()
		m.bits()
	default:
		fmt.Fprintf(os.Stderr, "unknown variant %q\n", *variant)
		os.Exit(2)
	}
	build.Generate()
}
