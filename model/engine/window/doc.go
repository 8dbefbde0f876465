// Package window lays out the part of a graph that one source reaches, in the order in which a
// propagation works through it. It searches and sorts in one pass over the edges. It reads a
// graph.Graph; package propagation reads its layouts.
//
// # Rows and senders
//
// The entities a search reaches get rows 0..n-1, level by level. Within a level they ascend by
// degree, so that entities which share a degree, and with it a folded weight matrix, are neighbors.
//
// Every edge has its inverse, so the distances of its ends differ by at most one. The senders of an
// entity are therefore of three kinds: parents, one hop nearer to the source, siblings, as far as
// the entity itself, and children, one hop farther. Let the age of an entity's state be the number
// of layers since the search reached it. A message is empty until its sender is reached, so an
// entity has messages from its parents alone at age 0, from parents and siblings at age 1, and from
// all three kinds from age 2 on. Each list of senders is sorted by kind; the senders of every
// layer are then a prefix of it, and the propagation tests no edge.
//
// An example, with entities a to h, two relations r and k, and the facts a-r-b, a-r-c, b-k-c,
// b-r-d, b-r-e, c-r-f, f-r-g. The window of source a with two hops, children admitted:
//
//	row entity distance degree   parents  siblings  children
//	0   a      0        2                           b ~r, c ~r
//	1   c      1        3        a r      b k       f ~r
//	2   b      1        4        a r      c ~k      d ~r, e ~r
//	3   d      2        1        b r
//	4   e      2        1        b r
//	5   f      2        2        c r
//
// Entities g (three hops away) and h (no edge) have no row, and the edge g ~r f is not listed.
//
// # Equivalent states
//
// In the example d and e have equal states in every layer, whatever the query's relation: both have
// degree 1 and one message, from b along r. FindEquivalent groups the rows of a level, age by age.
// Two rows are equivalent at an age if they were at the age before, and if their messages come
// from equivalent senders along the same relations in the same order. One row of a group is its
// representative, whose state is computed; the others copy it. The example's rows at age 0:
//
//	level  representatives  duplicates
//	1      c, b
//	2      d, f             e (a copy of d)
//
// Rows b and c would need equal degrees to be equivalent. With a third layer d and e would be
// equivalent at age 1 too, since neither has a sibling. In WN18RR, where many entities hang on one hub by
// one relation, every other state is a copy; in FB15k-237 every eleventh.
package window
