// Package synthetic makes knowledge graphs in which rules hold: numbers of entities and relations, degrees, rules,
// their confidence and noise are all drawn from a seed. A graph has base relations, whose facts are drawn, and derived
// ones, whose facts follow from a rule: a chain of one to three relations, in either direction, as in
//
//	uncle(x, y) if parent(x, z) and brother(z, y)
//
// In graphs with hidden classes, which are small and dense, base relations hold between entities of certain classes.
//
// Some of the facts that follow are held out, so that the answers to queries about them are known. A foundation model
// can train on an endless supply of such graphs; and what it answers on them shows which rules it has learned.
//
// Samples are graphs with names, such as a family or a shop, whose rules are known; Kinds are like them, of any size.
// A PowerLaw has no rules but hubs, and any size. Holdings lack another share of each relation.
package synthetic
