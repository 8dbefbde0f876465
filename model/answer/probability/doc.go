// Package probability says how likely a fact is true that the graph does not state.
//
// A fact (h, r, t) is an answer of two queries, (h, r, ?) and (t, ~r, ?). An Observation has the scores, ranks and hops
// by both, in the graph without the fact. Surroundings add features of its two entities in the same graph: which
// relations go together (habits), other answers, degrees. A fact of the graph and one that it lacks are so observed in
// the same way, and no feature tells the two apart by how it was made.
//
// Fit compares labeled facts, which are facts of the graph, with unlabeled candidates, which the graph lacks. The
// latter are not false: some are the missing facts that one looks for. If the missing facts are like the labeled ones,
// an unlabeled candidate x is true with probability (Elkan and Noto, KDD 2008)
//
//	p(x) = b (m / n) g(x) / (1 - g(x))
//
// where n facts are labeled, the unlabeled candidates come from queries that are drawn with rate b, m facts are missing
// among all candidates, and g(x) is the share of labeled ones among observations like x. Only candidates that one of
// both queries ranks among its best K count. Where observing all takes too long, candidates that are seldom true are
// drawn less often than with rate b, and each counts as several (Sample).
//
// g is a logistic regression, with intercepts by relation and hops, and a monotone curve over its log odds. Five folds
// of facts, by their keys, have a regression each, which is fitted to the other four: a fact is always judged by a
// regression that has not seen it. The curve gives each range of log odds the number of its labeled and unlabeled
// observations, pooled until their odds ascend (Ayer, Brunk, Ewing, Reid and Silverman, 1955). The odds are then
// scaled, and cut at .99, so that the probabilities of all candidates sum to m. A higher score never lowers the log
// odds, nor p.
//
// For example, 100 facts are labeled. Of the candidates of half of the queries (b = 1/2), the curve has two ranges: one
// with 80 labeled facts and 10 unlabeled candidates, one with 20 and 990. Presume that 50 facts are missing (m). The
// odds are 8 and .0202, so that p is .5 x .5 x 8 = 2, cut at .99, and .005. There are 2,000 candidates: 20 x .99 +
// 1,980 x .005 = 30. Scaled until the sum is 50, p is .99 and .015.
//
// How many facts are missing no data can tell: it is presumed (Presumed), as a share of all facts, or of a relation's.
// Of a relation the data have an upper bound (Estimator.Most), if its labeled facts are like all others. Two things are
// known of single facts:
//
//   - A fact (h, r, t) whose mirror (t, q, h) is stated, where r and q mostly hold together (rules.Mirror). Its odds
//     are the geometric mean of those above and those of the mirror: where nobody said how many facts are missing, of
//     the rules' confidence; else of the share that is true if as many mirrors are missing as other facts.
//   - Where one tail at most is true (rules.Functional, and the graph has none), and the p of the query's K best new
//     answers add up to more than 1, those of .1 and more are divided so that the sum is 1; so for heads.
//     Estimator.Rivals names these queries, which package answer makes.
package probability
