package preprocess

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/input/facts"
	"tagnet/formats/workspace/counts"
	"tagnet/pipelines/internal/pipelinetest"
)

// TestManyUnreadColumns adds up the columns of two files; to compare each with all others would take many minutes.
func TestManyUnreadColumns(t *testing.T) {
	const many = 1 << 18
	columns, want := make([]facts.Column, many), make([]counts.Column, many)
	for i := range many {
		columns[i] = facts.Column{Name: fmt.Sprint("c", i), False: int64(i % 3)}
		want[i] = counts.Column{Name: columns[i].Name, False: int64(2 * (i % 3))}
	}
	c := converter{source: &dataset{}}
	c.addUnread(columns)
	c.addUnread(columns)
	if diff := cmp.Diff(want[:100], c.source.converted.Unread[:100]); diff != "" || len(c.source.converted.Unread) != many {
		t.Errorf("%d columns (-want +got):\n%s", len(c.source.converted.Unread), diff)
	}
}

// TestOrderOfColumns names the likely order where the relations stand in another column than the second, and says
// nothing where they do not.
func TestOrderOfColumns(t *testing.T) {
	// athletes writes a fact about a team of an athlete or a league of a team, in some order: head, relation and tail
	// are fields 1 to 3.
	athletes := func(line string) string {
		text := ""
		for i := range 30 {
			text += fmt.Sprintf(line+"\n", fmt.Sprintf("athlete%d", i), "plays for", fmt.Sprintf("team%d", i%5))
		}
		for i := range 5 {
			text += fmt.Sprintf(line+"\n", fmt.Sprintf("team%d", i), "plays in", fmt.Sprintf("league%d", i%2))
		}
		return text
	}
	users := func(line string) string { // no name is both a user and an item
		text := ""
		for i := range 60 {
			text += fmt.Sprintf(line+"\n", fmt.Sprintf("user%d", i), []string{"likes", "buys"}[i%2], fmt.Sprintf("item%d", i%25))
		}
		return text
	}
	edges := "" // each has an id of its own, where its relation belongs
	for i := range 40 {
		edges += fmt.Sprintf("v%d\tedge%d\tv%d\n", i, i, (i+1)%40)
	}
	const likely = "give --columns "
	for name, c := range map[string]struct {
		file  string
		flags []string
		says  string // "" for nothing
	}{
		"in order":                   {athletes("%s\t%s\t%s"), nil, ""},
		"relation last":              {athletes("%[1]s\t%[3]s\t%[2]s"), nil, likely + "1,3,2"},
		"relation first":             {athletes("%[2]s\t%[1]s\t%[3]s"), nil, likely + "2,1,3"},
		"a wrong choice":             {athletes("x\t%[1]s\t%[3]s\t%[2]s"), []string{"--columns", "2,3,4"}, likely + "2,4,3"},
		"a right choice":             {athletes("%[1]s\t%[3]s\t%[2]s"), []string{"--columns", "1,3,2"}, ""},
		"disjoint, in order":         {users("%s\t%s\t%s"), nil, ""},
		"disjoint, relation last":    {users("%[1]s\t%[3]s\t%[2]s"), nil, likely + "1,3,2"},
		"relations of one fact each": {edges, nil, "warning: 40 relations of 40 facts: is the second column that of the relations? --columns takes others"},
		"numbers, in order":          {"0\t0\t1\n1\t1\t2\n2\t0\t3\n3\t1\t0\n", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			file := pipelinetest.Dataset(t, map[string]string{"facts.tsv": c.file}) + "/facts.tsv"
			out := pipelinetest.Succeed(t, Pipeline(), append([]string{"--workspace", t.TempDir(), "--dataset", file}, c.flags...)...)
			if c.says == "" && strings.Contains(out, "--columns") {
				t.Errorf("says: %s", out)
			}
			if !strings.Contains(out, c.says) {
				t.Errorf("%q is missing: %s", c.says, out)
			}
		})
	}
}
