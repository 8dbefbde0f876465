package head

import (
	"tagnet/model/engine/kernel"
	"tagnet/model/weights/parameters"
)

// Products are dense row-major matrix products and operations on arrays. A kernel.Kernel has them for
// float32, tests have plain loops for both precisions.
type Products[F parameters.Float] interface {
	// Multiply and MultiplyTransposed are those of kernel.Multiplier.
	Multiply(c, a, b []F, p kernel.Product)
	MultiplyTransposed(c, a, b []F, p kernel.Product)
	// Add computes sum += a for a [n] and the first n entries of sum.
	Add(sum, a []F)
	// ReLU computes out = max(a, 0), [n] each.
	ReLU(out, a []F)
	// ReLUBackward computes out = gradient where a is above 0, and 0 elsewhere, [n] each.
	ReLUBackward(out, a, gradient []F)
}

// axpy adds v x to y.
func axpy[F parameters.Float](y []F, v F, x []F) {
	x = x[:len(y)]
	for i := range y {
		y[i] += v * x[i]
	}
}

// dot returns the inner product of x and y, in four sums that the processor adds at once.
func dot[F parameters.Float](x, y []F) F {
	y = y[:len(x)]
	var s0, s1, s2, s3 F
	i := 0
	for ; i+4 <= len(x); i += 4 {
		s0 += x[i] * y[i]
		s1 += x[i+1] * y[i+1]
		s2 += x[i+2] * y[i+2]
		s3 += x[i+3] * y[i+3]
	}
	for ; i < len(x); i++ {
		s0 += x[i] * y[i]
	}
	return (s0 + s1) + (s2 + s3)
}

// conditioned is a linear map of rows [x_i, q] that all end in the same q:
//
//	out_i = W [x_i, q] + b = W_x x_i + (W_q q + b)
//
// for x [n, k], q [d], W [m, k+d], b [m]. The product with q is computed once, not for each row.
type conditioned[F parameters.Float] struct {
	n, k, d, m int
	products   Products[F]

	transposed []F // W_xᵀ, [k, m]
	stored     []F // W_x, [m, k], and its gradient
	shift      []F // W_q q + b
}

func newConditioned[F parameters.Float](n, k, d, m int, products Products[F]) *conditioned[F] {
	return &conditioned[F]{n: n, k: k, d: d, m: m, products: products,
		transposed: make([]F, k*m), stored: make([]F, m*k), shift: make([]F, m)}
}

// forward computes out = x W1 + (W2 q + b) for the rows of x: what the query adds is computed once.
func (c *conditioned[F]) forward(in [][]F, out []F) error {
	x, q, w, b := in[0], in[1], in[2], in[3]
	stride := c.k + c.d
	for i := range c.m {
		row := w[i*stride : (i+1)*stride]
		for j, v := range row[:c.k] {
			c.transposed[j*c.m+i] = v
		}
		c.shift[i] = b[i] + dot(row[c.k:], q)
	}
	for i := range c.n {
		copy(out[i*c.m:(i+1)*c.m], c.shift)
	}
	c.products.Multiply(out, x, c.transposed, kernel.Product{Rows: c.n, Inner: c.k, Columns: c.m, Add: true})
	return nil
}

// backward computes the gradients of x, q, W and b. W's first k columns belong to x, the rest to q.
func (c *conditioned[F]) backward(in [][]F, _, gradient []F, gradients [][]F) error {
	x, q, w := in[0], in[1], in[2]
	dx, dq, dw, db := gradients[0], gradients[1], gradients[2], gradients[3]
	stride := c.k + c.d
	for i := range c.m {
		copy(c.stored[i*c.k:(i+1)*c.k], w[i*stride:i*stride+c.k])
	}
	c.products.Multiply(dx, gradient, c.stored, kernel.Product{Rows: c.n, Inner: c.m, Columns: c.k})
	c.products.MultiplyTransposed(c.stored, gradient, x, kernel.Product{Rows: c.n, Inner: c.m, Columns: c.k})
	clear(db)
	for i := range c.n {
		c.products.Add(db, gradient[i*c.m:(i+1)*c.m])
	}
	clear(dq)
	for i := range c.m {
		row := dw[i*stride : (i+1)*stride]
		copy(row, c.stored[i*c.k:(i+1)*c.k])
		for j, v := range q {
			row[c.k+j] = db[i] * v
		}
		axpy(dq, db[i], w[i*stride+c.k:(i+1)*stride])
	}
	return nil
}

// output is a linear map to one number a row: out_i = w x_i + b, for x [n, k], w [1, k], b [1].
type output[F parameters.Float] struct {
	n, k     int
	products Products[F]
}

// forward computes a number for each row of x: its product with w, plus b.
func (o output[F]) forward(in [][]F, out []F) error {
	x, w, b := in[0], in[1], in[2][0]
	for i := range out {
		out[i] = b
	}
	o.products.Multiply(out, x, w, kernel.Product{Rows: o.n, Inner: o.k, Columns: 1, Add: true})
	return nil
}

// backward computes the gradients of x, w and b.
func (o output[F]) backward(in [][]F, _, gradient []F, gradients [][]F) error {
	x, w := in[0], in[1]
	dx, dw, db := gradients[0], gradients[1], gradients[2]
	o.products.Multiply(dx, gradient, w, kernel.Product{Rows: o.n, Inner: 1, Columns: o.k})
	o.products.Multiply(dw, gradient, x, kernel.Product{Rows: 1, Inner: o.n, Columns: o.k})
	db[0] = 0
	for _, g := range gradient {
		db[0] += g
	}
	return nil
}
