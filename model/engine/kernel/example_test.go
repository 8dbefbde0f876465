package kernel_test

import (
	"fmt"

	"tagnet/model/engine/kernel"
)

// The package documentation's example: c hears a by relation 0 and b by relation 1.
func Example() {
	k, err := kernel.Named("portable")
	if err != nil {
		fmt.Println(err)
		return
	}
	r := kernel.Receivers{
		Dim: 2, Message: kernel.DistMult, Reduction: kernel.PNA,
		Rows: []int32{2}, FeatureRows: []int32{0}, Kinds: 1,
		Senders: kernel.Senders{
			Offsets:   []int32{0, 0, 0, 0, 1, 1, 1, 3, 3, 3},
			Rows:      []int32{0, 0, 1},
			Relations: []int32{0, 0, 1},
		},
		States:             []float32{2, 1, -1, 3, 0, 0},
		RelationEmbeddings: []float32{1, 1, 2, -1},
		MeanFactor:         []float32{1, 1. / 2, 1. / 3},
	}
	features := make([]float32, r.Width())
	k.Aggregate(&r, features)
	fmt.Printf("%.2f\n", features)
	// Output: [0.00 0.00 0.00 -0.67 2.00 1.00 -2.00 -3.00 1.63 1.70]
}
