package propagation

import (
	"tagnet/model/engine/kernel"
	"tagnet/model/parallel"
)

// foldedWeights applies a layer's linear maps to chunks. PNA multiplies a receiver's aggregates by
// three scalers that depend on its degree alone, so the maps under the three scalers fold into one
// matrix for each degree: W_1 + c W_c + W_i / max(c, 0.01).
//
// The matrices of a degree and of the next are kept. All receivers of a degree follow each other in a
// layer, so each matrix is folded once a layer; all degrees' and layers' matrices would not fit a cache.
type foldedWeights struct {
	maps     *[3][]float32 // what the matrices were folded from
	degrees  [2]int32      // of the matrices, or rare where there is none
	matrices [2][]float32  // [width, dim], or transposed, [dim, width]

	gradient []float32 // of one matrix, [width, dim]
	product  []float32 // of rare rows under one scaler or two, [chunk, dim] each
}

// fold returns the folded matrix of the first bucket's degree, and folds the matrix of the second bucket
// along with it. The first fixed entries of a map are under the first scaler only.
func (p *runner) fold(maps *[3][]float32, buckets []bucket, fixed int) []float32 {
	f, m := &p.folded, &p.folded.matrices
	if f.maps != maps {
		f.maps, f.degrees = maps, [2]int32{rare, rare}
		for i := range m {
			m[i] = parallel.Resize(m[i], len(maps[0]))
			copy(m[i][:fixed], maps[0])
		}
	}
	degree := buckets[0].degree
	for i, folded := range f.degrees {
		if folded == degree {
			return m[i]
		}
	}
	a, b, c := maps[0][fixed:], maps[1][fixed:], maps[2][fixed:]
	x, y := p.weights.scaler(degree, 1), p.weights.scaler(degree, 2)
	f.degrees[0] = degree
	if len(buckets) == 1 || buckets[1].degree == rare {
		p.kernel.Fold(m[0][fixed:], a, b, c, x, y)
		return m[0]
	}
	next := buckets[1].degree
	f.degrees[1] = next
	p.kernel.FoldTwo(kernel.Folded{Out: m[0][fixed:], X: x, Y: y}, kernel.Folded{Out: m[1][fixed:], X: p.weights.scaler(next, 1), Y: p.weights.scaler(next, 2)},
		a, b, c)
	return m[0]
}

// multiply applies the linear maps to a chunk's features. The kernel's node update adds the bias.
func (p *runner) multiply(x *layerUpdate, c *chunk, m activations) {
	d, width := p.configuration.Dim, p.weights.width()
	layer := &p.weights.layers[x.layer]
	for i, b := range c.buckets {
		features, linear := m.features[b.first*width:b.last*width], m.linear[b.first*d:b.last*d]
		if b.degree == rare {
			p.multiplyRare(layer, c.degrees[b.first:b.last], features, linear)
			continue
		}
		matrix := p.fold(&layer.maps, c.buckets[i:], d*d)
		// The product of a previous state of zero is left out.
		p.kernel.Multiply(linear, features[d:], matrix[d*d:], kernel.Product{Rows: b.zeroRows, Inner: width - d, Columns: d, Stride: width})
		p.kernel.Multiply(linear[b.zeroRows*d:], features[b.zeroRows*width:], matrix,
			kernel.Product{Rows: b.last - b.first - b.zeroRows, Inner: width, Columns: d})
	}
}

