package main

import (
	"bytes"
	"context"

	"tagnet/formats/storage"
	"tagnet/formats/strict"
)

// peer is a measurement of a program: its quality on a graph after some processor seconds of training on one thread.
type peer struct {
	Graph   string  `json:"graph"`
	Metric  string  `json:"metric"`
	Program string  `json:"program"`
	Seconds float64 `json:"seconds"`
	Value   float64 `json:"value"`
}

// readPeers reads the measurements of a file, a line each.
func readPeers(ctx context.Context, path string) (all []peer, err error) {
	text, err := storage.ReadFile(ctx, path)
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(text) {
		var p peer
		if err := strict.Decode(path, line, &p); err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// Peers returns the measurements that follow each other and are of one graph, metric and program.
func (b *benchmarksPage) Peers() (rows [][]peer) {
	for _, p := range b.peers {
		last := len(rows) - 1
		if last >= 0 && rows[last][0].Graph == p.Graph && rows[last][0].Metric == p.Metric && rows[last][0].Program == p.Program {
			rows[last] = append(rows[last], p)
			continue
		}
		rows = append(rows, []peer{p})
	}
	return rows
}
