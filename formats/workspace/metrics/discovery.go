package metrics

import "tagnet/formats/strict"

// DiscoveryFile is the file of a Discovery.
const DiscoveryFile = "facts.json"

// Discovery describes a list of new facts, in facts.json.
type Discovery struct {
	// Graph is the graph that was asked: all, or train.
	Graph      string `json:"graph"`
	Checkpoint string `json:"checkpoint"`
	// TopK is the number of best new answers of a query that become candidates. Queries queries gave Candidates facts;
	// BackwardQueries further queries were for facts that only one of their two queries listed. Listed is the number of
	// facts of the list.
	TopK            int   `json:"top_k"`
	Queries         int64 `json:"queries"`
	BackwardQueries int64 `json:"backward_queries"`
	Candidates      int64 `json:"candidates"`
	Listed          int64 `json:"listed"`
	// Probabilities says what the probabilities presume, nil where there are none.
	Probabilities *Presumed `json:"probabilities,omitempty"`
}

// Presumed says how many facts probabilities presume to be missing.
type Presumed struct {
	// Missing is the share of the facts of all relations but those of Shares, by name, which miss a share of their own.
	// Nobody said so where it is Guessed, the default.
	Missing float64 `json:"missing"`
	Guessed bool    `json:"missing_guessed,omitempty"`
	// Told says that verdicts tell both.
	Told   bool               `json:"missing_told,omitempty"`
	Shares map[string]float64 `json:"missing_by_relation,omitempty"`
	// Most has how many facts are missing at most, as a share of the relation's, of relations of which the data tell.
	Most map[string]float64 `json:"most_missing,omitempty"`
	// WithoutProbability is the number of candidates without a probability: too few facts of their relations are known.
	WithoutProbability int64 `json:"unclaimed"`
}

// Check returns an error for numbers that no list has.
func (d Discovery) Check() error {
	err := strict.First(strict.Count("top_k", d.TopK), strict.Count("queries", d.Queries), strict.Count("backward_queries", d.BackwardQueries),
		strict.Count("candidates", d.Candidates), strict.Between("listed", d.Listed, 0, d.Candidates))
	if p := d.Probabilities; err == nil && p != nil {
		err = strict.First(strict.Share("missing", p.Missing), strict.Between("unclaimed", p.WithoutProbability, 0, d.Candidates),
			strict.Each("missing_by_relation", p.Shares, strict.AtLeastZero), strict.Each("most_missing", p.Most, strict.AtLeastZero))
	}
	return err
}
