package rules

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/model/graph"
)

func TestFindings(t *testing.T) {
	t.Parallel()
	// 40 companies, 0 on, have an address in one of four cities, and 31 of them are incorporated in its country; one of
	// these is so elsewhere. 30 pairs are partners, 26 of them in both directions.
	var facts []graph.Fact
	add := func(head, relation, tail int32) {
		facts = append(facts, graph.Fact{Head: head, Relation: relation, Tail: tail})
	}
	for x := range int32(40) {
		add(x, 0, 50+x%4)
		if x < 30 {
			add(x, 2, 60+x%4)
		}
	}
	add(30, 2, 69)
	for city := range int32(4) {
		add(50+city, 1, 60+city)
	}
	for x := range int32(30) {
		add(100+x, 3, 150+x)
		if x < 26 {
			add(150+x, 3, 100+x)
		}
	}
	// 24 people have a name and an age, 4 a name alone.
	for x := range int32(28) {
		add(70+x, 4, 199)
		if x < 24 {
			add(70+x, 5, 198)
		}
	}
	// Colleagues are so in both directions, and only ten entities have a color, nine of them a shape.
	for x := range int32(20) {
		add(x, 6, (x+1)%20)
		add((x+1)%20, 6, x)
	}
	for x := range int32(10) {
		add(180+x, 7, 199)
		if x > 0 {
			add(180+x, 8, 198)
		}
	}
	g := made(t, 9, facts)
	got := mined(t, g, 1).Findings(g)
	want := []Finding{
		{MissingMirror, 3, []int32{12}, 52, 56, 4},
		{MissingAnswer, 2, []int32{0, 1}, 30, 31, 9},
		{Expected, 5, nil, 24, 28, 4},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

// TestFewerHaveAnAnswer takes the countries of most companies away: that few have one tells nothing of the others.
func TestFewerHaveAnAnswer(t *testing.T) {
	t.Parallel()
	for _, stated := range []int32{19, 20} {
		facts := slices.Concat(chain(0, 40), chain(1, stated))
		g := made(t, 2, slices.Concat(facts, []graph.Fact{{Head: 198, Relation: 1, Tail: 199}}))
		answers := 0
		for _, f := range mined(t, g, 1).Findings(g) {
			if f.Kind == MissingAnswer && f.Relation == 1 {
				answers++
			}
		}
		if want := int(stated) - 19; answers != want {
			t.Errorf("%d of 40 heads have an answer: %d findings, want %d", stated, answers, want)
		}
	}
}
