package quickstart_test

import (
	"flag"
	"fmt"
	"path/filepath"
	"regexp"
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

// block matches the table of flags in the page of a command.
var block = regexp.MustCompile(`(?s)(<!-- flags: (\w+) -->\n)(.*?)(<!-- end -->)`)

// bounds matches the range of a number.
var bounds = regexp.MustCompile(`\d+ to \d+|\d+ or more|[Uu]p to \d+|(more|less) than \d`)

// TestReferenceListsEveryFlag compares the table of flags in the page of each command, and that of the shared flags in
// pipelines/README.md, with the flags, each of which has a heading in -h and, if it is a number, a range. With
// -update_golden it rewrites the tables.
func TestReferenceListsEveryFlag(t *testing.T) {
	shared := command.Pipeline{Name: "shared"}
	pages := []page{{"README.md", shared.Name, table(shared.OwnFlags(), nil)}}
	list := []command.Pipeline{ask.Pipeline(), bundle.Pipeline(), discover.Pipeline(), playground.Pipeline(), quickstart.Pipeline(), serve.Pipeline()}
	for _, s := range quickstart.Steps("sample") {
		list = append(list, s.Pipeline)
	}
	for _, p := range list {
		pages = append(pages, page{filepath.Join(p.Name, "README.md"), p.Name, table(p.OwnFlags(), shared.OwnFlags())})
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

// page is a file below pipelines/ with a table of the flags of a command.
type page struct{ path, command, rows string }

// compare checks that the page has the table, once, and no other.
func (p page) compare(t *testing.T) {
	t.Helper()
	path := filepath.Join("..", "..", p.path)
	got := pipelinetest.Read(t, path)
	found := block.FindAllStringSubmatch(got, -1)
	if len(found) != 1 || found[0][2] != p.command {
		t.Errorf("pipelines/%s: want one table of flags, between <!-- flags: %s --> and <!-- end -->", p.path, p.command)
		return
	}
	want := strings.Replace(got, found[0][0], found[0][1]+p.rows+found[0][4], 1)
	if pipelinetest.Update() {
		pipelinetest.Write(t, path, want)
	} else if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("pipelines/%s (-want +got), make golden rewrites it:\n%s", p.path, diff)
	}
}

// table returns the flags of a set that are not the same in another as rows of a Markdown table.
func table(flags, without *flag.FlagSet) string {
	var text strings.Builder
	text.WriteString("| flag | default | meaning |\n| --- | --- | --- |\n")
	cell := strings.NewReplacer("|", `\|`, "*", `\*`, "\n", " ").Replace
	flags.VisitAll(func(f *flag.Flag) {
		if without != nil {
			if other := without.Lookup(f.Name); other != nil && other.Usage == f.Usage {
				return
			}
		}
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
