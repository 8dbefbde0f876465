package answer

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"tagnet/formats/storage"
	"tagnet/model/answer/explanation"
	"tagnet/model/answer/rules"
	"tagnet/model/graph"
)

// Why says why an entity may be an answer of a query.
type Why struct {
	// Reasons are the best rules of the graph that join the head and the tail of the fact.
	Reasons []rules.Reason
	// Paths are the best paths that the model read, where there are no reasons, or all walks are wanted.
	Paths []explanation.Path
}

// Why returns at most k reasons for an answer of a query, by rules of the graph, and at most k paths to it.
func (m *Model) Why(ctx context.Context, r *rules.Rules, q graph.Query, k int, walks bool) (Why, error) {
	why := Why{Reasons: r.Reasons(m.Graph, q.Fact(q.Answer, int32(m.Graph.BaseRelations)), k)}
	if len(why.Reasons) > 0 && !walks {
		return why, context.Cause(ctx)
	}
	explained, err := m.Explain(ctx, q, q.Answer, k, walks)
	why.Paths = explained.Paths
	return why, err
}

// Rules returns the rules of a graph, and the URL of their file in the folder of probabilities below one of some roots:
// it reads them, or mines and writes them below the first root that can be written. A file that is damaged or of
// another version is written again. Every run writes the same bytes, so that no lock is needed. progress is as in
// rules.Mine. unwritten is why the first root does not keep them. The URL is "" if none does.
func Rules(ctx context.Context, g *graph.Graph, threads int, progress func(done, total int),
	roots ...string) (r *rules.Rules, url string, unwritten, err error) {
	name := RulesFile(g)
	for _, root := range roots {
		url := storage.Join(root, ProbabilitiesFolder, name)
		if r, err := readRules(ctx, url, name, g.BaseRelations); r != nil || err != nil {
			return r, url, nil, err
		}
	}
	if r, err = rules.Mine(ctx, g, threads, progress); err != nil {
		return nil, "", nil, err
	}
	r.Graph = name
	text, err := r.Encode()
	if err == nil {
		r, err = rules.Parse(name, text) // with the file's checksum
	}
	for _, root := range roots {
		if err != nil || url != "" {
			break
		}
		file := storage.Join(root, ProbabilitiesFolder, name)
		failed := storage.CheckRegular(ctx, root, file)
		if failed == nil {
			failed = storage.WriteFile(ctx, file, text)
		}
		if failed == nil {
			url = file
		}
		unwritten = cmp.Or(unwritten, failed)
	}
	return r, url, unwritten, err
}

// RulesFile returns the name of the file of the rules of a graph, by a checksum of its facts.
func RulesFile(g *graph.Graph) string {
	const together = 1 << 16
	sum := sha256.New()
	add := func(data any) { _ = binary.Write(sum, binary.LittleEndian, data) } // a hash takes all
	add([]int64{int64(g.Entities), int64(g.BaseRelations)})
	for part := range slices.Chunk(g.Offsets, together) {
		add(part)
	}
	for _, ids := range [][]int32{g.Senders, g.Relations} {
		for part := range slices.Chunk(ids, together) {
			add(part)
		}
	}
	return fmt.Sprintf("rules-%.12x.json", sum.Sum(nil))
}

// readRules reads the rules of a graph from a file, or returns nil if there are none that can be used.
func readRules(ctx context.Context, url, graph string, relations int) (*rules.Rules, error) {
	text, err := storage.ReadText(ctx, url)
	if errors.Is(err, fs.ErrNotExist) || errors.As(err, new(*storage.Unreadable)) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r, err := rules.Parse(url, text)
	if err != nil || r.Graph != graph || r.Relations != relations {
		return nil, nil // they are mined again
	}
	return r, nil
}
