package reference

import "tagnet/model/parameters"

// Scores returns the logit of every entity, [V], given the final states of the entities and the state of the query's relation.
func Scores(p *parameters.Set[float64], states, query []float64) (scores []float64) {
	for o := range int32(len(states) / dim) {
		x := append(append([]float64(nil), row(states, o)...), query...)
		scores = append(scores, affine(p, "entity_model.mlp.2", relu(affine(p, "entity_model.mlp.0", x)))[0])
	}
	return scores
}
