package weightstest

import (
	"fmt"

	"tagnet/model/pretrained"
	"tagnet/model/weights/parameters"
)

// Drawn returns weights drawn from a seed. The layer norms differ from an untrained model's.
func Drawn(seed uint64) *parameters.Set[float32] {
	p := parameters.Initialize(pretrained.ULTRALayout(), seed)
	scales := parameters.Initialize([]parameters.Shape{{Name: "scales", Shape: []int{4 * pretrained.ULTRALayers * pretrained.ULTRADim}}}, seed).Data("scales")
	for _, part := range []string{"relation_model", "entity_model"} {
		for l := range pretrained.ULTRALayers {
			for _, name := range []string{"weight", "bias"} {
				norm := p.Data(fmt.Sprintf("%s.layers.%d.layer_norm.%s", part, l, name))
				for j := range norm {
					norm[j] += scales[j] / 4
				}
				scales = scales[pretrained.ULTRADim:]
			}
		}
	}
	return p
}
