package preprocess

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tagnet/formats/input/facts"
	"tagnet/formats/storage"
	"tagnet/formats/workspace/counts"
	"tagnet/model/graph/kg"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/progress"
)

// describe prints the sizes of the graph, which lines were left out, and warnings.
func (f *flags) describe(ctx context.Context, e *command.Environment, s counts.Dataset, source dataset) error {
	joined, warnings, err := heldOut(ctx, e.Workspace.Graph())
	if err != nil {
		return err
	}
	other, err := variants(ctx, e.Workspace.Graph())
	if err != nil {
		return err
	}
	warnings = append(warnings, other...)
	if source.inColumns() {
		note, err := order(ctx, e.Workspace.Graph(), s, f.columns)
		if err != nil {
			return err
		}
		if note != "" {
			warnings = append(warnings, note)
		}
	}
	e.Say("")
	if s.InferenceGraph == nil {
		e.Say("%-28s%14s", s.Dataset, "graph")
	} else {
		e.Say("%-28s%14s%18s", s.Dataset, "training graph", "inference graph")
	}
	row := func(label, training string, inference func(counts.Graph) string) {
		line := fmt.Sprintf("  %-26s%14s", label, training)
		if s.InferenceGraph != nil && inference != nil {
			line += fmt.Sprintf("%18s", inference(*s.InferenceGraph))
		}
		e.Say("%s", line)
	}
	row("entities", progress.Count(s.Entities), func(g counts.Graph) string { return progress.Count(g.Entities) })
	row("relations", progress.Count(s.Relations), nil)
	row("facts", progress.Count(s.Facts), func(g counts.Graph) string { return progress.Count(g.Facts) })
	if s.Background > 0 {
		row("  of them in facts.txt", progress.Count(s.Background), nil)
	}
	row("edges, both directions", progress.Count(s.Edges), func(g counts.Graph) string { return progress.Count(g.Edges) })
	row("facts per entity", fmt.Sprintf("%.1f", s.MeanDegree), func(g counts.Graph) string { return fmt.Sprintf("%.1f", g.MeanDegree) })
	if s.Degrees.MostIn > 0 { // each fact has a tail: without one the summary has no degrees
		row("median degree", progress.Count(s.Degrees.Median), func(g counts.Graph) string { return progress.Count(g.Degrees.Median) })
		row("largest in-degree", progress.Count(s.Degrees.MostIn), func(g counts.Graph) string { return progress.Count(g.Degrees.MostIn) })
		row("largest out-degree", progress.Count(s.Degrees.MostOut), func(g counts.Graph) string { return progress.Count(g.Degrees.MostOut) })
	}
	if s.Types != nil {
		row("types", progress.Count(s.Types.Types), func(g counts.Graph) string { return progress.Count(g.Types.Types) })
		row("entities with a type", progress.Count(s.Types.Entities), func(g counts.Graph) string { return progress.Count(g.Types.Entities) })
	}
	e.Say("")
	e.Say("  %-8s%12s%12s%22s", "split", "facts", "queries", "distinct queries")
	for _, split := range kg.Splits {
		e.Say("  %-8s%12s%12s%22s", split, progress.Count(s.Queries[split]/2), progress.Count(s.Queries[split]), progress.Count(s.Distinct[split]))
	}
	e.Say("")
	source.divisions = append(source.divisions, pairColumns(source.types.url, source.types.columns)...)
	if more := len(source.divisions) - mostDivisions; more > 0 {
		source.divisions = append(source.divisions[:mostDivisions:mostDivisions], plural(int64(more), "more such line"))
	}
	for _, line := range slices.Concat(source.divisions, joined, notes(s, source.fileNames()), warnings) {
		e.Say("  %s", line)
	}
	e.Say("")
	return nil
}

