package head

import "tagnet/model/parameters"

// Products are dense row-major matrix products and operations on arrays. A kernel.Kernel has them for
// float32, tests have plain loops for both precisions.
type Products[F parameters.Float] interface {
	// Multiply computes c = a b, or c += a b, for a [n, k], b [k, m], c [n, m].
	Multiply(c, a, b []F, n, k, m int, add bool)
	// MultiplyTransposed computes c = aᵀ b, or c += aᵀ b, for a [n, k], b [n, m], c [k, m].
	MultiplyTransposed(c, a, b []F, n, k, m int, add bool)
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

// conditioned is a linear map of rows [x_i, q, y_i], whose q is the same for all:
//
//	out_i = W [x_i, q, y_i] + b = W_x x_i + W_y y_i + (W_q q + b)
//
// for x [n, k], q [d], y [n, e], W [m, k+d+e], b [m]. The product with q is computed once, not for each row. There may be no y: then
// e is 0.
type conditioned[F parameters.Float] struct {
	n, k, d, e, m int
	products      Products[F]

	transposed []F // W_xᵀ, [k, m], or W_yᵀ
	stored     []F // W_x, [m, k], or W_y, and its gradient
	shift      []F // W_q q + b
}

func newConditioned[F parameters.Float](n, k, d, e, m int, products Products[F]) *conditioned[F] {
	return &conditioned[F]{n: n, k: k, d: d, e: e, m: m, products: products,
		transposed: make([]F, max(k, e)*m), stored: make([]F, m*max(k, e)), shift: make([]F, m)}
}

func (c *conditioned[F]) forward(in [][]F, out []F) error {
	x, q, w, b := in[0], in[1], in[2], in[3]
	stride := c.k + c.d + c.e
	for i := range c.m {
		c.shift[i] = b[i] + dot(w[i*stride+c.k:i*stride+c.k+c.d], q)
	}
	for i := range c.n {
		copy(out[i*c.m:(i+1)*c.m], c.shift)
	}
	c.multiply(out, x, w, 0, c.k)
	if c.e > 0 {
		c.multiply(out, in[4], w, c.k+c.d, c.e)
	}
	return nil
}

// multiply adds the products of rows, [n, width], with the columns of w from first on.
func (c *conditioned[F]) multiply(out, rows, w []F, first, width int) {
	stride := c.k + c.d + c.e
	for i := range c.m {
		for j, v := range w[i*stride+first : i*stride+first+width] {
			c.transposed[j*c.m+i] = v
		}
	}
	c.products.Multiply(out, rows, c.transposed, c.n, width, c.m, true)
}

// multiplyBackward sets the gradients of rows, and of the columns of w from first on.
func (c *conditioned[F]) multiplyBackward(rows, w, gradient, byRows, byW []F, first, width int) {
	stride := c.k + c.d + c.e
	for i := range c.m {
		copy(c.stored[i*width:(i+1)*width], w[i*stride+first:i*stride+first+width])
	}
	c.products.Multiply(byRows, gradient, c.stored, c.n, c.m, width, false)
	c.products.MultiplyTransposed(c.stored, gradient, rows, c.n, c.m, width, false)
	for i := range c.m {
		copy(byW[i*stride+first:i*stride+first+width], c.stored[i*width:(i+1)*width])
	}
}

func (c *conditioned[F]) backward(in [][]F, _, gradient []F, gradients [][]F) error {
	x, q, w := in[0], in[1], in[2]
	dx, dq, dw, db := gradients[0], gradients[1], gradients[2], gradients[3]
	stride := c.k + c.d + c.e
	c.multiplyBackward(x, w, gradient, dx, dw, 0, c.k)
	if c.e > 0 {
		c.multiplyBackward(in[4], w, gradient, gradients[4], dw, c.k+c.d, c.e)
	}
	clear(db)
	for i := range c.n {
		c.products.Add(db, gradient[i*c.m:(i+1)*c.m])
	}
	clear(dq)
	for i := range c.m {
		for j, v := range q {
			dw[i*stride+c.k+j] = db[i] * v
		}
		axpy(dq, db[i], w[i*stride+c.k:i*stride+c.k+c.d])
	}
	return nil
}

// output is a linear map to one number a row: out_i = w x_i + b, for x [n, k], w [1, k],
// b [1].
type output[F parameters.Float] struct {
	n, k     int
	products Products[F]
}

func (o output[F]) forward(in [][]F, out []F) error {
	x, w, b := in[0], in[1], in[2][0]
	for i := range out {
		out[i] = b
	}
	o.products.Multiply(out, x, w, o.n, o.k, 1, true)
	return nil
}

func (o output[F]) backward(in [][]F, _, gradient []F, gradients [][]F) error {
	x, w := in[0], in[1]
	dx, dw, db := gradients[0], gradients[1], gradients[2]
	o.products.Multiply(dx, gradient, w, o.n, 1, o.k, false)
	o.products.Multiply(dw, gradient, x, 1, o.n, o.k, false)
	db[0] = 0
	for _, g := range gradient {
		db[0] += g
	}
	return nil
}
