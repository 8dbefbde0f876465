// Package discovery makes one list of new facts out of the answers to many queries. Each fact (h, r, t) belongs to two
// queries: as an answer of (h, r, ?) and as one of (t, ~r, ?). A fact among the best answers of one of these queries is
// a Candidate. The other query is made, too, so that the list has an Observation of each fact, which
// package probability judges. The list is the surest ones of all relations.
//
// No step holds all candidates. They lie in spill files, and external sorts bring together what belongs together: the
// rows of a query (Lacking), the two sides of a fact (Join), the entries of a list in its order.
//
// For example, (a, r, ?) lists b and c, and (b, ~r, ?) lists a. The queries and their answers are, sorted, with what
// each answer is wanted from where the other query lists it:
//
//	(a, r, b)  listed, wanted       (a, r, c)  listed
//	(b, ~r, a) listed, wanted       (c, ~r, a) wanted
//
// Only (c, ~r, ?) has to be asked, for a. Then (a, r, b) and (a, r, c) are complete.
package discovery
