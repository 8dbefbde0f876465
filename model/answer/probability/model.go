package probability

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"tagnet/formats/storage"
	"tagnet/formats/strict"
)

// Model holds the curve and the regressions fitted for a checkpoint and a graph. It is not changed once it is made, and
// may be used concurrently.
type Model struct {
	FormatVersion int `json:"format_version"`
	// Fingerprint identifies the weights and the graph of the observations. The caller of Fit sets it, and compares it
	// when it reads the file.
	Fingerprint Fingerprint `json:"source"`
	// TooFew is set if there were too few facts to fit anything to, which is kept like a fit. Then counts
	// are 0 and lists empty.
	TooFew bool   `json:"too_few,omitempty"`
	Sample Sample `json:"sample"`
	// Relations has the observations of each relation.
	Relations []OfRelation `json:"by_relation"`
	// OwnIntercepts are the relations with minLabeled labeled facts or more, ascending: only these have intercepts of
	// their own, so that files stay small.
	OwnIntercepts []int `json:"own_intercepts"`
	// Shift was subtracted from the scores of labeled facts that training saw.
	Shift Shift `json:"shift"`
	// Features are the names of the regressions' features. Folds has, for each fold of facts, the regression that was
	// fitted to the others.
	Features []string     `json:"features"`
	Folds    []Regression `json:"folds"`
	Curve    Curve        `json:"curve"`
	// Usual are the log odds of the labeled facts of all relations.
	Usual Usual `json:"usual"`
	// Checksum is the checksum of the file that the model was read from: the SHA-256 of the text with
	// zeros in its place.
	Checksum string `json:"checksum"`
}

// OfRelation counts the observations of a relation.
type OfRelation struct {
	// Facts is the number of the graph's facts of two entities, and Drawn that of those drawn to be labeled. Labeled
	// are these that are among the best of one of their queries. With fewer than minLabeled, relations have intercepts
	// in common; with fewer than minClaim, no probabilities.
	Facts   int64 `json:"facts,omitempty"`
	Drawn   int   `json:"drawn,omitempty"`
	Labeled int   `json:"labeled,omitempty"`
	// Unlabeled has the number of unlabeled observations in each block of the curve, from the first on.
	Unlabeled []int `json:"unlabeled,omitempty"`
	// Most is how many facts are missing at most, as a share of the relation's; 0 says that nothing tells.
	Most float64 `json:"most,omitempty"`
	// Usual are the log odds of labeled facts, of all relations where this one has fewer than minLabeled: then the file
	// lacks them.
	Usual Usual `json:"usual,omitzero"`
}

// Usual has the mean and the standard deviation of log odds.
type Usual struct {
	Mean      float64 `json:"mean"`
	Deviation float64 `json:"deviation"`
}

// Fingerprint identifies the weights, the graph and the reach that observations are made with. A model
// holds for no other.
type Fingerprint struct {
	// Weights is the SHA-256 of the weights, Graph the checksum of the graph of all facts.
	Weights string `json:"weights"`
	Graph   string `json:"graph"`
	// Reach is the most entities that a query propagates through; 0 is all.
	Reach int `json:"reach"`
}

// FormatVersion is the version of the files that this package reads and writes.
const FormatVersion = 4

// checksumKey is the key of a file's checksum, the last one.
const checksumKey = "checksum"

// distances is the number of groups of a relation's facts: those of one, two and three hops, and of others.
const distances = 4

// ownIntercepts returns the relations with minLabeled labeled facts or more.
func ownIntercepts(all []OfRelation) []int {
	relations := []int{}
	for r, of := range all {
		if of.Labeled >= minLabeled {
			relations = append(relations, r)
		}
	}
	return relations
}

// group returns the index of the intercept of a fact's relation and hops, or false if there are no
// probabilities for the relation.
func (m *Model) group(o *Observation) (group int, claimed bool) {
	relation, found := slices.BinarySearch(m.OwnIntercepts, int(o.Relation))
	if !found {
		relation = len(m.OwnIntercepts)
	}
	distance := 0
	if o.Hops > 0 && o.Hops < distances {
		distance = int(o.Hops)
	}
	return distances*relation + distance, m.Relations[o.Relation].Labeled >= minClaim
}

func (m *Model) groups() int { return distances * (len(m.OwnIntercepts) + 1) }

// Unfitted returns the model of a sample with too few facts.
func Unfitted(s Sample) *Model {
	return &Model{
		FormatVersion: FormatVersion, TooFew: true, Sample: s,
		Relations: []OfRelation{}, OwnIntercepts: []int{}, Features: names(), Folds: []Regression{}, Curve: Curve{Blocks: []Block{}},
	}
}

// Encode returns the text of a file, which Parse reads. Equal models have equal texts.
func (m *Model) Encode() ([]byte, error) {
	blank := *m
	blank.Checksum, blank.Relations = storage.BlankChecksum, slices.Clone(m.Relations)
	blank.setUsual(Usual{})
	text, err := json.MarshalIndent(blank, "", " ")
	if err != nil {
		return nil, fmt.Errorf("encoding probabilities: %w", err)
	}
	text = append(text, '\n')
	return text, storage.SetChecksum(text, checksumKey)
}

// setUsual sets what is usual of the relations with fewer than minLabeled labeled facts.
func (m *Model) setUsual(u Usual) {
	for r := range m.Relations {
		if of := &m.Relations[r]; of.Labeled < minLabeled {
			of.Usual = u
		}
	}
}

