package kernel

// ones replaces a scale, keepAll a mask that is nil.
var (
	ones    = filled(1)
	keepAll = [2]uint32{^uint32(0), ^uint32(0)}
)

func filled(value float32) (row [64]float32) {
	for j := range row {
		row[j] = value
	}
	return row
}

// width has the two directions of the normalization for rows of dim: forward while scoring, and for training.
//
// rows and linearRows are NodeUpdate.Rows and LinearRows, deviation InverseDeviation, dropoutMask and
// maskScale Mask and MaskScale. residualMask is 0 where the residual is zero, else -1.
type width struct {
	dim                 int
	normalize, training func(count int, rows, linearRows *int32, linear, bias, deviation, scale, shift *float32,
		dropoutMask *uint32, maskStride int, maskScale float32, residual *float32, residualMask int, output *float32)
	backward func(count int, rows, linearRows *int32, linear, deviation, scale, shift *float32, dropoutMask *uint32, maskStride int, maskScale float32,
		gradient, byLinear, byBias, byScale, byShift *float32)
}

// forDim returns the functions for rows of dim, nil where there are none.
func (s *assembly) forDim(dim int) *width {
	for i := range s.widths {
		if s.widths[i].dim == dim {
			return &s.widths[i]
		}
	}
	return nil
}

// affineRows returns the update's scale and shift, or those that change nothing.
func (u *NodeUpdate) affineRows() (scale, shift *float32) {
	if u.Scale == nil {
		return &ones[0], &zeros[0]
	}
	return &u.Scale[:u.Dim][0], &u.Shift[:u.Dim][0]
}

// maskRows returns the update's mask and its scale, or those that change nothing.
func (u *NodeUpdate) maskRows() (dropoutMask *uint32, stride int, scale float32) {
	if u.Mask == nil {
		return &keepAll[0], 0, 1
	}
	words := (u.Dim + 31) / 32
	return &u.Mask[0], 4 * words, u.MaskScale
}

// Normalize keeps a row in registers from reading it to writing the output.
func (s *assembly) Normalize(u *NodeUpdate) {
	w, n := s.forDim(u.Dim), len(u.Rows)
	if w == nil || n == 0 {
		s.portable.Normalize(u)
		return
	}
	var deviation *float32
	normalize := w.normalize
	if u.InverseDeviation != nil {
		normalize, deviation = w.training, &u.InverseDeviation[0]
	}
	residual, residualMask := u.residual()
	scale, shift := u.affineRows()
	mask, maskStride, maskScale := u.maskRows()
	normalize(n, &u.Rows[0], &u.LinearRows[:n][0], &u.Linear[0], u.biasRow(), deviation, scale, shift,
		mask, maskStride, maskScale, residual, residualMask, &u.Output[0])
}

// residual returns the address of the residual, or of a row of zeros, and the mask of the offset of its rows.
func (u *NodeUpdate) residual() (residual *float32, mask int) {
	if u.Residual == nil {
		return &zeros[0], 0
	}
	return &u.Residual[0], -1
}

// biasRow returns the update's bias, or one that changes nothing.
func (u *NodeUpdate) biasRow() *float32 {
	if u.Bias == nil {
		return &zeros[0]
	}
	return whole(u.Bias, u.Dim)
}

// NormalizeBackward reads a row of the gradient before it writes, as portable's.
func (s *assembly) NormalizeBackward(u *NodeUpdate, gradient []float32, g *NodeUpdateGradients) {
	w, n := s.forDim(u.Dim), len(u.Rows)
	if w == nil || n == 0 {
		s.portable.NormalizeBackward(u, gradient, g)
		return
	}
	scale, shift := u.affineRows()
	mask, maskStride, maskScale := u.maskRows()
	w.backward(n, &u.Rows[0], &u.LinearRows[:n][0], &u.Linear[0], &u.InverseDeviation[0], scale, shift, mask, maskStride, maskScale,
		&gradient[0], &g.Linear[0], whole(g.Bias, u.Dim), whole(g.Scale, u.Dim), whole(g.Shift, u.Dim))
}

// whole returns the address of a list of dim numbers, nil for none.
func whole(list []float32, dim int) *float32 {
	if list == nil {
		return nil
	}
	return &list[:dim][0]
}
