// Package rules finds what goes together in a graph: rules, of which the graph itself states how often they hold.
//
// A rule says that a relation leads from x to y where a path joins them, of one, two or three relations in either
// direction: its body. Bodies join pairs of entities, each pair once, by simple paths: no entity stands on one twice.
// So no path has an edge between x and y, and a rule does not see the fact that it is asked for; a body of one step is
// another edge between them.
//
//	ann  parent bob     bob  parent cid     cid  lives_in york
//	bob  parent dora    dora lives_in york  ann  grandparent cid
//
// The body (parent, parent) joins ann to cid and to dora. One of these two pairs is a fact of grandparent, which is its
// support; both are cases, since ann has an answer of grandparent: whoever has one is taken to have all of them. The
// confidence is 1/2. The body (parent, ~parent) joins nobody, since its only paths lead back.
//
// Mine counts bodies of one and two steps exactly: for each first relation and each head it marks the pairs, by the
// second relation and the tail, that a path has joined. Where the graph is so large that this takes minutes, it counts
// one in some heads. Bodies of three steps are found where the edges around a fact's head meet those around its tail,
// and the best are counted from sampled heads.
package rules
