package answer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tagnet/model/answer/ranking"
	"tagnet/model/engine/device"
	"tagnet/model/engine/inference"
	"tagnet/model/engine/relations"
	"tagnet/model/graph"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// Device computes for a model in the CPU's place, as long as it can; accelerator.Selection is one.
type Device interface {
	// Devices is the number of devices that score, 0 once the CPU has taken over.
	Devices() int
	// NewScorer returns a scorer of a model over a graph, with a copy of the weights on the devices. between is the
	// graph of the relations, or nil: the model makes it if it needs one.
	NewScorer(g *graph.Graph, between *relations.Graph, c configuration.Configuration, p *parameters.Set[float32]) (Scorer, error)
	// FallBack lets the CPU take over after an error of NewScorer, or for lack of memory, and returns true, unless the
	// user chose the device. String then gives the reason.
	FallBack(err error) bool
	// Discard gives up a device that was lost, by the error of a scorer. It does nothing after other errors.
	Discard(err error)
	// String names the devices that compute, or says why the CPU does; it is "" if the user chose the CPU.
	String() string
}

// Scorer scores all entities for queries on a device, and keeps the ranks and the best candidates. It is for one
// goroutine at a time.
type Scorer interface {
	// Score answers queries without a Part, all of whose ids the graph has, in their order, with the selected
	// candidates, at most as many as the graph has entities. A score that is NaN or infinite is an error,
	// inference.ErrNotFinite, that names the query.
	Score(ctx context.Context, queries []Request, list ranking.Selection) (*Scored, error)
	// Close frees what the scorer holds.
	Close() error
}

// answerOnDevice answers queries on a device. It returns neither results nor an error where the processor has to
// answer; then want.Done leaves out the rows that the device had done.
func (m *Model) answerOnDevice(ctx context.Context, queries []Request, want *Kept) (*Scored, error) {
	if err := m.busy.Lock(ctx); err != nil {
		return nil, err
	}
	defer m.busy.Unlock()
	if err := m.prepare(); err != nil || m.scorer == nil {
		return nil, err
	}
	if err := check(queries, m.Graph.Entities, m.Graph.RelationCount()); err != nil {
		return nil, err
	}
	done, onDevice := want.Done, 0 // rows that are done
	scored, err := m.score(ctx, queries, want.Selection, func(rows int) {
		onDevice += rows
		done(rows)
	})
	if !errors.Is(err, device.ErrMemory) || !m.fallBack(err) {
		if errors.Is(err, device.ErrLost) {
			_ = m.release() // the first error says more
			m.Resources.Device.Discard(err)
		}
		return scored, err
	}
	want.Done = func(rows int) {
		repeated := min(onDevice, rows)
		onDevice -= repeated
		if rows > repeated {
			done(rows - repeated)
		}
	}
	return nil, m.release()
}

// Prepare makes the device's scorer, which Answer makes otherwise, so that an error of the device comes early.
func (m *Model) Prepare() error {
	_ = m.busy.Lock(context.Background()) // which does not end
	defer m.busy.Unlock()
	return m.prepare()
}

// prepare makes the scorer, unless the processor scores.
func (m *Model) prepare() error {
	switch {
	case m.Resources.Device == nil:
		return nil
	case m.Resources.Device.Devices() == 0: // maybe since the processor took over from a scorer of another graph
		return m.release()
	case m.scorer != nil:
		return nil
	case m.closed:
		return errors.New("scoring: another scoring of this process has taken over the device: run again")
	}
	scorer, err := m.Resources.Device.NewScorer(m.Graph, m.between(), m.Configuration, m.Parameters)
	switch {
	case err == nil:
		m.scorer = scorer
	case !m.fallBack(err):
		m.Resources.Device.Discard(err)
		return fmt.Errorf("preparing to score: %w", err)
	}
	return nil
}

// Computing returns a line about the device or CPU that the model computes on, and why; "" if the user chose the CPU.
func (m *Model) Computing() string {
	_ = m.busy.Lock(context.Background()) // which does not end
	defer m.busy.Unlock()
	if m.Resources.Device == nil {
		return ""
	}
	return m.Resources.Device.String()
}

// fallBack reports whether the processor takes over after an error, and announces that.
func (m *Model) fallBack(err error) bool {
	if !m.Resources.Device.FallBack(err) {
		return false
	}
	if m.Resources.Announce != nil {
		m.Resources.Announce(m.Resources.Device.String())
	}
	return true
}

// groupSize is the number of queries that a device gets at a time: enough to keep a large device
// busy, few enough that an interrupt takes effect within seconds on a small one.
const groupSize = 512

// score answers queries with the scorer, a group after the other.
func (m *Model) score(ctx context.Context, queries []Request, list ranking.Selection, done func(rows int)) (*Scored, error) {
	list.K = min(list.K, m.Graph.Entities)
	together := groupSize * m.Resources.Device.Devices()
	out := &Scored{}
	for len(queries) > 0 {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		group := queries[:min(together, len(queries))]
		queries = queries[len(group):]
		begun := time.Now()
		scored, err := m.scorer.Score(ctx, group, list)
		if errors.Is(err, inference.ErrNotFinite) {
			return nil, err // it names the query
		}
		if err != nil {
			first, last := group[0], group[len(group)-1]
			return nil, fmt.Errorf("scoring (%d, %d, ?) to (%d, %d, ?): %w", first.Source, first.Relation, last.Source, last.Relation, err)
		}
		m.watch.say(len(group), begun)
		out.Queries, out.Messages = append(out.Queries, scored.Queries...), out.Messages+scored.Messages
		for _, q := range group {
			done(len(q.Rows))
		}
	}
	return out, nil
}

// Close frees what the model holds on a device, after the calls of Answer.
func (m *Model) Close() error {
	_ = m.busy.Lock(context.Background()) // which does not end
	defer m.busy.Unlock()
	m.closed = true
	return m.release()
}

// release closes the scorer.
func (m *Model) release() error {
	scorer := m.scorer
	m.scorer = nil
	if scorer == nil {
		return nil
	}
	return scorer.Close()
}
