package kernel

// Part reads 16 senders at once where the variant can, and compresses those of each kind.
func (s *assembly) Part(p *Partition, kinds *[3]Parted) {
	if s.part == nil || len(p.Receivers) == 0 {
		s.portable.Part(p, kinds)
		return
	}
	for k := range kinds {
		p.counts[k] = int64(len(kinds[k].Senders))
	}
	parents, siblings, children, unreached := p.limits()
	at := 2 * p.First
	s.part(len(p.Receivers), &p.Receivers[0], &p.Offsets[0], first(p.Senders), first(p.Relations),
		&p.Rows[0], &p.Reached[0], parents, siblings, children, unreached,
		&kinds[0].Bounds[at], &kinds[1].Bounds[at], &kinds[2].Bounds[at],
		beginning(kinds[0].Senders), beginning(kinds[0].Relations), beginning(kinds[1].Senders), beginning(kinds[1].Relations),
		beginning(kinds[2].Senders), beginning(kinds[2].Relations), &p.counts[0])
	for k := range kinds {
		kinds[k].grown(int(p.counts[k]))
	}
}

// beginning is where a list's memory begins, which may hold nothing yet.
func beginning(list []int32) *int32 { return &list[:1][0] }

// Fold does whole vectors in assembly, the rest in Go.
func (s *assembly) Fold(out, a, b, c []float32, x, y float32) {
	n := len(out) / s.lanes * s.lanes
	if n > 0 {
		s.fold(n, &out[0], &a[:n][0], &b[:n][0], &c[:n][0], x, y)
	}
	s.portable.Fold(out[n:], a[n:], b[n:], c[n:], x, y)
}

// FoldTwo does whole vectors in assembly, the rest in Go.
func (s *assembly) FoldTwo(out, other, a, b, c []float32, x, y, otherX, otherY float32) {
	n := len(out) / s.lanes * s.lanes
	if n > 0 {
		s.foldTwo(n, &out[0], &other[:n][0], &a[:n][0], &b[:n][0], &c[:n][0], x, y, otherX, otherY)
	}
	s.portable.FoldTwo(out[n:], other[n:], a[n:], b[n:], c[n:], x, y, otherX, otherY)
}

// Unfold does whole vectors in assembly, the rest in Go.
func (s *assembly) Unfold(a, b, c, gradient []float32, x, y float32) {
	n := len(gradient) / s.lanes * s.lanes
	if n > 0 {
		s.unfold(n, &a[:n][0], &b[:n][0], &c[:n][0], &gradient[0], x, y)
	}
	s.portable.Unfold(a[n:], b[n:], c[n:], gradient[n:], x, y)
}
