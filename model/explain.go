package model

import (
	"strconv"
	"strings"
)

// Path is a way through the graph from a query's source to an answer, with the influence that it had on the answer's
// score.
type Path struct {
	// Weight is the mean, over the path's steps, of the derivative of the score by a factor of the step's message: a
	// share of influence to first order, and no probability. It may be negative. For A*Net, whose authors weigh paths
	// otherwise, it is the mean of the senders' priorities relative to the highest in their layers.
	Weight float64
	// Steps lead from the source to the answer, one in each layer from the first.
	Steps []Step
}

// Step is an edge of a path, by names.
type Step struct {
	From string
	// Relation is the name of a relation of the graph. With Inverse the fact is (To, Relation, From), else
	// (From, Relation, To).
	Relation string
	Inverse  bool
	To       string
}

// String returns the weight and the steps on one line: 0.27  Ann -parent_of-> Ben -~parent_of-> Eve. Names are as
// they are in the graph; where a person reads them, control characters in them need escaping.
func (p Path) String() string { return formatWeight(p.Weight) + "  " + p.Text() }

// Text returns the steps on one line, without the weight.
func (p Path) Text() string {
	var text strings.Builder
	for i, s := range p.Steps {
		if i == 0 {
			text.WriteString(s.From)
		}
		text.WriteString(" -")
		if s.Inverse {
			text.WriteByte('~')
		}
		text.WriteString(s.Relation + "-> " + s.To)
	}
	return text.String()
}

// formatWeight returns a path's weight with two significant digits.
func formatWeight(weight float64) string { return strconv.FormatFloat(weight, 'g', 2, 64) }
