package command

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"tagnet/model/weights/configuration"
	"tagnet/pipelines/internal/cli/workspace"
)

// groups are the headings of -h with the flags below them, of all commands. A flag that is not among them comes last.
var groups = []struct {
	title string
	flags string
}{
	{"data",
		`workspace run dataset format columns header entity_names relation_names inference inference_only
		validate_on types type_relation split protocol limit queries
		relation pattern patterns answer bindings stated sources candidates graph known list facts file who`},
	{configuration.Model, "model from preset " + configuration.Flags(configuration.Model) + " deltas"},
	{configuration.Training, "minutes " + configuration.Flags(configuration.Training) +
		" validate_every valid_limit patience resume checkpoint_minutes workers local_steps"},
	{"output", `listen output top_k most threshold missing explain paths walks verdicts verdicts_from_anywhere on_bad_line on_unknown max_hops force open`},
	{"resources", `device kernel memory threads bundles queue timeout`},
	{"running", `seed plan verbose help_beam`},
}

// grouped returns the flags of a set by the headings of -h, in the order of groups.
func grouped(set *flag.FlagSet) (titles []string, flags [][]*flag.Flag) {
	left := map[string]bool{}
	set.VisitAll(func(f *flag.Flag) { left[f.Name] = true })
	add := func(title string, names []string) {
		var list []*flag.Flag
		for _, name := range names {
			if left[name] {
				list = append(list, set.Lookup(name))
				delete(left, name)
			}
		}
		if len(list) > 0 {
			titles, flags = append(titles, title), append(flags, list)
		}
	}
	for _, g := range groups {
		add(g.title, strings.Fields(g.flags))
	}
	var others []string
	set.VisitAll(func(f *flag.Flag) { others = append(others, f.Name) })
	add("other", others)
	return titles, flags
}

// Ungrouped returns the flags of a pipeline that no heading of -h has.
func (p Pipeline) Ungrouped() []string {
	var names []string
	titles, flags := grouped(p.OwnFlags())
	if i := slices.Index(titles, "other"); i >= 0 {
		for _, f := range flags[i] {
			names = append(names, f.Name)
		}
	}
	return names
}

// help prints the pipeline's own flags in groups: the first ones, or all.
func (p Pipeline) help(w io.Writer, pipelineFlags *flag.FlagSet, all bool) {
	command := workspace.Command{Pipeline: p.Name}
	fmt.Fprintf(w, "%s\n\nusage: %s [flags]\n", wrapped(p.Summary, 0, 0), command)
	first, left := strings.Fields(p.First), 0
	titles, flags := grouped(pipelineFlags)
	for i, title := range titles {
		var shown []*flag.Flag
		for _, f := range flags[i] {
			if all || p.First == "" || slices.Contains(first, f.Name) {
				shown = append(shown, f)
			} else {
				left++
			}
		}
		if len(shown) > 0 {
			fmt.Fprintf(w, "\n%s:\n", title)
		}
		for _, f := range shown {
			fmt.Fprint(w, line(f))
		}
	}
	if left > 0 {
		fmt.Fprintf(w, "\n%s -h all explains %d more flags.\n", command, left)
	}
}

// helpBeam prints the flags of Beam and its runners.
func helpBeam(w io.Writer, pipelineFlags *flag.FlagSet) {
	fmt.Fprint(w, "The flags of Beam and its runners, which every command that runs jobs takes:\n\n")
	flag.CommandLine.VisitAll(func(f *flag.Flag) {
		if pipelineFlags.Lookup(f.Name) == nil && !strings.HasPrefix(f.Name, "test.") {
			fmt.Fprint(w, line(f))
		}
	})
}

// The columns of -h: where the explanations begin, and where they are broken.
const (
	usageColumn = 34
	lastColumn  = 110
)

// line returns the explanation of a flag.
func line(f *flag.Flag) string {
	kind, usage := flag.UnquoteUsage(f)
	usage = strings.TrimPrefix(strings.Join(strings.Fields(usage), " "), kind+": ")
	if f.DefValue != "" && f.DefValue != "false" {
		usage += " (default " + f.DefValue + ")"
	}
	name := strings.TrimSuffix("  --"+f.Name+" "+kind, " ")
	if len(name) >= usageColumn {
		name += "\n" + strings.Repeat(" ", usageColumn)
	}
	return fmt.Sprintf("%-*s%s\n", usageColumn, name, wrapped(usage, usageColumn, usageColumn))
}

// wrapped breaks a text between words, so that it ends before lastColumn. It begins at a column, and its
// further lines at another.
func wrapped(text string, column, indent int) string {
	var b strings.Builder
	for i, word := range strings.Fields(text) {
		switch n := utf8.RuneCountInString(word); {
		case i == 0:
			column += n
		case column+1+n > lastColumn:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			column = indent + n
		default:
			b.WriteByte(' ')
			column += 1 + n
		}
		b.WriteString(word)
	}
	return b.String()
}
