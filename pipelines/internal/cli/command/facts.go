package command

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"tagnet/model/answer"
	"tagnet/model/answer/probability"
	"tagnet/model/graph/kg"
)

// GraphFlag registers --graph of commands that answer queries: kg.All, or the name of the split of training.
func GraphFlag(set *flag.FlagSet, graph *string) {
	Choice(set, graph, "graph", kg.All, []string{kg.All, "train"},
		"the graph that is queried: of all facts, or without those of validation and test, as an evaluation asks it, which gives no probabilities")
}

// MissingFlag registers --missing of commands that show probabilities.
func MissingFlag(set *flag.FlagSet, missing *answer.Missing) {
	missing.Share, missing.Guessed = probability.DefaultMissing, true
	set.Var((*missingValue)(missing), "missing",
		"`SHARE|R=SHARE` of the graph's facts that probabilities presume to be missing from it, more than 0, at most 1, or of those of a relation, "+
			"which may be more; repeatable")
}

type missingValue answer.Missing

func (m *missingValue) String() string {
	if m == nil {
		return ""
	}
	return strings.Join(m.texts(), " ")
}

// texts returns texts that Set takes, one after the other, for an equal value.
func (m *missingValue) texts() (texts []string) {
	if !m.Guessed || len(m.Relations) == 0 {
		texts = append(texts, fmt.Sprint(m.Share))
	}
	for _, name := range slices.Sorted(maps.Keys(m.Relations)) {
		texts = append(texts, fmt.Sprintf("%s=%v", name, m.Relations[name]))
	}
	return texts
}

// Set takes a share, or a percentage, or that of a relation. The name of a relation may contain a =.
func (m *missingValue) Set(text string) error {
	at := strings.LastIndex(text, "=")
	number, percent := strings.CutSuffix(text[at+1:], "%")
	share, err := strconv.ParseFloat(number, 64)
	if percent {
		share /= 100
	}
	presumed := probability.Presumed{Missing: share}
	if at >= 0 {
		presumed = probability.OwnShares(probability.DefaultMissing, map[int32]float64{0: share})
	}
	if err != nil || presumed.Check() != nil || at == 0 {
		return errors.New("want a share of the graph's facts, more than 0 and at most 1, or RELATION=SHARE with a share above 0, such as .05 or 5%")
	}
	if at < 0 {
		m.Share, m.Guessed = share, false
		return nil
	}
	if m.Relations == nil {
		m.Relations = map[string]float64{}
	}
	m.Relations[text[:at]] = share
	return nil
}
