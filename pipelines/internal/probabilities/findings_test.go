package probabilities_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/model/answer/rules"
	"tagnet/pipelines/internal/probabilities"
)

// TestFindings checks the text and the sentences of findings, and the order of rules.
func TestFindings(t *testing.T) {
	relations := []string{"owns", "owned_by", "located_in"}
	found := probabilities.NewFound(relations, &rules.Rules{List: []rules.Rule{
		{Relation: 0, Body: []int32{1}, Support: 4, Cases: 9, Pairs: 11, Every: 1},
		{Relation: 0, Body: []int32{2, 5}, Support: 8, Cases: 10, Pairs: 10, Every: 3},
	}}, []rules.Finding{
		{Kind: rules.MissingMirror, Relation: 0, Body: []int32{3}, Support: 4884, Cases: 5569, Missing: 532},
		{Kind: rules.MissingMirror, Relation: 0, Body: []int32{4}, Support: 9, Cases: 10, Missing: 1},
		{Kind: rules.MissingAnswer, Relation: 5, Body: []int32{3, 2}, Support: 812, Cases: 840, Missing: 118},
		{Kind: rules.Expected, Relation: 2, Support: 40, Cases: 50, Missing: 10},
	})
	const text = "kind\trelation\trule\tsupport\tcases\tmissing\tpairs\tone_head_in\n" +
		"missing mirror\towns\t~owns\t4884\t5569\t532\t\t\n" +
		"missing mirror\towns\t~owned_by\t9\t10\t1\t\t\n" +
		"missing answer\t~located_in\t~owns, located_in\t812\t840\t118\t\t\n" +
		"expected\tlocated_in\t\t40\t50\t10\t\t\n" +
		"rule\towns\tlocated_in, ~located_in\t8\t10\t\t10\t3\n" +
		"rule\towns\towned_by\t4\t9\t\t11\t1\n"
	if diff := cmp.Diff(text, string(found.Text())); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
	want := []string{
		"owns: 532 facts lack their mirror (so in 4,884 of 5,569)",
		"owns: 1 fact of owned_by lacks its mirror (so in 9 of 10)",
		"~located_in: 118 entities have none, and ~owns, located_in gives one (so in 812 of 840)",
		"located_in: 10 entities have none, and others with the same relations have one (so in 40 of 50)",
	}
	var got []string
	for _, x := range found.Findings {
		got = append(got, found.Sentence(x))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sentences (-want +got):\n%s", diff)
	}
	every, owns := func(int32) bool { return true }, found.Findings[0].Relation
	if first := found.First(every); !slices.Equal(first, []string{want[0], want[2], want[3]}) {
		t.Errorf("the first of each kind are %q", first)
	}
	if first := found.First(func(r int32) bool { return r != owns }); !slices.Equal(first, want[2:]) {
		t.Errorf("the first of other relations are %q", first)
	}
}
