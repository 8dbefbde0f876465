package kernel

// PartitionSenders reads a vector of senders at once and compresses it once for each kind.
func (s *assembly) PartitionSenders(p *Partition, into *Senders) {
	n := len(p.Receivers)
	if n == 0 {
		return
	}
	rows, relations, aside := p.buffers(into)
	p.count = int64(len(into.Rows))
	parents, siblings, children, unreached := p.limits()
	s.partition(n, &p.Receivers[0], &p.Offsets[0], first(p.Senders), first(p.Relations),
		&p.Rows[0], &p.Reached[0], int32(parents), int32(siblings), int32(children), int32(unreached), p.TableRows,
		&into.Offsets[3*int(p.FirstRow):][:3*n+1][0], &rows[0], &relations[0], &aside[0][0], &aside[1][0], &aside[2][0], &aside[3][0], &p.count)
	into.Rows, into.Relations = rows[:p.count], relations[:p.count]
}

// buffers returns the memory that the assembly may write to: into's up to its capacity,
// and lists in which siblings and children of one receiver wait.
func (p *Partition) buffers(into *Senders) (rows, relations []int32, aside *[4][]int32) {
	if len(p.waiting[0]) < p.MaxSenders+PartitionSlack {
		for i := range p.waiting {
			p.waiting[i] = make([]int32, p.MaxSenders+PartitionSlack)
		}
	}
	return into.Rows[:cap(into.Rows)], into.Relations[:cap(into.Relations)], &p.waiting
}

// Fold handles whole vectors in assembly, the rest in Go.
func (s *assembly) Fold(out, a, b, c []float32, x, y float32) {
	n := len(out) / s.floats * s.floats
	if n > 0 {
		s.fold(n, &out[0], &a[:n][0], &b[:n][0], &c[:n][0], x, y)
	}
	s.portable.Fold(out[n:], a[n:], b[n:], c[n:], x, y)
}

// FoldTwo handles whole vectors in assembly, the rest in Go.
func (s *assembly) FoldTwo(one, two Folded, a, b, c []float32) {
	n := len(one.Out) / s.floats * s.floats
	if n > 0 {
		s.foldTwo(n, &one.Out[0], &two.Out[:n][0], &a[:n][0], &b[:n][0], &c[:n][0], one.X, one.Y, two.X, two.Y)
	}
	one.Out, two.Out = one.Out[n:], two.Out[n:]
	s.portable.FoldTwo(one, two, a[n:], b[n:], c[n:])
}

// Unfold handles whole vectors in assembly, the rest in Go.
func (s *assembly) Unfold(a, b, c, gradient []float32, x, y float32) {
	n := len(gradient) / s.floats * s.floats
	if n > 0 {
		s.unfold(n, &a[:n][0], &b[:n][0], &c[:n][0], &gradient[0], x, y)
	}
	s.portable.Unfold(a[n:], b[n:], c[n:], gradient[n:], x, y)
}
