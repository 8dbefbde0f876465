package calibration

import (
	"math"
)

// TopK is the number of candidates of a query that a calibration is fitted to: as many as score keeps by default.
const TopK = 10

// Calibration turns the scores of one checkpoint into probabilities. It is not changed once it is made, and may be used
// concurrently.
type Calibration struct {
	FormatVersion int `json:"format_version"`
	// Weights is the SHA-256 of the weights whose scores were calibrated.
	Weights string `json:"weights"`
	// Split is the split whose queries were used, TopK the number of candidates that were looked at for each of them.
	Split string `json:"split"`
	TopK  int    `json:"top_k"`
	Counts
	// BaseRate is the share of true candidates that the probabilities presume, that of Counts.
	BaseRate float64 `json:"base_rate"`
	// Strength is the weight, in candidates, with which Whole draws the parameters of a relation toward it; 0 if no
	// relation has its own.
	Strength float64 `json:"strength"`
	// Whole has the parameters of all candidates, Relations those of relations that have their own, by ascending ID.
	Whole     Line       `json:"whole"`
	Relations []Relation `json:"relations"`
	// Checksum is that of the file that the calibration was read from: the SHA-256 of the text with zeros in its place.
	Checksum string `json:"checksum"`

	own map[int32]Line // of Relations
}

// FormatVersion is the version of the files that this package reads and writes.
const FormatVersion = 1

// Counts are the sizes of a sample.
type Counts struct {
	// Queries is the number of distinct queries with candidates, True the number of candidates that are answers.
	Queries    int64 `json:"queries"`
	Candidates int64 `json:"candidates"`
	True       int64 `json:"true"`
}

// Rate returns the share of true candidates, 0 without candidates.
func (c Counts) Rate() float64 { return float64(c.True) / float64(max(1, c.Candidates)) }

// Line has the log odds of a candidate with a score: Intercept + Slope x score. Slope is not negative.
type Line struct {
	Intercept float64 `json:"intercept"`
	Slope     float64 `json:"slope"`
}

// logOdds returns the log odds of a score.
func (l Line) logOdds(score float64) float64 {
	if l.Slope == 0 {
		return l.Intercept // also where the score is infinite
	}
	return l.Intercept + l.Slope*score
}

// Relation has the parameters of a relation in one direction.
type Relation struct {
	// ID is in [0, 2R): inverse relations follow the base relations.
	ID int32 `json:"id"`
	// Name is the base relation's, Direction tail or head.
	Name      string `json:"relation"`
	Direction string `json:"direction"`
	Counts
	Line
}

// Probability returns the probability that a candidate with a score is true, for a query with a relation in [0, 2R). It
// rises with the score, or stays equal.
func (c *Calibration) Probability(relation int32, score float32) float64 {
	line, own := c.own[relation]
	if !own {
		line = c.Whole
	}
	return Sigmoid(line.logOdds(float64(score)))
}

// index fills own.
func (c *Calibration) index() {
	c.own = make(map[int32]Line, len(c.Relations))
	for _, r := range c.Relations {
		c.own[r.ID] = r.Line
	}
}

// Sigmoid returns 1 / (1 + exp(-x)).
func Sigmoid(x float64) float64 {
	if x < 0 {
		e := math.Exp(x)
		return e / (1 + e)
	}
	return 1 / (1 + math.Exp(-x))
}

func logit(p float64) float64 { return math.Log(p) - math.Log1p(-p) }
