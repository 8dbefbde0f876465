package kernel

// Score handles rows of whole vectors in assembly.
func (s *assembly) Score(values, hidden, output []float32, bias float32) {
	n, width := len(values), len(output)
	if n == 0 || width == 0 || width%s.floats != 0 {
		s.portable.Score(values, hidden, output, bias)
		return
	}
	s.score(n, width, &values[0], &hidden[:n*width][0], &output[0], bias)
}