// pairColumns says which columns of a table beside the facts are read, unless it has just these two without names.
func pairColumns(url string, c facts.PairColumns) []string {
	if c.Names[0] == "" && len(c.Left) == 0 {
		return nil
	}
	line := fmt.Sprintf("%s: columns 1 and 2 are read, which have no names", storage.Base(url))
	if c.Names[0] != "" {
		line = fmt.Sprintf("%s: columns %q and %q are read", storage.Base(url), c.Names[0], c.Names[1])
	}
	if len(c.Left) > 0 {
		line += "; not read: " + shortList(c.Left)
	}
	return []string{line}
}

// mostDivisions is how many lines say how files are divided.
const mostDivisions = 8

// notes are the lines below the tables: how the files became facts, what was left out, and warnings.
func notes(s counts.Dataset, files map[string]string) []string {
	var list []string
	add := func(format string, arguments ...any) { list = append(list, fmt.Sprintf(format, arguments...)) }
	if s.Background > 0 {
		add("facts.txt: %s in the graph and among the known answers; no query is about them", plural(s.Background, "background fact"))
	}
	if c := s.Conversion; c != nil {
		if c.Unlabeled > 0 {
			add("without a name: ids that stand %s times in the facts; they remain as they are", progress.Count(c.Unlabeled))
		}
		if len(c.Unread) > 0 {
			names := make([]string, len(c.Unread))
			for i, column := range c.Unread {
				names[i] = column.Name
			}
			add("columns that are not read: %s", shortList(names))
		}
		for _, column := range c.Unread {
			if column.False > 0 {
				add("warning: %s has the labels of true and false facts, and %s of false ones became facts: leave these out of the file", column.Name,
					plural(column.False, "line"))
			}
		}
		if c.Split != nil {
			list = append(list, sides(*c.Split, s)...)
		}
	}
	if s.InferenceGraph == nil {
		list = append(list, unknown(s.Types, "graph")...)
	} else {
		list = append(list, unknown(s.Types, "training graph")...)
		list = append(list, unknown(s.InferenceGraph.Types, "inference graph")...)
	}
	add("left out: %s", leftOut(s, files))
	if s.ValidOnInference {
		add("validation queries are about the inference graph, as test queries are")
	}
	if note := unmeasured(s); note != "" {
		list = append(list, note)
	}
	if len(s.Unread) > 0 {
		add("not read: %s", shortList(s.Unread))
	}
	// Held-out facts that the graph has make the metrics too good.
	for _, split := range []string{"valid", "test"} {
		if n := s.Known[split]; n > 0 {
			graph := "training"
			if split == "test" && s.InferenceGraph != nil || split == "valid" && s.ValidOnInference {
				graph = "inference"
			}
			add("warning: %s of %s facts of %s (%s) also stand in the %s graph, where a model can look them up",
				progress.Count(n), progress.Count(s.Queries[split]/2), split, percent(s.KnownShare[split]), graph)
		}
	}
	return list
}

// unmeasured says what is impossible without the facts of a split, and what is possible, or returns "".
func unmeasured(s counts.Dataset) string {
	const answers = "zero, the foundation model, or a model that is trained here, answer your own queries"
	switch valid, test := s.Queries["valid"] > 0, s.Queries["test"] > 0; {
	case !valid && !test:
		return "no validation and no test facts (valid.txt, test.txt): " + answers +
			", but no model can be measured; preprocess --split 80,10,10 divides one file of facts"
	case !test:
		return "no test facts (test.txt): " + answers + ", but they can be measured only on the validation facts, which choose the epoch"
	case !valid:
		return "no validation facts (valid.txt): a training keeps its last epoch, and its scores come without probabilities"
	}
	return ""
}

// unknown says how many lines of --types are about entities that a graph does not have.
func unknown(types *counts.Types, in string) []string {
	if types == nil || types.Unknown == 0 || types.Listed == 0 {
		return nil
	}
	names := make([]string, len(types.UnknownNames))
	for i, name := range types.UnknownNames {
		names[i] = strconv.Quote(name)
	}
	return []string{fmt.Sprintf("--types: the %s does not have the entities of %s of %s (%s), such as %s", in, progress.Count(types.Unknown),
		plural(types.Listed, "line"), percent(float64(types.Unknown)/float64(types.Listed)), strings.Join(names, ", "))}
}

