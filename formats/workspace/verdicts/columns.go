package verdicts

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"tagnet/formats/input/triples"
	"tagnet/formats/remedy"
)

// Fact is a fact by names.
type Fact struct{ Head, Relation, Tail string }

// Verdict says whether a fact is true, as a person judged it.
type Verdict struct {
	Fact
	// Judgment is True, False or Undo.
	Judgment Judgment
	// Time and Who are when it was given and by whom, or empty.
	Time, Who string
	// Weight is one over the chance of the fact to be drawn for a verdict, up to a factor, or 0 if nobody drew it.
	Weight float64
	// Line is the number of its line in a file that was read, or 0.
	Line int
}

// Judgment is the value of a verdict: true, false or undo.
type Judgment string

// The judgments. Undo takes back those before it.
const (
	True  Judgment = "true"
	False Judgment = "false"
	Undo  Judgment = "undo"
)

// IsValid reports whether a text is one of the judgments.
func (j Judgment) IsValid() bool { return j == True || j == False || j == Undo }

// Columns are the positions of a verdict's columns, from 0; the last three may not exist.
type Columns struct{ head, relation, tail, verdict, time, who, weight int }

// Usual are the columns of a text without a first line of names.
var Usual = Columns{0, 1, 2, 3, 4, 5, 6}

// ColumnsOf returns the columns of a first line of names, of which at are the positions of head, relation and tail.
func ColumnsOf(names []string, at [3]int) (Columns, error) {
	c := Columns{at[0], at[1], at[2], position(names, "verdict"), position(names, "time"), position(names, "who"), position(names, "weight")}
	if c.verdict < 0 {
		return c, remedy.Errorf(remedy.Do("add it, with true or false in the rows that are judged"), "no column is named verdict: there are %s",
			strings.Join(names, ", "))
	}
	return c, nil
}

// position returns the position of a column, or -1.
func position(names []string, name string) int {
	return slices.IndexFunc(names, func(n string) bool { return strings.ToLower(strings.TrimSpace(n)) == name })
}

// Verdict returns the verdict of a row, or why it is none. Where mayLack is set, a row without a judgment has none.
func (c Columns) Verdict(fields []string, mayLack bool) (v Verdict, reason string, help remedy.Help) {
	field := func(at int) string {
		if at < 0 || at >= len(fields) {
			return ""
		}
		return strings.TrimSpace(fields[at])
	}
	if max(c.head, c.relation, c.tail) >= len(fields) {
		return v, fmt.Sprintf("%d fields instead of 4", len(fields)), remedy.Do("give every line head, relation, tail and true or false")
	}
	v = Verdict{
		Fact:     Fact{written(fields[c.head]), written(fields[c.relation]), written(fields[c.tail])},
		Judgment: Judgment(strings.ToLower(field(c.verdict))), Time: field(c.time), Who: field(c.who),
	}
	if text := field(c.weight); text != "" {
		if v.Weight, _ = strconv.ParseFloat(text, 64); !(v.Weight > 0) || math.IsInf(v.Weight, 1) {
			return v, fmt.Sprintf("the weight is %q", triples.Shown([]byte(text))), remedy.Do("leave it as it was, or empty")
		}
	}
	if v.Judgment == "" && mayLack {
		return v, "", help
	}
	if !v.Judgment.IsValid() {
		return v, fmt.Sprintf("the verdict is %q", triples.Shown([]byte(field(c.verdict)))), remedy.Do("write true, false or undo")
	}
	reason, help = triples.Check(v.Head, v.Relation, v.Tail)
	return v, reason, help
}

// written returns the name of a field as names.Field writes it.
func written(field string) (name string) {
	if strings.HasPrefix(field, `"`) && json.Unmarshal([]byte(field), &name) == nil {
		return name
	}
	return field
}
