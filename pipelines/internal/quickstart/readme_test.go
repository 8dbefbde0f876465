package quickstart

import (
	"flag"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/pipelines/internal/analyze"
	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/serve"
)

// block matches a table of flags in the reference of the commands.
var block = regexp.MustCompile(`(?s)(<!-- flags: (\w+) -->\n)(.*?)(<!-- end -->)`)

// bounds matches the range of a number.
var bounds = regexp.MustCompile(`\d+ to \d+|\d+ or more|[Uu]p to \d+|(more|less) than \d`)

// TestReferenceListsEveryFlag compares the tables of flags in pipelines/README.md with the flags of
// the commands, each of which has a heading in -h and, if it is a number, a range. With -update_golden it rewrites the tables.
func TestReferenceListsEveryFlag(t *testing.T) {
	shared := command.Pipeline{Name: "shared"}
	tables := map[string]string{shared.Name: table(shared.OwnFlags(), nil)}
	list := []command.Pipeline{analyze.Pipeline(), serve.Pipeline()}
	for _, s := range steps() {
		list = append(list, s.pipeline)
	}
	for _, p := range list {
		tables[p.Name] = table(p.OwnFlags(), shared.OwnFlags())
		if none := p.Ungrouped(); len(none) > 0 {
			t.Errorf("%s -h has no heading for --%s; groups in package command takes them", p.Name, strings.Join(none, ", --"))
		}
		p.OwnFlags().VisitAll(func(f *flag.Flag) {
			if _, err := strconv.ParseFloat(f.DefValue, 64); err == nil && f.Name != "seed" && !bounds.MatchString(f.Usage) {
				t.Errorf("%s --%s: no range in %q", p.Name, f.Name, f.Usage)
			}
		})
	}
	path := filepath.Join("..", "..", "README.md")
	got := pipelinetest.Read(t, path)
	want := block.ReplaceAllStringFunc(got, func(text string) string {
		found := block.FindStringSubmatch(text)
		rows, ok := tables[found[2]]
		if !ok {
			t.Errorf("a table of the flags of %s, which is no command", found[2])
		}
		delete(tables, found[2])
		return found[1] + rows + found[4]
	})
	for name := range tables {
		t.Errorf("no table of the flags of %s", name)
	}
	if pipelinetest.Update() {
		pipelinetest.Write(t, path, want)
	} else if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("pipelines/README.md (-want +got), go test -run %s -update_golden rewrites it:\n%s", t.Name(), diff)
	}
}

// table returns the flags of a set that are not in another as rows of a Markdown table.
func table(flags, without *flag.FlagSet) string {
	var text strings.Builder
	text.WriteString("| flag | default | meaning |\n| --- | --- | --- |\n")
	cell := strings.NewReplacer("|", `\|`, "*", `\*`, "\n", " ").Replace
	flags.VisitAll(func(f *flag.Flag) {
		if without != nil && without.Lookup(f.Name) != nil {
			return
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
