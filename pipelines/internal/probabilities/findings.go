package probabilities

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"tagnet/formats/names"
	"tagnet/model/answer/rules"
	"tagnet/pipelines/internal/cli/progress"
)

// RulesFile is the name of the text of the rules of a graph, in the folder of a list of new facts.
const RulesFile = "rules.tsv"

// kinds name findings in RulesFile.
var kinds = map[rules.Kind]string{rules.MissingMirror: "missing mirror", rules.MissingAnswer: "missing answer", rules.Expected: "expected"}

// Found are the rules of a graph, and what they say that it lacks.
type Found struct {
	Relations []string
	Findings  []rules.Finding
	// Rules are those of a relation after those of another one, the best first.
	Rules []rules.Rule
}

// NewFound returns what is found in a graph with the names of base relations. findings are those of mined rules.
func NewFound(relations []string, mined *rules.Rules, findings []rules.Finding) Found {
	f := Found{relations, findings, slices.Clone(mined.List)}
	slices.SortStableFunc(f.Rules, func(a, b rules.Rule) int {
		return cmp.Or(cmp.Compare(a.Relation, b.Relation), cmp.Compare(b.Confidence(), a.Confidence()), cmp.Compare(b.Support, a.Support))
	})
	return f
}

// Text returns RulesFile: findings, then rules, one in a line.
func (f Found) Text() []byte {
	var text bytes.Buffer
	text.WriteString("kind\trelation\trule\tsupport\tcases\tmissing\tpairs\tone_head_in\n")
	for _, x := range f.Findings {
		fmt.Fprintf(&text, "%s\t%s\t%s\t%d\t%d\t%d\t\t\n", kinds[x.Kind], f.field(x.Relation), f.field(x.Body...), x.Support, x.Cases, x.Missing)
	}
	for _, r := range f.Rules {
		fmt.Fprintf(&text, "rule\t%s\t%s\t%d\t%d\t\t%d\t%d\n", f.field(r.Relation), f.field(r.Body...), r.Support, r.Cases, r.Pairs, r.Every)
	}
	return text.Bytes()
}

// Name returns the names of relations, as rules.Text.
func (f Found) Name(relations ...int32) string { return rules.Text(f.Relations, relations) }

// field returns relations as a field of a line.
func (f Found) field(relations ...int32) string { return names.Field(f.Name(relations...)) }

// Sentence returns a finding as a sentence without its end.
func (f Found) Sentence(x rules.Finding) string {
	text := func(relations ...int32) string { return names.Escape(f.Name(relations...)) }
	none, facts, lack := "entities have none", "facts", "lack their mirror"
	if x.Missing == 1 {
		none, facts, lack = "entity has none", "fact", "lacks its mirror"
	}
	said := fmt.Sprintf("%s: %s ", text(x.Relation), progress.Count(int64(x.Missing)))
	switch {
	case x.Kind == rules.MissingAnswer:
		said += fmt.Sprintf("%s, and %s gives one", none, text(x.Body...))
	case x.Kind == rules.Expected:
		said += none + ", and others with the same relations have one"
	case int(x.Body[0]) == int(x.Relation)+len(f.Relations):
		said += facts + " " + lack
	default:
		said += fmt.Sprintf("%s of %s %s", facts, text(x.Body[0]-int32(len(f.Relations))), lack)
	}
	return said + fmt.Sprintf(" (so in %s of %s)", progress.Count(int64(x.Support)), progress.Count(int64(x.Cases)))
}

// First returns the sentence of the first finding of each kind on chosen relations, inverse ones included.
func (f Found) First(chosen func(relation int32) bool) (sentences []string) {
	said := map[rules.Kind]bool{}
	for _, x := range f.Findings {
		if !said[x.Kind] && chosen(x.Relation) {
			said[x.Kind] = true
			sentences = append(sentences, f.Sentence(x))
		}
	}
	return sentences
}
