package evaluation

import "tagnet/model/graph"

// Rules score the answers of a query by rules of one hop: if x and y are linked by one relation, they are by another
// one. Relations include inverses, so that parent_of follows from ~child_of. They may be used concurrently.
type Rules struct {
	graph *graph.Graph
	// support has, by conclusion, the number of pairs of entities that each premise links, too.
	support []map[int32]int32
	edges   []int32 // by relation
}

// doubt is added to the number of a premise's edges: a rule that held twice of two times is not certain.
const doubt = 5

// NewRules counts the pairs of entities that two relations link in a graph, which stays in use.
func NewRules(g *graph.Graph) *Rules {
	r := &Rules{graph: g, support: make([]map[int32]int32, g.RelationCount()), edges: make([]int32, g.RelationCount())}
	for q := range r.support {
		r.support[q] = map[int32]int32{}
	}
	for o := range int32(g.Entities) {
		senders, relations := g.In(o)
		for begin := 0; begin < len(senders); {
			end := begin
			for end < len(senders) && senders[end] == senders[begin] {
				end++
			}
			r.count(relations[begin:end])
			begin = end
		}
	}
	return r
}

// count counts the relations of a pair of entities.
func (r *Rules) count(relations []int32) {
	for _, conclusion := range relations {
		r.edges[conclusion]++
		for _, premise := range relations {
			if premise != conclusion {
				r.support[conclusion][premise]++
			}
		}
	}
}

// Confidence returns the share of a premise's edges that a conclusion follows, a little less where there are few.
func (r *Rules) Confidence(premise, conclusion int32) float32 {
	return float32(r.support[conclusion][premise]) / (float32(r.edges[premise]) + doubt)
}

// Scores sets the score of each entity as the answer of a query (source, relation, ?): the highest confidence of a rule
// that derives it, or 0.
func (r *Rules) Scores(source, relation int32, scores []float32) {
	clear(scores)
	neighbors, entering := r.graph.In(source)
	for i, o := range neighbors {
		if premise := r.graph.Inverse(entering[i]); premise != relation {
			scores[o] = max(scores[o], r.Confidence(premise, relation))
		}
	}
}
