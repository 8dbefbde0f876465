package kernel

// portable is the variant in plain Go. It runs anywhere, supports every shape, and handles what
// the other variants do not.
//
// Products are rounded before they are added, float32(a*b) + c, so that no compiler may fuse the two: a message that
// the backward pass computes again equals, bit for bit, the one that set a maximum.
type portable struct{}

// Name returns "portable".
func (portable) Name() string { return "portable" }

// Compute writes the message of state x under relation embedding w to out.
func (m Message) Compute(out, x, w []float32) {
	d := len(out)
	x, w = x[:d], w[:d]
	switch m {
	case DistMult:
		for j := range out {
			out[j] = x[j] * w[j]
		}
	case TransE:
		for j := range out {
			out[j] = x[j] + w[j]
		}
	case RotatE:
		// With an odd number of dimensions the last one is 0.
		half := d / 2
		clear(out[2*half:])
		for j := range half {
			a, b, c, e := x[j], x[half+j], w[j], w[half+j]
			out[j] = float32(a*c) - float32(b*e)
			out[half+j] = float32(a*e) + float32(b*c)
		}
	}
}

// Backward adds a message's gradient to the gradients of its state and its relation
// embedding. gx and gw may not overlap.
func (m Message) Backward(gradient, x, w, gx, gw []float32) {
	d := len(gradient)
	x, w, gx, gw = x[:d], w[:d], gx[:d], gw[:d]
	switch m {
	case DistMult:
		for j, g := range gradient {
			gx[j] += float32(g * w[j])
			gw[j] += float32(g * x[j])
		}
	case TransE:
		for j, g := range gradient {
			gx[j] += g
			gw[j] += g
		}
	case RotatE:
		half := d / 2
		for j := range half {
			re, im := gradient[j], gradient[half+j]
			a, b, c, e := x[j], x[half+j], w[j], w[half+j]
			gx[j] += float32(re*c) + float32(im*e)
			gx[half+j] += float32(im*c) - float32(re*e)
			gw[j] += float32(re*a) + float32(im*b)
			gw[half+j] += float32(im*a) - float32(re*b)
		}
	}
}
