package rules

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"tagnet/formats/storage"
	"tagnet/formats/strict"
	"tagnet/model/graph"
)

// Rules are the rules of a graph. They are not changed once they are made, and may be used concurrently.
type Rules struct {
	FormatVersion int `json:"format_version"`
	// Graph identifies the graph. The caller of Mine sets it, and compares it when it reads the file.
	Graph string `json:"graph"`
	// Relations is the number of base relations.
	Relations int `json:"relations"`
	// Functional are the relations, inverse ones included, that are nearly functional, ascending.
	Functional []int32 `json:"functional"`
	// List is in the order of relation and body.
	List []Rule `json:"rules"`
	// Checksum is the checksum of the file that the rules were read from.
	Checksum string `json:"checksum"`
}

// Rule says that Relation, a base relation, leads from one entity to another where a path along Body joins them.
type Rule struct {
	Relation int32 `json:"relation"`
	// Body are one to three relations, inverse ones included.
	Body []int32 `json:"body"`
	// Support is the number of pairs of entities that Body joins and that are facts of Relation. It joins Pairs, of
	// which Cases have a head with an answer of Relation. Of three steps, only such pairs are counted.
	Support int `json:"support"`
	Pairs   int `json:"pairs"`
	Cases   int `json:"cases"`
	// Every is 1, or the counts are of one in so many heads.
	Every int `json:"every"`
}

// FormatVersion is the version of the files that this package reads and writes.
const FormatVersion = 1

// checksumKey is the key of a file's checksum, the last one.
const checksumKey = "checksum"

// leastConfidence is the least confidence of a rule that is kept: a reason of less says nothing, and files stay small.
const leastConfidence = .1

// leastSupport returns the least support of a rule that is kept, for a relation of a number of facts.
func leastSupport(facts int) int {
	if facts < 100 {
		return 3
	}
	return 10
}

// Confidence returns the share of facts among the pairs whose head has an answer.
func (r Rule) Confidence() float64 { return float64(r.Support) / float64(r.Cases) }

// compare orders rules by relation, then by body.
func (r Rule) compare(o Rule) int {
	return cmp.Or(cmp.Compare(r.Relation, o.Relation), slices.Compare(r.Body, o.Body))
}

// Of returns the rules of a base relation, in the order of their bodies.
func (r *Rules) Of(relation int32) []Rule {
	from, _ := slices.BinarySearchFunc(r.List, Rule{Relation: relation}, Rule.compare)
	to, _ := slices.BinarySearchFunc(r.List, Rule{Relation: relation + 1}, Rule.compare)
	return r.List[from:to]
}

// Encode returns the text of a file, which Parse reads. Equal rules have equal texts.
func (r *Rules) Encode() ([]byte, error) {
	blank := *r
	blank.Checksum = storage.BlankChecksum
	text, err := json.Marshal(blank)
	if err != nil {
		return nil, fmt.Errorf("encoding rules: %w", err)
	}
	text = append(bytes.ReplaceAll(text, []byte("},{"), []byte("},\n{")), '\n')
	return text, storage.SetChecksum(text, checksumKey)
}

// Parse reads the text of a file. Its error says where the text, of the file of a name, is wrong.
func Parse(file string, text []byte) (*Rules, error) {
	text = bytes.Clone(text) // Verify changes it while it runs
	if err := storage.VerifyChecksum(text, checksumKey); err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	r := &Rules{}
	if err := strict.Decode(file, text, r); err != nil {
		return nil, err
	}
	if err := r.Check(); err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	return r, nil
}

// Check returns an error for rules that this program never writes.
func (r *Rules) Check() error {
	if r.FormatVersion != FormatVersion {
		return fmt.Errorf("format_version is %d, this program reads %d", r.FormatVersion, FormatVersion)
	}
	if err := strict.Between("relations", r.Relations, 0, math.MaxInt32/2); err != nil {
		return err
	}
	if r.Functional == nil || r.List == nil {
		return errors.New("functional or rules are missing")
	}
	for i, q := range r.Functional {
		if q < 0 || int(q) >= 2*r.Relations || i > 0 && r.Functional[i-1] >= q {
			return fmt.Errorf("functional[%d] is %d, want ascending relations up to %d", i, q, 2*r.Relations-1)
		}
	}
	for i, rule := range r.List {
		err := rule.check(r.Relations)
		if i > 0 && r.List[i-1].compare(rule) >= 0 {
			err = errors.New("relation and body do not ascend")
		}
		if err != nil {
			return fmt.Errorf("rules[%d].%w", i, err)
		}
	}
	return nil
}

// check returns an error for a rule that no graph of a number of base relations has.
func (r Rule) check(relations int) error {
	err := strict.First(strict.Between("relation", int(r.Relation), 0, relations-1), strict.Between("length of body", len(r.Body), 1, 3),
		strict.Between("support", r.Support, leastSupport(0), r.Cases), strict.Between("cases", r.Cases, 0, r.Pairs),
		strict.Between("every", r.Every, 1, math.MaxInt32))
	for _, b := range r.Body {
		err = strict.First(err, strict.Between("body", int(b), 0, 2*relations-1))
	}
	if err == nil && len(r.Body) == 1 && r.Body[0] == r.Relation {
		err = errors.New("body is the relation itself")
	}
	if err == nil && r.Confidence() < leastConfidence {
		err = fmt.Errorf("confidence is %v, want at least %v", r.Confidence(), leastConfidence)
	}
	return err
}

// Text returns a body with the names of base relations, inverse ones with a leading ~: "subsidiary_of, ~owns".
func Text(relations []string, body []int32) string {
	names := make([]string, len(body))
	for i, b := range body {
		names[i] = graph.RelationName(relations, b)
	}
	return strings.Join(names, ", ")
}
