package quickstart_test

import (
	"flag"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/pipelines/internal/ask"
	"tagnet/pipelines/internal/bundle"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/discover"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/playground"
	"tagnet/pipelines/internal/quickstart"
	"tagnet/pipelines/internal/serve"
)

// block matches a table of flags.
var block = regexp.MustCompile(`(?s)(<!-- flags: (\w+) -->\n)(.*?)(<!-- end -->)`)

// bounds matches the range of a number.
var bounds = regexp.MustCompile(`\d+ to \d+|\d+ or more|[Uu]p to \d+|(more|less) than \d`)

// TestReferenceListsEveryFlag compares the table of flags in the page of each command, and those of the flags of all and of several commands
// in pipelines/README.md, with the flags, each of which has a heading in -h and, if it is a number, a range. With
// -update_golden it rewrites the tables.
func TestReferenceListsEveryFlag(t *testing.T) {
	list := []command.Pipeline{ask.Pipeline(), bundle.Pipeline(), discover.Pipeline(), playground.Pipeline(), quickstart.Pipeline(), serve.Pipeline()}
	for _, s := range quickstart.Steps("sample") {
		list = append(list, s.Pipeline)
	}
	all := command.Pipeline{Name: "shared"}.OwnFlags()
	several, commands := sharedFlags(list, all)
	pages := []page{{"README.md", "shared", table(all, nil)}, {"README.md", "several", table(several, commands)}}
	for _, p := range list {
		pages = append(pages, page{filepath.Join(p.Name, "README.md"), p.Name, table(without(p.OwnFlags(), all, several), nil)})
		if none := p.Ungrouped(); len(none) > 0 {
			t.Errorf("%s -h has no heading for --%s; groups in package command takes them", p.Name, strings.Join(none, ", --"))
		}
		p.OwnFlags().VisitAll(func(f *flag.Flag) {
			if _, err := strconv.ParseFloat(f.DefValue, 64); err == nil && f.Name != "seed" && !bounds.MatchString(f.Usage) {
				t.Errorf("%s --%s: no range in %q", p.Name, f.Name, f.Usage)
			}
		})
	}
	for _, page := range pages {
		page.compare(t)
	}
}

// sharedFlags returns the flags that at least three commands have with the same meaning, but for those of all, and the names of these
// commands by flag.
func sharedFlags(list []command.Pipeline, all *flag.FlagSet) (*flag.FlagSet, map[string][]string) {
	type meaning struct{ name, usage string }
	names := map[meaning][]string{}
	for _, p := range list {
		without(p.OwnFlags(), all).VisitAll(func(f *flag.Flag) {
			m := meaning{f.Name, f.Usage}
			names[m] = append(names[m], p.Name)
		})
	}
	several, commands := flag.NewFlagSet("several", flag.ContinueOnError), map[string][]string{}
	for _, p := range list {
		p.OwnFlags().VisitAll(func(f *flag.Flag) {
			if of := names[meaning{f.Name, f.Usage}]; len(of) >= 3 && several.Lookup(f.Name) == nil {
				several.Var(f.Value, f.Name, f.Usage)
				commands[f.Name] = slices.Sorted(slices.Values(of))
			}
		})
	}
	return several, commands
}

// without returns the flags of a set that have the same meaning in none of the others.
func without(flags *flag.FlagSet, others ...*flag.FlagSet) *flag.FlagSet {
	own := flag.NewFlagSet(flags.Name(), flag.ContinueOnError)
	flags.VisitAll(func(f *flag.Flag) {
		for _, set := range others {
			if other := set.Lookup(f.Name); other != nil && other.Usage == f.Usage {
				return
			}
		}
		own.Var(f.Value, f.Name, f.Usage)
	})
	return own
}

// page is a file below pipelines/ with a table of flags.
type page struct{ path, table, rows string }

// compare checks that the page has the table once, and that a command's page has no other.
func (p page) compare(t *testing.T) {
	t.Helper()
	path := filepath.Join("..", "..", p.path)
	got := pipelinetest.Read(t, path)
	var found [][]string
	for _, b := range block.FindAllStringSubmatch(got, -1) {
		if b[2] == p.table || p.path != "README.md" {
			found = append(found, b)
		}
	}
	if len(found) != 1 || found[0][2] != p.table {
		t.Errorf("pipelines/%s: want one table of flags, between <!-- flags: %s --> and <!-- end -->", p.path, p.table)
		return
	}
	want := strings.Replace(got, found[0][0], found[0][1]+p.rows+found[0][4], 1)
	if pipelinetest.Update() {
		pipelinetest.Write(t, path, want)
	} else if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("pipelines/%s (-want +got), make golden rewrites it:\n%s", p.path, diff)
	}
}

// table returns flags as rows of a Markdown table, with the commands that have them if these are given.
func table(flags *flag.FlagSet, commands map[string][]string) string {
	var text strings.Builder
	text.WriteString("| flag | default | meaning |\n| --- | --- | --- |\n")
	cell := strings.NewReplacer("|", `\|`, "*", `\*`, "\n", " ").Replace
	flags.VisitAll(func(f *flag.Flag) {
		kind, usage := flag.UnquoteUsage(f)
		usage = cell(strings.TrimPrefix(usage, kind+": "))
		if of := commands[f.Name]; len(of) > 0 {
			usage += " (" + strings.Join(of, ", ") + ")"
		}
		value := ""
		if f.DefValue != "" {
			value = "`" + f.DefValue + "`"
		}
		name := "`--" + f.Name + "`"
		if kind != "" {
			name += " " + cell(kind)
		}
		fmt.Fprintf(&text, "| %s | %s | %s |\n", name, value, usage)
	})
	return text.String()
}
