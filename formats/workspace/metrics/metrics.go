package metrics

import "tagnet/formats/strict"

// File is the name of the metrics, in the folder of an evaluation.
const File = "metrics.json"

// The directions of a query: whether its answer is the tail or the head of a fact.
const (
	Tail = "tail"
	Head = "head"
)

// Evaluation is the content of metrics.json.
type Evaluation struct {
	Split      string `json:"split"`
	Checkpoint string `json:"checkpoint"`
	// Protocol is empty for Test. Negatives is the number of random entities that each answer is ranked among, and
	// Seed theirs; 0 stands for all entities.
	Protocol  Protocol `json:"protocol,omitempty"`
	Negatives int      `json:"negatives,omitempty"`
	Seed      int64    `json:"seed,omitempty"`
	// Sample is nil unless the queries are a sample of the split's.
	Sample *Sample `json:"sample,omitempty"`
	Summary
	// Distinct is the number of distinct pairs (source, relation), each propagated once.
	Distinct int64 `json:"distinct"`
	// Messages is the number of messages that the propagations sent.
	Messages int64 `json:"messages"`
	// ByDirection has the keys Tail and Head, ByDistance "0", "1", ... and hop.Key, and ByRelation
	// the names of base relations. Keys without queries are left out.
	ByDirection map[string]Summary `json:"by_direction"`
	ByDistance  map[string]Summary `json:"by_distance"`
	ByRelation  map[string]Summary `json:"by_relation"`
	// ByLinks has the keys "head", "tail", "both" and "neither": which halves of the fact other facts have. It and
	// Baselines are nil where there was no graph to look at, but parts of it.
	ByLinks   map[string]Summary `json:"by_links,omitempty"`
	Baselines *Baselines         `json:"baselines,omitempty"`
}

// Summary is the metrics of a set of queries.
type Summary struct {
	Queries int64 `json:"queries"`
	// Unreached is the number of queries whose answer no message reaches.
	Unreached int64 `json:"unreached"`
	Ranks
}

// Validation configures when and with how many queries a training validates.
type Validation struct {
	// Every is the number of epochs between validations; the last epoch is always validated.
	Every int `json:"every"`
	// Limit is the number of validation queries, drawn evenly over all; 0 takes all.
	Limit int64 `json:"limit"`
	// Patience is the number of epochs without a better validation after which a training ends; 0 is no end.
	Patience int `json:"patience,omitempty"`
}

// Valid has the metrics of a model on the validation queries.
type Valid struct {
	Queries int64 `json:"queries"`
	// Sample is nil unless the queries are a sample of the validation queries.
	Sample *Sample `json:"sample,omitempty"`
	// Chance is the MRR of random scores for the same queries, or zero if it was not computed.
	Chance Chance `json:"chance,omitzero"`
	Ranks
}

// Chance is the MRR of random scores, with its standard error.
type Chance struct {
	MRR   float64 `json:"mrr"`
	Error float64 `json:"standard_error"`
}

// Ranks has the metrics of a set of ranks by how ties count: against the answer, by half, or for it.
type Ranks struct {
	// Tied is the fraction of queries whose answer has exactly the score of another candidate.
	Tied        float64 `json:"tied"`
	Pessimistic Metrics `json:"pessimistic"`
	Mean        Metrics `json:"mean"`
	Optimistic  Metrics `json:"optimistic"`
}

// Metrics are the mean reciprocal rank, the shares of ranks up to 1, 3 and 10, and the mean rank. They are
// zero without ranks.
type Metrics struct {
	MRR      float64 `json:"mrr"`
	Hits1    float64 `json:"hits@1"`
	Hits3    float64 `json:"hits@3"`
	Hits10   float64 `json:"hits@10"`
	MeanRank float64 `json:"mean_rank"`
}

// Check returns an error for numbers that no evaluation has.
func (e Evaluation) Check() error {
	return strict.First(strict.Optional("sample", e.Sample, strict.Value), strict.Optional("baselines", e.Baselines, strict.Value), e.Summary.Check(),
		strict.Count("negatives", e.Negatives), strict.Count("distinct", e.Distinct), strict.Count("messages", e.Messages),
		strict.Each("by_direction", e.ByDirection, strict.Value), strict.Each("by_distance", e.ByDistance, strict.Value),
		strict.Each("by_relation", e.ByRelation, strict.Value), strict.Each("by_links", e.ByLinks, strict.Value))
}

// Check returns an error for numbers that no set of queries has.
func (s Summary) Check() error {
	return strict.First(strict.Count("queries", s.Queries), strict.Count("unreached", s.Unreached), s.Ranks.Check())
}

// Check returns an error for numbers that no validation has.
func (v Valid) Check() error {
	return strict.First(strict.Optional("sample", v.Sample, strict.Value), strict.Count("queries", v.Queries),
		strict.Share("chance.mrr", v.Chance.MRR), strict.AtLeastZero("chance.standard_error", v.Chance.Error), v.Ranks.Check())
}

// Check returns an error for numbers that no ranks have.
func (r Ranks) Check() error {
	return strict.First(strict.Share("tied", r.Tied),
		strict.Value("pessimistic", r.Pessimistic), strict.Value("mean", r.Mean), strict.Value("optimistic", r.Optimistic))
}

// Selection returns the metrics that select the best epoch, by their MRR. Ties count against the answer.
func (v *Valid) Selection() Metrics { return v.Pessimistic }

// AtChance reports whether the MRR is not clearly above the MRR of random scores: by at most two standard errors.
func (v *Valid) AtChance() bool {
	return v != nil && v.Chance.MRR > 0 && v.Selection().MRR <= v.Chance.MRR+2*v.Chance.Error
}

// Better reports whether v selects its epoch over an earlier one with the metrics other; nil stands for an epoch
// without validation. Of equal epochs the earlier is selected.
func (v *Valid) Better(other *Valid) bool {
	return v != nil && (other == nil || v.Selection().MRR > other.Selection().MRR)
}
