package kernel

// ones and allKept stand in for a scale and for bits that are nil.
var (
	ones    = filled(1)
	allKept = [2]uint32{^uint32(0), ^uint32(0)}
)

func filled(value float32) (row [64]float32) {
	for j := range row {
		row[j] = value
	}
	return row
}

// width is the assembly's two directions of the normalization for rows of dim. The first is
// there for one query, for two side by side, and for training.
type width struct {
	dim                       int
	normalize, pair, training func(count int, rows, at *int32, linear *float32, lane int, bias, deviation, scale, shift *float32,
		kept *uint32, keptStride int, keptScale float32, own *float32, ownMask int, output *float32)
	backward func(count int, rows, at *int32, linear, deviation, scale, shift *float32, kept *uint32, keptStride int, keptScale float32,
		gradient, byLinear, byBias, byScale, byShift *float32)
}

// forDim is the assembly for rows of dim, nil where there is none.
func (s *assembly) forDim(dim int) *width {
	for i := range s.widths {
		if s.widths[i].dim == dim {
			return &s.widths[i]
		}
	}
	return nil
}

// affineRows and keptRows are the fields of an update, or what leaves numbers as they are.
func (u *NodeUpdate) affineRows() (scale, shift *float32) {
	if u.Scale == nil {
		return &ones[0], &zeros[0]
	}
	return &u.Scale[:u.Dim][0], &u.Shift[:u.Dim][0]
}

func (u *NodeUpdate) keptRows() (kept *uint32, stride int, scale float32) {
	if u.Mask == nil {
		return &allKept[0], 0, 1
	}
	words := (u.Dim + 31) / 32
	return &u.Mask[0], 4 * words, u.MaskScale
}

// Normalize has a row in registers from reading it to writing the output.
func (s *assembly) Normalize(u *NodeUpdate) {
	w, n := s.forDim(u.Dim), len(u.Rows)
	if w == nil || n == 0 {
		s.portable.Normalize(u)
		return
	}
	var deviation *float32
	normalize, lanes := w.normalize, u.lanes()
	switch {
	case u.InverseDeviation != nil:
		normalize, deviation = w.training, &u.InverseDeviation[0]
	case lanes == 2:
		normalize = w.pair
	}
	own, ownMask := &zeros[0], 0
	if u.Residual != nil {
		own, ownMask = &u.Residual[0], -1
	}
	bias := whole(u.Bias, u.Dim)
	if bias == nil {
		bias = &zeros[0]
	}
	scale, shift := u.affineRows()
	kept, keptStride, keptScale := u.keptRows()
	normalize(n, &u.Rows[0], &u.LinearRows[:n][0], &u.Linear[0], 4*(len(u.Linear)/lanes), bias, deviation, scale, shift,
		kept, keptStride, keptScale, own, ownMask, &u.Output[0])
}

// NormalizeBackward reads a row of the gradient before it writes, as portable does.
func (s *assembly) NormalizeBackward(u *NodeUpdate, gradient []float32, g *NodeUpdateGradients) {
	w, n := s.forDim(u.Dim), len(u.Rows)
	if w == nil || n == 0 {
		s.portable.NormalizeBackward(u, gradient, g)
		return
	}
	scale, shift := u.affineRows()
	kept, keptStride, keptScale := u.keptRows()
	w.backward(n, &u.Rows[0], &u.LinearRows[:n][0], &u.Linear[0], &u.InverseDeviation[0], scale, shift, kept, keptStride, keptScale,
		&gradient[0], &g.Linear[0], whole(g.Bias, u.Dim), whole(g.Scale, u.Dim), whole(g.Shift, u.Dim))
}

// whole is where a list of dim numbers begins, nil for none.
func whole(list []float32, dim int) *float32 {
	if list == nil {
		return nil
	}
	return &list[:dim][0]
}
