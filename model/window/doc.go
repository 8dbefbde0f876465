// Package window lays out the graph of one query as its propagation runs through it: the
// reached entities level by level, each with its senders parted into parents, siblings and
// children. It stands between the search and the propagation.
package window
