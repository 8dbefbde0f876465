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
	"tagnet/pipelines/internal/quickstart"
	"tagnet/pipelines/internal/review"
	"tagnet/pipelines/internal/serve"
)

// block matches a table of flags.
var block = regexp.MustCompile(`(?s)(<!-- flags: (\w+) -->\n)(.*?)(<!-- end -->)`)

// bounds matches the range of a number.
var bounds = regexp.MustCompile(`\d+ to \d+|\d+ or more|[Uu]p to \d+|(more|less) than \d`)

// TestReferenceListsEveryFlag compares the table of flags in the page of each command, and those of the flags of all
// and of several commands in pipelines/README.md, with the flags, each of which has a heading in -h and, if it is a
// number, a range. With -update_golden it rewrites the tables.
func TestReferenceListsEveryFlag(t *testing.T) {
	asked := ask.Pipeline()
	list := []command.Pipeline{asked, bundle.Pipeline(), discover.Pipeline(), quickstart.Playground(), quickstart.Pipeline(), review.Pipeline(),
		serve.Pipeline()}
	for _, s := range quickstart.Steps("sample") {
		list = append(list, s.Pipeline)
	}
	all := command.Pipeline{Name: "shared"}.OwnFlags()
	several := severalHave(list, all)
	pages := []page{{"README.md", "shared", table(all)}, {"README.md", "several", table(several)}}
	train := list[slices.IndexFunc(list, func(p command.Pipeline) bool { return p.Name == "train" })]
	explained := map[string]command.Pipeline{"bundle": train, "discover": asked} // elsewhere, but for flags of their own
	for _, p := range list {
		own, _ := split(p.OwnFlags(), all)
		own, shared := split(own, several)
		rows, other := asOf(shared, "[those of several commands](../README.md#flags)"), explained[p.Name]
		if other.Name != "" {
			own, shared = split(own, other.OwnFlags())
			rows += asOf(shared, "[those of "+other.Name+"](../"+other.Name+"/README.md)")
		}
		pages = append(pages, page{filepath.Join(p.Name, "README.md"), p.Name, table(own) + rows})
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

// severalHave returns the flags that at least three commands have with the same meaning, but for those of all.
func severalHave(list []command.Pipeline, all *flag.FlagSet) *flag.FlagSet {
	several, count := flag.NewFlagSet("several", flag.ContinueOnError), map[string]int{}
	for _, p := range list {
		own, _ := split(p.OwnFlags(), all)
		own.VisitAll(func(f *flag.Flag) {
			meaning := f.Name + ": " + f.Usage
			if count[meaning]++; count[meaning] == 3 {
				several.Var(f.Value, f.Name, f.Usage)
			}
		})
	}
	return several
}

// split returns the flags of a set that do not have the same meaning in another, and those that have.
func split(flags, other *flag.FlagSet) (own, shared *flag.FlagSet) {
	own, shared = flag.NewFlagSet("own", flag.ContinueOnError), flag.NewFlagSet("shared", flag.ContinueOnError)
	flags.VisitAll(func(f *flag.Flag) {
		to := own
		if same := other.Lookup(f.Name); same != nil && same.Usage == f.Usage {
			to = shared
		}
		to.Var(f.Value, f.Name, f.Usage)
	})
	return own, shared
}

// asOf returns a row with the names of flags that another page explains, or none.
func asOf(flags *flag.FlagSet, where string) string {
	var names []string
	flags.VisitAll(func(f *flag.Flag) { names = append(names, "`--"+f.Name+"`") })
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("| %s | | %s |\n", strings.Join(names, ", "), where)
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

// table returns flags as rows of a Markdown table.
func table(flags *flag.FlagSet) string {
	var text strings.Builder
	text.WriteString("| flag | default | meaning |\n| --- | --- | --- |\n")
	cell := strings.NewReplacer("|", `\|`, "*", `\*`, "\n", " ").Replace
	flags.VisitAll(func(f *flag.Flag) {
		kind, usage := flag.UnquoteUsage(f)
		usage = strings.TrimPrefix(usage, kind+": ")
		value := ""
		if f.DefValue != "" {
			value = "`" + f.DefValue + "`"
		}
		name := "`--" + f.Name + "`"
		if kind != "" {
			name += " " + cell(kind)
		}
		fmt.Fprintf(&text, "| %s | %s | %s |\n", name, value, cell(usage))
	})
	return text.String()
}
