// Package pattern answers queries of more than one step: conjunctions of atoms, relation(term, term), of which some may
// be negated. An atom is a fact of the graph, or a missing one with its probability.
//
// The probability of an answer is the product of its atoms' probabilities: 1 for a stated fact, under not 0, else that
// of the triple, under not 1 less it; the highest over what the other variables may be (CQD, Arakelyan et al., ICLR
// 2021, with products). The atoms form a tree between names and the answer, so that the best entities for a variable
// depend on those of the variables beyond it alone.
package pattern
