package learn

import (
	"fmt"
	"math"

	"tagnet/model/answer"
	"tagnet/model/answer/workload"
	"tagnet/model/engine/relations"
	"tagnet/model/graph"
	"tagnet/model/graph/synthetic"
	"tagnet/model/parallel"
	"tagnet/model/steps"
	"tagnet/model/weights/checkpoint"
	"tagnet/model/weights/configuration"
)

// Mixture has the graphs of a training on several. Each step draws a graph and takes the next batch of its
// facts. All facts of a graph are drawn once, in random order, before one is drawn again.
type Mixture struct {
	// Description is recorded in checkpoints.
	Description checkpoint.Mixture
	// TrainingGraphs are the graphs of Description.Graphs, ValidationGraphs the graphs of Description.Valid.
	TrainingGraphs   []TrainingGraph
	ValidationGraphs []ValidationGraph
}

// ValidationGraph is a graph with validation queries.
type ValidationGraph struct {
	// Name is empty for a single graph.
	Name string
	// Graph is the graph that the queries are about, Relations are the edges between its relations or nil.
	Graph     *graph.Graph
	Relations *relations.Graph
	// Entities and BaseRelations are names, for errors.
	Entities, BaseRelations []string
	Queries                 []answer.Request
	// All is the number of validation queries, of which Queries may be a sample.
	All int64
	// Parts, in place of Queries, has the queries with the parts of the graph that they propagate through.
	Parts *workload.Parts
}

// rows returns the number of answers that are ranked.
func (t ValidationGraph) rows() int64 {
	if t.Parts != nil {
		return t.Parts.Rows()
	}
	return answer.Rows(t.Queries)
}

// each calls each with all queries, or with ranges of them one after the other.
func (t ValidationGraph) each(each func([]answer.Request) error) error {
	if t.Parts == nil {
		return each(t.Queries)
	}
	return workload.Each(t.Parts, 0, t.Parts.Len(), each)
}

// mixed is the stepSource of several graphs.
type mixed struct {
	description   checkpoint.Mixture
	configuration configuration.Configuration
	seed          uint64
	bounds        []float64 // upper bounds of the graphs in [0, 1]: a random number draws the first graph whose bound is above it
	walks         []*walk   // through the graphs; the last one, of made graphs, is through the current one
	stepsOn       []int64   // the steps made on each
	next          int64     // the step of the training that comes next
	first         int64     // of the epoch
}

// Purposes keep the random numbers of a mixture apart.
const (
	purposeTurn uint64 = iota + 101
	purposeWalk
	purposeMade
)

// newMixed returns the steps of a mixture. A graph's share of them is the length of its interval in [0, 1]; made graphs
// have the last one.
func newMixed(m *Mixture, c configuration.Configuration, seed uint64) *mixed {
	d := m.Description
	mix := &mixed{description: d, configuration: c, seed: seed}
	sum, real := 0., 1.
	if d.Made != nil {
		real -= d.Made.Share
	}
	for i, l := range m.TrainingGraphs {
		mix.walks = append(mix.walks, newWalk(&trainingGraph{TrainingGraph: l, name: d.Graphs[i].Name}, parallel.Seed(seed, purposeWalk, uint64(i))))
		sum += weight(d, i)
	}
	bound := 0.
	for i := range m.TrainingGraphs {
		bound += real * weight(d, i) / sum
		mix.bounds = append(mix.bounds, bound)
	}
	if d.Made != nil {
		mix.walks, mix.bounds = append(mix.walks, nil), append(mix.bounds, 1)
	}
	mix.stepsOn = make([]int64, len(mix.walks))
	return mix
}

// weight returns the weight of a graph, to which its probability is proportional.
func weight(d checkpoint.Mixture, graph int) float64 {
	return math.Pow(float64(d.Graphs[graph].Facts), d.Exponent)
}

func (m *mixed) begin(epoch int) (n int, queries int64) {
	m.first = int64(epoch-1) * int64(m.description.Steps)
	return m.description.Steps, int64(m.description.Steps) * int64(m.configuration.BatchSize)
}

// at returns the batch of a step, from 0, of the epoch. Steps are made in order; those before the first one are passed.
func (m *mixed) at(step int) (batch, error) {
	target := m.first + int64(step)
	for ; m.next < target; m.next++ { // a training that resumes passes the steps before
		graph := m.graphOf(m.next)
		if !m.makes(graph) {
			m.walks[graph].next(m.configuration)
		}
		m.stepsOn[graph]++
	}
	graph := m.graphOf(target)
	if m.makes(graph) {
		if err := m.makeGraph(graph); err != nil {
			return batch{}, err
		}
	}
	b := m.walks[graph].next(m.configuration)
	b.graph = graph
	m.stepsOn[graph]++
	m.next++
	return b, nil
}

func (m *mixed) graphOf(step int64) int {
	u := float64(parallel.Seed(m.seed, purposeTurn, uint64(step))>>11) / (1 << 53)
	for i, bound := range m.bounds {
		if u < bound {
			return i
		}
	}
	return len(m.bounds) - 1
}

// makes reports whether a graph is the one of made graphs.
func (m *mixed) makes(graph int) bool { return graph == len(m.description.Graphs) }

// makeGraph makes the graph of the next step on made graphs, unless the current one has steps left.
func (m *mixed) makeGraph(graph int) error {
	made := m.description.Made
	number, position := m.stepsOn[graph]/int64(made.Steps), m.stepsOn[graph]%int64(made.Steps)
	if position > 0 && m.walks[graph] != nil {
		return nil
	}
	seed := parallel.Seed(m.seed, purposeMade, uint64(number))
	l, err := Make(seed, made.Options)
	if err != nil {
		return err
	}
	w := newWalk(&trainingGraph{TrainingGraph: l, name: fmt.Sprintf("%s %d", checkpoint.MadeGraphs, number+1)}, seed)
	for range position {
		w.next(m.configuration)
	}
	m.walks[graph] = w
	return nil
}

// Make makes a graph to learn from. Its held out facts are not used.
func Make(seed uint64, o synthetic.Options) (TrainingGraph, error) {
	made, err := synthetic.New(seed, o)
	if err != nil {
		return TrainingGraph{}, err
	}
	g, err := graph.New(made.Entities, made.Relations, made.Facts)
	if err != nil {
		return TrainingGraph{}, fmt.Errorf("a graph made from seed %d: %w", seed, err)
	}
	return TrainingGraph{
		Graph: g, Relations: relations.GraphOf(g),
		Train: steps.TrainingSet{Facts: made.Facts, BaseRelations: int32(made.Relations), Graph: g},
	}, nil
}

// trainingGraphs returns each graph, of made ones the current.
func (m *mixed) trainingGraphs() (all []*trainingGraph) {
	for _, w := range m.walks {
		if w != nil {
			all = append(all, w.graph)
		}
	}
	return all
}

func (m *mixed) graphs() int { return len(m.walks) }

// walk goes through the batches of a graph, epoch after epoch.
type walk struct {
	graph   *trainingGraph
	seed    uint64
	epoch   int
	batches [][]steps.Draw // left of the epoch
}

func newWalk(l *trainingGraph, seed uint64) *walk { return &walk{graph: l, seed: seed} }

func (w *walk) next(c configuration.Configuration) batch {
	if len(w.batches) == 0 {
		w.epoch++
		w.batches = steps.Schedule(w.graph.Train.Keys(c), c, w.seed, w.epoch)
	}
	b := batch{trainingGraph: w.graph, draws: w.batches[0], seed: w.seed, epoch: w.epoch}
	w.batches = w.batches[1:]
	return b
}
