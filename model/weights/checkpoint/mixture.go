package checkpoint

import (
	"fmt"

	"tagnet/formats/strict"
	"tagnet/model/graph/synthetic"
)

// Mixture describes the graphs of a training on several. It is compared when a training resumes, and tells which graphs
// a model has seen.
type Mixture struct {
	// Graphs are the graphs that steps train on; none, where all are made.
	Graphs []Seen `json:"graphs"`
	// Exponent sets the probabilities of graphs: proportional to the number of facts to this power.
	Exponent float64 `json:"exponent"`
	// Made describes the steps on graphs that are made from rules; nil for none.
	Made *Made `json:"made,omitempty"`
	// Steps is the number of steps of an epoch.
	Steps int `json:"steps"`
	// Valid are the graphs whose validation queries choose the best epoch, by the mean of their metrics.
	Valid []Seen `json:"valid"`
}

// Seen identifies a graph.
type Seen struct {
	// Name is the name of its workspace.
	Name      string `json:"name"`
	Entities  int    `json:"entities"`
	Relations int    `json:"relations"`
	// Facts counts the facts of the graph, Queries the validation queries of a graph that is validated on.
	Facts   int64 `json:"facts"`
	Queries int64 `json:"queries,omitempty"`
	// Checksum is the checksum of the manifest of the graph's folder, equal if all facts are.
	Checksum string `json:"graph"`
}

// Made describes graphs that are made.
type Made struct {
	// Share is the share of the steps, Steps the number of steps on a graph before the next one is made.
	Share float64 `json:"share"`
	Steps int     `json:"steps"`
	// Options bound their sizes.
	Options synthetic.Options `json:"options"`
}

// MadeGraphs is the name of graphs that are made.
const MadeGraphs = "made"

// Names returns the names of the graphs, in the order of Partial.Graphs: made ones are the last.
func (m Mixture) Names() (list []string) {
	for _, g := range m.Graphs {
		list = append(list, g.Name)
	}
	if m.Made != nil {
		list = append(list, MadeGraphs)
	}
	return list
}

// Check returns an error for a mixture that no training has.
func (m Mixture) Check() error {
	if m.Steps < 1 {
		return fmt.Errorf("mixture.steps is %d, want 1 or more", m.Steps)
	}
	if made := m.Made; made != nil {
		if err := made.Options.Check(); err != nil {
			return fmt.Errorf("mixture.made: %w", err)
		}
		if made.Steps < 1 {
			return fmt.Errorf("mixture.made.steps is %d, want 1 or more", made.Steps)
		}
		if !(made.Share > 0 && made.Share <= 1) {
			return fmt.Errorf("mixture.made.share is %g, want more than 0 and at most 1", made.Share)
		}
	}
	if len(m.Graphs) == 0 && (m.Made == nil || m.Made.Share < 1) {
		return fmt.Errorf("mixture has no graphs")
	}
	return strict.AtLeastZero("mixture.exponent", m.Exponent)
}
