package probability

import "fmt"

// Text returns a probability as people read it: two digits, and bounds beyond those that figures tell apart.
func Text(p float64) string {
	switch {
	case p < .001:
		return "under 0.001"
	case p < .0995:
		return fmt.Sprintf("%.3f", p)
	case p > .995:
		return "over 0.99"
	}
	return fmt.Sprintf("%.2f", p)
}
