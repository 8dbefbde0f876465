// Package baseline has what a model has to beat to be trusted with a graph: rankings of all entities that need no training (Popularity,
// Rules), and how much of a fact the graph gives away (Links).
//
// All of them look at a graph that lacks the facts which are ranked. Scores are ranked as those of a model, by package ranking: many are
// equal, so that it matters how ties count.
package baseline
