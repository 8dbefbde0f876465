package bundle

import (
	"context"
	"time"

	"tagnet/model/engine/parts"
)

// Sampled is the work of finding some parts, from which the work of all is estimated.
type Sampled struct {
	// Parts, Entities and Edges are how many the parts found have.
	Parts, Entities, Edges int64
	// Searching is the time of all searches and Reading the time of reading the edges that they need.
	Searching, Reading time.Duration
}

// Sample finds the first part of each of some files in this process. It reads the edges file by file.
func (p Params) Sample(ctx context.Context, files []File) (Sampled, error) {
	sampled, finder := Sampled{}, parts.NewPartial(p.Header.Reach, p.Header.Layers)
	all := map[int]*search{}
	for _, f := range files {
		s := p.searches(f)[0]
		all[s.key()] = s
	}
	// The rounds, as in the pipeline.
	start := time.Now()
	for range parts.Rounds(p.Header.Layers) {
		requests := map[int][]*request{}
		for _, s := range all {
			for number, r := range p.advance(finder, s) {
				requests[number] = append(requests[number], r)
			}
		}
		if err := p.sampleBlocks(ctx, requests, &sampled, func(block *parts.EdgeBlock, _ int, r *request) {
			for entity, l := range r.answer(block) {
				all[r.search].known[entity] = l
			}
		}); err != nil {
			return sampled, err
		}
	}
	// The pieces of the parts, which are counted and dropped.
	requests := map[int][]*request{}
	for _, s := range all {
		p.advance(finder, s)
		pieces, err := p.pieces(s)
		if err != nil {
			return sampled, err
		}
		for number, r := range pieces {
			requests[number] = append(requests[number], r)
		}
		sampled.Parts, sampled.Entities = sampled.Parts+1, sampled.Entities+int64(len(s.entities))
	}
	var made piece
	err := p.sampleBlocks(ctx, requests, &sampled, func(block *parts.EdgeBlock, number int, r *request) {
		p.makePiece(block, number, r, &made)
		sampled.Edges += int64(len(made.Senders))
	})
	sampled.Searching = time.Since(start) - sampled.Reading
	return sampled, err
}

// sampleBlocks reads the requested blocks one by one and calls each for every request.
func (p Params) sampleBlocks(ctx context.Context, requests map[int][]*request, sampled *Sampled,
	each func(block *parts.EdgeBlock, number int, r *request)) error {
	for number, list := range requests {
		start := time.Now()
		block, err := p.readBlock(ctx, number)
		if err != nil {
			return err
		}
		sampled.Reading += time.Since(start)
		for _, r := range list {
			each(block, number, r)
		}
	}
	return nil
}
