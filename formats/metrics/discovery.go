package metrics

import "tagnet/formats/check"

// DiscoveryFile is the file of a Discovery.
const DiscoveryFile = "facts.json"

// Discovery is what facts.json says of a list of new facts.
type Discovery struct {
	Split      string `json:"split"`
	Checkpoint string `json:"checkpoint"`
	// TopK is the number of best new answers of a query that are candidates, Candidates that of the new facts that at least one query
	// listed, Listed that of the list. All other numbers are about these candidates.
	TopK       int   `json:"top_k"`
	Candidates int64 `json:"candidates"`
	Listed     int64 `json:"listed"`
	// Fitted says what probabilities were fitted to, nil where there are none.
	Fitted *Fitted `json:"fitted,omitempty"`
	// HeldOut compares the list with the facts of the test split, nil without a fact of it.
	HeldOut *HeldOut `json:"held_out,omitempty"`
}

// Fitted says what the probabilities of a list were fitted to.
type Fitted struct {
	// Candidates is the number of facts that were listed, True those of the validation split among them, of Facts that it has.
	Candidates int64 `json:"candidates"`
	True       int64 `json:"true"`
	Facts      int64 `json:"validation_facts"`
	// Missing is the number of missing facts that probabilities presume, as a share of the facts of the graph, FittedMissing that of the
	// validation split.
	Missing       float64 `json:"missing"`
	FittedMissing float64 `json:"fitted_missing"`
}

// HeldOut compares a list with facts that are known and were held out. The list that is compared has them among its new facts.
type HeldOut struct {
	// Facts is the number of held-out facts, Found that of those in the list, which then has Listed facts.
	Facts  int64 `json:"facts"`
	Found  int64 `json:"found"`
	Listed int64 `json:"listed"`
	// Precision is the share of held-out facts among the First ones: about as many as there are held-out facts.
	First     int64   `json:"first"`
	Precision float64 `json:"precision"`
	// Reliability has the probabilities of the list, without bins where there are none.
	Reliability Reliability `json:"reliability"`
}

// Check returns an error for numbers that no list has.
func (d Discovery) Check() error {
	err := check.First(check.Count("top_k", d.TopK), check.Count("candidates", d.Candidates), check.Between("listed", d.Listed, 0, d.Candidates))
	if f := d.Fitted; err == nil && f != nil {
		err = check.First(check.Between("true", f.True, 0, f.Candidates), check.Count("validation_facts", f.Facts), check.AtLeastZero("missing", f.Missing))
	}
	if h := d.HeldOut; err == nil && h != nil {
		err = check.First(check.Between("found", h.Found, 0, h.Listed), check.Count("first", h.First), check.Share("precision", h.Precision), check.Value("reliability", h.Reliability))
	}
	return err
}
