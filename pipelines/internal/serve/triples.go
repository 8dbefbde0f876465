package serve

import (
	"net/http"

	"tagnet/model"
)

// triple is a triple with its scores in the graph without it: of the tail as an answer of (head, relation, ?), and of
// the head as one of (tail, ~relation, ?).
type triple struct {
	Head     string `json:"head"`
	Relation string `json:"relation"`
	Tail     string `json:"tail"`
	// Probability and Odds are as in model.Answer.
	Probability *float64   `json:"probability,omitempty"`
	Odds        string     `json:"odds,omitempty"`
	TailScore   float32    `json:"tail_score"`
	TailRank    int64      `json:"tail_rank"`
	HeadScore   float32    `json:"head_score"`
	HeadRank    int64      `json:"head_rank"`
	Hops        model.Hops `json:"hops"`
	Known       bool       `json:"known"`
}

type scoreResponse struct {
	Triples []triple `json:"triples"`
	// Probabilities is as in health.
	Probabilities string `json:"probabilities"`
}

// score scores a triple, or without a relation the best ones of a head and a tail.
func (s *server) score(w http.ResponseWriter, r *http.Request) error {
	p := parameters(r, "head", "relation", "tail", "k")
	head, tail := p.needed("head", entityName), p.needed("tail", entityName)
	k := p.count("k", usualAnswers, mostAnswers)
	if p.err != nil {
		return p.err
	}
	state := s.probabilities() // not later, when there may be some that the triples lack
	var scored []model.ScoredTriple
	var err error
	if relation := p.text("relation"); relation == nil {
		scored, err = s.model.Between(r.Context(), head, tail, k)
	} else {
		scored, err = s.model.Score(r.Context(), []model.Triple{{Head: head, Relation: *relation, Tail: tail}})
	}
	if err != nil {
		return err
	}
	response := scoreResponse{make([]triple, len(scored)), state}
	for i, t := range scored {
		response.Triples[i] = triple{
			Head: t.Head, Relation: t.Relation, Tail: t.Tail, Probability: t.Probability, Odds: model.Odds(t.Probability),
			TailScore: t.AsTail.Score, TailRank: t.AsTail.Rank, HeadScore: t.AsHead.Score, HeadRank: t.AsHead.Rank,
			Hops: t.Hops, Known: t.Known,
		}
	}
	return writeJSON(w, http.StatusOK, response)
}
