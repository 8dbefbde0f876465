// Package rules finds what goes together in a graph: rules, of which the graph states how often they hold. They are
// reasons of facts that a person can check, and find what the graph lacks.
//
// A rule says that a relation leads from x to y where a path joins them, of one, two or three relations in either
// direction: its body. Bodies join pairs of entities, each pair once, by simple paths: no entity stands on one twice.
// So no path of several steps has an edge between x and y, and a rule does not see the fact of which it is a reason; a
// body of one step is another edge between them, such as the mirror of a symmetric relation's fact.
//
//	ann parent bob     bob parent cid     dora lives_in york
//	ann parent dora    bob parent eve     ann  grandparent cid
//
// The body (parent, parent) joins ann to cid and to eve. One of these two pairs is a fact of grandparent, which is its
// support; both are cases, since ann has an answer of grandparent: who has one is taken to have all of them. So the
// confidence is 1/2. The body (parent, ~parent) joins nobody, since its only paths lead back. As a reason of (ann,
// grandparent, eve), which is not stated, the rule holds in 1 of 2 cases, here by bob. A fact that is stated leaves the
// counts of its reasons: the rule is no reason of (ann, grandparent, cid), since it holds in none of 1 other case.
//
// Mine counts bodies of one and two steps exactly: for each first relation and each head it marks, by the last relation
// and the tail, the pairs that a path has joined. Where a graph has more than mostPaths paths, it counts one in some
// heads, drawn by their ids. Bodies of three steps are found where the edges around the head of a fact meet those
// around its tail, and the best are counted from some heads. FB15k-237 takes 5 seconds of a core and 60 MB.
package rules
