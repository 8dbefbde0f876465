// Package window lays out the graph of one query as its propagation runs through it: the
// reached entities level by level, each with its senders parted into parents, siblings and
// children. It searches as it does so, since both pass over the same edges. It stands between
// the graph and the propagation.
package window
