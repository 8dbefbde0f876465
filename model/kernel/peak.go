package kernel

import "time"

// Peak measures how many floating-point operations a second one core can do with a variant's
// instructions, when it does nothing else: the mark that the arithmetic can be held to. The
// best of several short runs counts, since others may use the machine.
func Peak(k Kernel) float64 {
	const rounds, runs = 200_000, 20
	best := 0.0
	for range runs {
		begin := time.Now()
		operations := k.spin(rounds)
		best = max(best, float64(operations)/time.Since(begin).Seconds())
	}
	return best
}

// spin is a loop of products and sums as the compiler makes them, twelve at once: as many as
// stay in registers.
func (portable) spin(rounds int) (operations int) {
	var s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11 float32
	factor, term := float32(0.5), float32(1)
	for range rounds {
		s0 = float32(s0*factor) + term
		s1 = float32(s1*factor) + term
		s2 = float32(s2*factor) + term
		s3 = float32(s3*factor) + term
		s4 = float32(s4*factor) + term
		s5 = float32(s5*factor) + term
		s6 = float32(s6*factor) + term
		s7 = float32(s7*factor) + term
		s8 = float32(s8*factor) + term
		s9 = float32(s9*factor) + term
		s10 = float32(s10*factor) + term
		s11 = float32(s11*factor) + term
	}
	if s0+s1+s2+s3+s4+s5+s6+s7+s8+s9+s10+s11 < 0 {
		return 0 // never, but no compiler may find the loop idle
	}
	return 24 * rounds
}
