package inference

import (
	"context"
	"fmt"
	"sync"

	"tagnet/model/propagation"
)

// ground is what queries of a group of relations share: the ground states, and for each relation the scores of entities that have
// them in the end. It is that of one group at a time: queries of others wait until no worker holds it, in the order in which they come.
type ground struct {
	scorer *Scorer
	states *propagation.Ground

	turn  chan struct{} // full while somebody waits to hold it
	freed chan struct{} // has a value once there are no holders

	mutex   sync.Mutex
	holders int
	there   bool // the states are those of group
	group   int32

	scoring sync.Mutex
	scores  map[int32][]float32 // by relation of the group
}

func newGround(s *Scorer) *ground {
	return &ground{scorer: s, states: propagation.NewGround(s.first), turn: make(chan struct{}, 1), freed: make(chan struct{}, 1), scores: map[int32][]float32{}}
}

// hold is Scorer.Hold.
func (g *ground) hold(ctx context.Context, relation int32, threads int) (release func(), err error) {
	s := g.scorer
	if relation < 0 || int(relation) >= s.graph.RelationCount() {
		return nil, fmt.Errorf("relation %d is out of range 0..%d", relation, s.graph.RelationCount()-1)
	}
	select {
	case g.turn <- struct{}{}:
		defer func() { <-g.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	for !g.available(s.Group(relation)) {
		select {
		case <-g.freed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if group := s.Group(relation); !g.there || g.group != group {
		g.there = false
		clear(g.scores)
		if err := g.states.Forward(ctx, s.weights, relation, threads); err != nil {
			return nil, err
		}
		g.there, g.group = true, group
	}
	g.holders++
	return g.release, nil
}

// join is hold for a query whose group is held already, if it is. It waits for nobody: those that wait may wait for its caller.
func (g *ground) join(relation int32) (joined bool) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if joined = g.holders > 0 && g.group == g.scorer.Group(relation); joined {
		g.holders++
	}
	return joined
}

// available reports whether a group can be held now.
func (g *ground) available(group int32) bool {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	return g.holders == 0 || g.group == group
}

func (g *ground) release() {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if g.holders--; g.holders == 0 {
		select {
		case g.freed <- struct{}{}:
		default:
		}
	}
}

// score sets scores, [V], to those of the ground states for a relation of the group, whose MLP is given. It returns hidden, a buffer
// that may have grown.
func (g *ground) score(relation int32, l queryMLP, scores, hidden []float32) []float32 {
	g.scoring.Lock()
	defer g.scoring.Unlock()
	if g.scores[relation] == nil {
		of, values := make([]float32, len(scores)), []float32(nil)
		g.states.Final(func(entities []int32, states []float32) {
			values = grow(values, len(entities))
			hidden = l.rows(g.scorer.kernel, states, values, hidden)
			for i, o := range entities {
				of[o] = values[i]
			}
		})
		g.scores[relation] = of
	}
	copy(scores, g.scores[relation])
	return hidden
}
