package head

import "tagnet/model/configuration"

// Memory bounds the bytes of one worker's graph: for n candidates (the answer and its
// negatives) about 48 n dim, ages times as much more where delta is specific, and 60 dim dim.
// Operations own what they compute and its gradients, and Gorgonia adds up some of them.
func Memory(c configuration.Configuration) int64 {
	n, d := int64(1+c.Negatives), int64(c.Dim)
	if c.Prioritized() {
		return 4*n*16 + 1<<17
	}
	rows := 4 * n * (12*d + 16)
	if c.Specific() {
		rows += 4 * n * int64(c.States()) * (14*d + 8)
	}
	return rows + 4*40*d*d + 1<<17
}

// GradientsMemory bounds the bytes of one query's Gradients: two matrices of [2 dim, 2 dim]
// at most.
func GradientsMemory(c configuration.Configuration) int64 {
	d := int64(c.Dim)
	return 4*2*(4*d*d+4*d+2) + 1024
}
