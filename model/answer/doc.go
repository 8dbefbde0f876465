// Package answer opens trained models and answers queries with them. Open takes a graph and a model's name; the Model
// makes its workers or its device's scorer on first use, and gives scores, filtered ranks and the best candidates, on
// the processor or a device. One propagation answers all rows of a (source, relation, ?), and threads share the
// queries, or a device answers them in groups.
//
// A Request has ids, labelled answers and known answers, but no graph. Results are ids in the order of the requests.
// Package model adds names, pipelines evaluate with this package, and training validates its epochs with it.
//
// A triple (h, r, t) has two queries: t is ranked as an answer of (h, r, ?), and h as one of (t, ~r, ?). If the graph
// has the triple, its two edges leave the graph of both queries, as in training: it scores as a held-out fact does.
// Nothing else leaves the graph, whatever a training removed. Queries of other triples share a propagation by source
// and relation; a fact has its own. Both directions are kept (probability.Observation), since each ranks among
// candidates of its own. (Ann, born_in, Paris) is one of very many facts about Paris, so that its head may rank far
// behind, and the only one of its relation about Ann. From both, package probability makes one estimate.
//
// Ask answers queries so: the best candidates of a query are queried in the other direction, too.
package answer
