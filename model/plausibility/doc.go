// Package plausibility scores given triples: how likely a model finds each of them, if the graph does not say so.
//
// A triple (h, r, t) has two queries: t is ranked as an answer of (h, r, ?), and h as one of (t, ~r, ?). If the graph has the triple,
// its two edges leave the graph of both queries, as in training: the score is that of a held-out fact. Nothing else leaves the graph, whatever
// a training removed. Queries of other triples share a propagation by source and relation; that of a fact is its own.
//
// Both directions are kept: they rank among other candidates, and have calibrations of their own. (Ann, born_in, Paris) is one of very
// many facts about Paris, so that its head may rank far behind, and the only one of its relation about Ann. Triples are compared by the
// mean of the log odds in both directions (Sides.Compare).
package plausibility
