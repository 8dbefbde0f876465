package budget

import (
	"slices"

	"tagnet/model/weights/configuration"
)

// requestsRow is the name of what requests take.
const requestsRow = "requests"

// Requests are the limits of what a server holds of its requests.
type Requests struct {
	// Queries may be under way, each with so many Answers. A request has a Body of so many bytes.
	Queries, Answers, Body int
	// Connections may be open.
	Connections int
}

// Serve estimates answering the queries of requests, explaining answers, and fitting probabilities to so many observations meanwhile; 0 fits none.
func Serve(s Sizes, c configuration.Configuration, r Requests, observations int64) Estimate {
	const (
		perName       = 64       // an entry of the map from names to ids
		perConnection = 64 << 10 // header, buffers and stacks
		perAnswer     = 2 * 160  // beside the name, as a value and as JSON
		perMessage    = 32       // that an explanation weighs
	)
	name := s.NameBytes / max(1, s.Entities)
	layers := int64(c.Layers)
	if c.Policy == configuration.PolicyWindow {
		layers = min(layers, int64(c.Delta)+1) // that admit an edge
	}
	shared, thread := ranking(s, c, r.Answers)
	own := int64(0)
	if c.Source() == configuration.RelationsGraph { // another copy of it, and rows of bits while it is made
		own = between(s, c) + s.Relations*s.Relations/8
	}
	probabilities := int64(0)
	if observations > 0 {
		probabilities = surroundings(s) + perDrawn*s.Edges + perObservation*observations
	}
	return Estimate{
		Task: "serving this graph",
		Rows: []Row{
			{"graph", s.graph() + perName*s.Entities + s.NameBytes + s.Entities}, // names.Index has a copy of the names
			{"queries", s.answers()},
			{"parameters", 2*8*parameterCount(s, c) + folded(s, c) + shared + own}, // explanations have a copy
			{"probabilities", probabilities},
			{requestsRow, int64(r.Queries)*(int64(r.Answers)*(perAnswer+name)+2*int64(r.Body)) + perConnection*int64(r.Connections)},
		},
		Thread: thread + propagator(s, c, true) + perMessage*layers*s.Edges,
	}
}

// Beside returns the estimate of serving a graph while requests about an earlier one, with so many threads, are finished. Both have the same
// requests.
func (e Estimate) Beside(earlier Estimate, threads int) Estimate {
	bytes := int64(threads) * earlier.Thread
	for _, r := range earlier.Rows {
		if r.Name != requestsRow {
			bytes += r.Bytes
		}
	}
	e.Task += " beside the earlier one"
	e.Rows = append(slices.Clone(e.Rows), Row{"the earlier graph", bytes})
	return e
}