// percent is a share, with more digits if it is small.
func percent(share float64) string {
	if share < 0.01 {
		return fmt.Sprintf("%.2g%%", 100*share)
	}
	return fmt.Sprintf("%.1f%%", 100*share)
}

// sides says how --split divided a file.
func sides(s counts.Division, of counts.Dataset) []string {
	var facts [3]string // once each, as the table above has them
	for i, split := range kg.Splits {
		facts[i] = progress.Count(s.Facts[i] - of.Repeated[split])
	}
	line := fmt.Sprintf("--split: %s to training, %s to validation, %s to test", facts[0], facts[1], facts[2])
	if s.Moved > 0 {
		line += fmt.Sprintf("; %s moved to training, since one of their names is in no other training fact", progress.Count(s.Moved))
	}
	lines := []string{line}
	if s.Untested > 0 {
		names, them := make([]string, len(s.UntestedNames)), "them"
		for i, name := range s.UntestedNames {
			names[i] = strconv.Quote(name)
		}
		if more := s.Untested - len(names); more > 0 {
			names = append(names, progress.Count(int64(more))+" more")
		}
		if s.Untested == 1 {
			them = "it"
		}
		lines = append(lines, fmt.Sprintf("warning: no test fact has %s: %s; the test metrics do not measure %s", plural(int64(s.Untested), "relation"),
			strings.Join(names, ", "), them))
	}
	if s.NearInverse+s.NearSame == 0 {
		return append(lines, "near-inverse relations: none")
	}
	line = fmt.Sprintf("near-inverse relations: %d of %s", s.NearInverse, progress.Count(of.Relations))
	if s.NearSame > 0 {
		line += fmt.Sprintf(", nearly equal ones: %d", s.NearSame)
	}
	return append(lines, line+"; facts of such relations about the same two entities are on the same side",
		"in training a model looks such facts up, and in validation and test it finds none: for test metrics train --remove one_hop, which hides them;",
		"  a list of new facts is better without it, since the inverse of a missing fact is often stated")
}

// leftOut describes the lines of files that are not in the tables.
func leftOut(s counts.Dataset, files map[string]string) string {
	var list, names []string
	repeated := map[string]int64{} // by file, which --split divides
	for _, split := range []string{"train", "valid", "test", "facts", "inference"} {
		if n, name := s.Repeated[split], files[split]; n > 0 {
			if repeated[name] == 0 {
				names = append(names, name)
			}
			repeated[name] += n
		}
	}
	for _, name := range names {
		list = append(list, fmt.Sprintf("%s in %s", plural(repeated[name], "repeated fact"), name))
	}
	c := *cmp.Or(s.Conversion, new(counts.Conversion))
	for _, reason := range []struct {
		n          int64
		what, more string
	}{
		{c.Headers, "first line", " with the names of columns"},
		{c.HeadersAgain, "repeated line", " with the names of columns"},
		{c.Comments, "line", " of comments"},
		{c.Literals, "statement", " whose object is a literal"},
		{c.Qualifiers, "row", " of KGTK that qualify other rows"},
		{c.JudgedFalse, "fact", " judged false"},
		{c.Refused, "line", " of other files that stated them"},
		{c.Unjudged, "row", " without a verdict that counts"},
		{s.Rejected, "rejected line", " (rejects.tsv has the reasons)"},
	} {
		if reason.n > 0 {
			list = append(list, plural(reason.n, reason.what)+reason.more)
		}
	}
	return cmp.Or(strings.Join(list, ", "), "nothing")
}

func plural(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return progress.Count(n) + " " + what + "s"
}
