// Package parts chooses the part of a graph that a query propagates through, so that its cost follows the size of the
// part: the entities of the largest personalized PageRank from the source, as one-shot subgraphs have them (Zhou et
// al., ICLR 2024), and all edges between them.
//
// # The choice
//
// Where the search reaches no more entities within the hops than the part may have, the part has all of them. Elsewhere
// mass is pushed from the source, hop by hop over edges and inverse edges. An entity u with mass m sends each of its
// edges the share
//
//	max(1, (17/20 m) / degree(u))
//
// and no share smaller than a floor: an entity whose share would be less sends nothing. The score of an entity is the
// sum of the masses that arrive at it in all hops. But for the floor and for rounding that is its PageRank with a
// restart probability of 3/20, cut at the hops, times a constant. The part is the source and the entities of the
// highest scores; of equal scores the smaller id is taken.
//
// Masses are integers, so that no order of adding them changes a bit, and hops are complete before the next begins:
// rounds of a join compute the same.
//
// # The floor
//
// The masses of a hop add up to about the source's first mass at most, so a floor of 1/n of that mass allows n edges a
// hop. n is four times the entities of the part: the cost follows the size of the part, not of the graph. An entity
// with very many edges, such as a class of a hierarchy, does not send. Where fewer entities than the part may have get
// any mass, the push is repeated once, with an eighth of the floor, until four times as many have some after a hop. If
// they are still fewer, the part is smaller than it may be: filling it would take the edges of such entities.
//
// # Without the graph
//
// A Finder asks a graph for the edges of entities. Partial is a finder whose graph arrives in lists that blocks of
// it make: it searches in the lists so far, and returns what the next hop wants. Both run the same code, so the
// parts are the same.
//
// # Degrees
//
// The degree of an entity of the part is its degree in the query's graph, edges to other entities included: a mean is
// over as many messages as ever, the missing ones being zero, and the scalers of PNA and degree messages mean what they
// mean in the whole graph.
//
// # Folders
//
// A folder of parts, each with the queries that propagate through it, is for training and scoring these queries where
// the graph does not fit. It has files of parts (tables.Part), a header that describes the queries, the reach and the
// whole graph, and, last, a manifest. In a folder for training each part has one query, whose fact leaves the graph
// before the part is found. In all other folders a part has all queries of its source.
package parts