// Parse reads the text of a file. Its error says where the text, of the file of a name, is wrong.
func Parse(file string, text []byte) (*Model, error) {
	text = bytes.Clone(text) // Verify changes it while it runs
	if err := storage.VerifyChecksum(text, checksumKey); err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	m := &Model{}
	if err := strict.Decode(file, text, m); err != nil {
		return nil, err
	}
	if err := m.Check(); err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	m.setUsual(m.Usual)
	return m, nil
}

// Check returns an error for a model that this program never writes.
func (m *Model) Check() error {
	if m.FormatVersion != FormatVersion {
		return fmt.Errorf("format_version is %d, this program reads %d", m.FormatVersion, FormatVersion)
	}
	if !slices.Equal(m.Features, names()) {
		return fmt.Errorf("features are %q, want %q", m.Features, names())
	}
	if m.TooFew {
		return m.checkUnfitted()
	}
	if len(m.Folds) != folds {
		return fmt.Errorf("%d folds, want %d", len(m.Folds), folds)
	}
	if err := strict.First(strict.Value("sample", m.Sample), strict.Count("source.reach", m.Fingerprint.Reach),
		strict.AtLeastZero("shift.tails", m.Shift.Tails), strict.AtLeastZero("shift.heads", m.Shift.Heads),
		strict.AtLeastZero("usual.deviation", m.Usual.Deviation)); err != nil {
		return err
	}
	for i, f := range m.Folds {
		if err := f.check(m.groups()); err != nil {
			return fmt.Errorf("folds[%d].%w", i, err)
		}
	}
	if err := m.Curve.check(); err != nil {
		return err
	}
	return m.checkCounts()
}

// checkUnfitted returns an error for a model with TooFew that has something that was fitted.
func (m *Model) checkUnfitted() error {
	if len(m.Relations)+len(m.OwnIntercepts)+len(m.Folds)+len(m.Curve.Blocks) > 0 {
		return errors.New("too_few stands beside what was fitted")
	}
	return strict.First(strict.Count("source.reach", m.Fingerprint.Reach))
}

// checkCounts compares the counts of facts.
func (m *Model) checkCounts() error {
	if len(m.Relations) != m.Sample.Relations {
		return fmt.Errorf("by_relation are %d relations, want %d", len(m.Relations), m.Sample.Relations)
	}
	drawn, claimed, counted := 0, 0, make([]int, len(m.Curve.Blocks))
	for r := range m.Relations {
		of := &m.Relations[r]
		if err := of.check(len(counted)); err != nil {
			return fmt.Errorf("by_relation[%d].%w", r, err)
		}
		if drawn += of.Drawn; of.Labeled >= minClaim {
			claimed += of.Labeled
		}
		for b, n := range of.Unlabeled {
			counted[b] += n
		}
	}
	if want := ownIntercepts(m.Relations); !slices.Equal(m.OwnIntercepts, want) {
		return fmt.Errorf("own_intercepts are not the %d relations with %d labeled facts or more", len(want), minLabeled)
	}
	if want := m.Curve.unlabeled(); !slices.Equal(counted, want) {
		return fmt.Errorf("by_relation has %d unlabeled observations by block, the curve %d", counted, want)
	}
	labeled, unlabeled := m.Curve.totals()
	if labeled != claimed || labeled < minLabeled || unlabeled == 0 {
		return fmt.Errorf("curve has %d labeled and %d unlabeled observations, want %d, at least %d, and at least 1", labeled, unlabeled, claimed, minLabeled)
	}
	return strict.Between("by_relation.drawn", drawn, claimed, m.Sample.Facts)
}

// check returns an error for counts, by some blocks, that no fit makes.
func (of *OfRelation) check(blocks int) error {
	if len(of.Unlabeled) > blocks {
		return fmt.Errorf("unlabeled has %d blocks, the curve %d", len(of.Unlabeled), blocks)
	}
	for _, n := range of.Unlabeled {
		if err := strict.Count("unlabeled", n); err != nil {
			return err
		}
	}
	return strict.First(strict.Between("facts", of.Facts, int64(of.Drawn), 1<<62), strict.Between("labeled", of.Labeled, 0, of.Drawn),
		strict.AtLeastZero("most", of.Most), strict.AtLeastZero("usual.deviation", of.Usual.Deviation))
}

// check returns an error unless log odds are numbers that rise with the score.
func (w *Regression) check(groups int) error {
	n := len(features)
	if len(w.Weights) != n || len(w.Means) != n || len(w.Deviations) != n || len(w.Groups) != groups {
		return fmt.Errorf("weights are %d with %d means, %d deviations and %d groups, want %d and %d groups",
			len(w.Weights), len(w.Means), len(w.Deviations), len(w.Groups), n, groups)
	}
	for i, f := range features {
		if w.Weights[i]*float64(f.sign) < 0 {
			return fmt.Errorf("weights[%d] is %v, want the sign of %d", i, w.Weights[i], f.sign)
		}
		if !(w.Deviations[i] > 0) {
			return fmt.Errorf("deviations[%d] is %v, want more than 0", i, w.Deviations[i])
		}
	}
	return nil
}

// check returns an error unless blocks ascend.
func (c Curve) check() error {
	if len(c.Blocks) == 0 {
		return errors.New("curve is empty")
	}
	if !(c.Weight >= 1) {
		return fmt.Errorf("curve.weight is %v, want 1 or more", c.Weight)
	}
	for i, b := range c.Blocks {
		if err := strict.First(strict.Count("labeled", b.Labeled), strict.Count("unlabeled", b.Unlabeled)); err != nil {
			return fmt.Errorf("curve[%d].%w", i, err)
		}
		if i > 0 && !(c.Blocks[i-1].From < b.From && c.odds(c.Blocks[i-1]) < c.odds(b)) {
			return fmt.Errorf("curve[%d] does not ascend", i)
		}
	}
	return nil
}