// multiplyRare applies the linear maps to rows of different degrees: a product for each scaler, added
// row by row. Previous states are under the first scaler only.
func (p *runner) multiplyRare(layer *layerWeights, degrees []int32, features, linear []float32) {
	n, d, width := len(degrees), p.configuration.Dim, p.weights.width()
	p.kernel.Multiply(linear, features, layer.maps[0], kernel.Product{Rows: n, Inner: width, Columns: d})
	if layer.maps[1] == nil {
		return
	}
	f := &p.folded
	f.product = parallel.Resize(f.product, 2*n*d)
	amplified, attenuated := f.product[:n*d], f.product[n*d:]
	p.kernel.Multiply(amplified, features[d:], layer.maps[1][d*d:], kernel.Product{Rows: n, Inner: width - d, Columns: d, Stride: width})
	p.kernel.Multiply(attenuated, features[d:], layer.maps[2][d*d:], kernel.Product{Rows: n, Inner: width - d, Columns: d, Stride: width})
	for i, degree := range degrees {
		row := linear[i*d : (i+1)*d]
		p.kernel.Fold(row, row, amplified[i*d:(i+1)*d], attenuated[i*d:(i+1)*d], p.weights.scaler(degree, 1), p.weights.scaler(degree, 2))
	}
}

// multiplyBackward sets the gradient of a chunk's features, given the gradient of the linear maps' output, and
// adds to the gradients of the maps.
func (p *runner) multiplyBackward(x *layerUpdate, c *chunk, m activations, linear, features []float32, into *layerGradients) {
	d, width := p.configuration.Dim, p.weights.width()
	layer := &p.weights.layers[x.layer]
	for i, b := range c.buckets {
		n := b.last - b.first
		rows, featureGradient := m.features[b.first*width:b.last*width], features[b.first*width:b.last*width]
		linearGradient := linear[b.first*d : b.last*d]
		if b.degree == rare {
			p.multiplyRareBackward(layer, c.degrees[b.first:b.last], rows, linearGradient, featureGradient, into)
			continue
		}
		// A group without previous states does not read the gradient of theirs.
		p.kernel.Multiply(featureGradient, linearGradient, p.fold(&layer.transposed, c.buckets[i:], 0), kernel.Product{Rows: n, Inner: d, Columns: width})
		p.unfold(b, rows, linearGradient, into)
	}
}

// unfold adds the gradient of a bucket's folded matrix to the gradients of the maps it was folded from.
func (p *runner) unfold(b bucket, features, linear []float32, into *layerGradients) {
	d, width, n := p.configuration.Dim, p.weights.width(), b.last-b.first
	p.folded.gradient = parallel.Resize(p.folded.gradient, width*d)
	gradient := p.folded.gradient
	p.kernel.MultiplyTransposed(gradient, features[b.zeroRows*width:], linear[b.zeroRows*d:],
		kernel.Product{Rows: n - b.zeroRows, Inner: d, Columns: d, Stride: width})
	p.kernel.MultiplyTransposed(gradient[d*d:], features[d:], linear, kernel.Product{Rows: n, Inner: width - d, Columns: d, Stride: width})
	p.kernel.Unfold(into.maps[0], into.maps[1], into.maps[2], gradient, p.weights.scaler(b.degree, 1), p.weights.scaler(b.degree, 2))
}

// multiplyRareBackward computes the same gradients for rows of different degrees, which it scales for each
// scaler in turn.
func (p *runner) multiplyRareBackward(layer *layerWeights, degrees []int32, rows, linear, features []float32, into *layerGradients) {
	n, d, width := len(degrees), p.configuration.Dim, p.weights.width()
	f := &p.folded
	f.product = parallel.Resize(f.product, n*d)
	p.kernel.Multiply(features, linear, layer.transposed[0], kernel.Product{Rows: n, Inner: d, Columns: width})
	p.kernel.MultiplyTransposed(into.maps[0], rows, linear, kernel.Product{Rows: n, Inner: width, Columns: d, Add: true})
	for k := 1; k < len(layer.maps) && layer.maps[k] != nil; k++ {
		for i, degree := range degrees {
			scaler := p.weights.scaler(degree, k)
			scaled := f.product[i*d : (i+1)*d]
			for j, value := range linear[i*d : (i+1)*d] {
				scaled[j] = scaler * value
			}
		}
		p.kernel.Multiply(features, f.product, layer.transposed[k], kernel.Product{Rows: n, Inner: d, Columns: width, Add: true})
		p.kernel.MultiplyTransposed(into.maps[k], rows, f.product, kernel.Product{Rows: n, Inner: width, Columns: d, Add: true})
	}
}
