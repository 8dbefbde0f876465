package spec

// row returns a view of row i of a row-major matrix.
func row(matrix []float64, i, width int) []float64 {
	return matrix[i*width : (i+1)*width : (i+1)*width]
}

// add computes a += b.
func add(a, b []float64) {
	for i := range a {
		a[i] += b[i]
	}
}

// join returns the vector [a, b].
func join(a, b []float64) []float64 {
	return append(append(make([]float64, 0, len(a)+len(b)), a...), b...)
}

// affine returns weight @ x + bias, for weight [n, len(x)] and bias [n], or nil for none.
func affine(weight, bias, x []float64) []float64 {
	y := make([]float64, len(weight)/len(x))
	for i := range y {
		for j, w := range row(weight, i, len(x)) {
			y[i] += w * x[j]
		}
		if bias != nil {
			y[i] += bias[i]
		}
	}
	return y
}

// affineBackward adds to the gradients of weight, bias (nil for none) and x from the gradient of
// y = affine(weight, bias, x).
func affineBackward(weight, x, y, gradientWeight, gradientBias, gradientX []float64) {
	for i, gradient := range y {
		weights, into := row(weight, i, len(x)), row(gradientWeight, i, len(x))
		for j := range x {
			into[j] += gradient * x[j]
			gradientX[j] += gradient * weights[j]
		}
		if gradientBias != nil {
			gradientBias[i] += gradient
		}
	}
}
