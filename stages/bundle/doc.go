// Package bundle cuts the queries of a split into the units that a core works on. Queries are
// grouped by source, and within a source by relation, since one search serves a source and one
// propagation serves a question; then they are cut into bundles of about equal cost and bounded
// memory. A bundle is an Arrow record batch: it carries ids, the answers asked for, the answers
// known, and each source's distance row, never a copy of the graph.
//
// It stands between the graph that preprocess made and the model stages that learn and score.
// What a bundle holds depends on the queries and the parameters alone, not on how the work
// was shared out.
package bundle
