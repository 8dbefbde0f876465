// Package prior adds to the scores of a trained model what the relations of an entity say by themselves: whether an entity that has them
// is likely to answer a query with a relation, whatever its source. That is naive Bayes, from counts over the training facts.
//
// The relations of an entity are those that leave it, inverse ones included, each once. For queries with the relation q,
//
//	p_r  = (entities that have r + 1/2) / (entities + 1)
//	a_qr = (n_qr + alpha p_r) / (N_q + alpha)
//
// where N_q is the number of the facts that a query with q asks for, and n_qr that of those whose answer has r besides this very fact; both
// shares are cut at 1 - 1e-4, and alpha is 5. Then
//
//	lambda_qr   = logit(a_qr) - logit(p_r)
//	constant_q  = sum over all r of log((1 - a_qr) / (1 - p_r))
//	NB(o, q)    = constant_q + sum over the r that o has of lambda_qr
//
// is the log of how much likelier the relations of o are at an answer than at any entity, if relations were independent. They are not, so that
// large values say too much: a score gets beta x min(NB, cap), with beta and cap that validation chose.
//
// The counts are of the training graph; which relations an entity has is a matter of the graph that is queried, without the edges that leave it
// for a query. A window gives all entities that no path reaches the same score, and then the prior alone orders them.
package prior
