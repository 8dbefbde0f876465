package messages

import (
	"errors"
	"testing"

	"tagnet/model/budget"
	"tagnet/model/configuration"
	"tagnet/model/graph"
)

// TestNeedGrows holds that what is asked for grows with all that takes memory, and with nothing
// else: rows and sources, words of sources, what is removed, and a model.
func TestNeedGrows(t *testing.T) {
	g, err := graph.New(1000, 3, []graph.Fact{{Head: 0, Relation: 1, Tail: 2}})
	if err != nil {
		t.Fatal(err)
	}
	least := func(change func(p *CountParams, s *Size, words *int)) int64 {
		p := CountParams{Layers: []int{5, 6}, Deltas: []int{0, 2}, Remove: configuration.RemoveNone}
		s, words := Size{Sources: 40_000, Questions: 60_000}, 1
		change(&p, &s, &words)
		_, err := p.Need(g, 100*budget.MiB, s, words).Divide(0, 4, 4)
		var small *budget.TooSmall
		if !errors.As(err, &small) {
			t.Fatal(err)
		}
		return small.Least / budget.MiB
	}
	plain := least(func(*CountParams, *Size, *int) {})
	model := &AStarParams{Configuration: configuration.Default()}
	for name, c := range map[string]struct {
		change func(p *CountParams, s *Size, words *int)
		mib    int64 // more than plainly, without an eighth of garbage
	}{
		"another delta":    {func(p *CountParams, _ *Size, _ *int) { p.Deltas = append(p.Deltas, 3) }, 11 * 40_000 * bytesPerRow >> 20},
		"fewer layers":     {func(p *CountParams, _ *Size, _ *int) { p.Layers = []int{5} }, -(12 * 40_000 * bytesPerRow >> 20)},
		"twice the source": {func(_ *CountParams, s *Size, _ *int) { s.Sources *= 2 }, 40_000 * (22*bytesPerRow + copies*bytesPerCounted) >> 20},
		"questions":        {func(_ *CountParams, s *Size, _ *int) { s.Questions *= 2 }, 0},
		"512 sources":      {func(_ *CountParams, _ *Size, words *int) { *words = 8 }, 4 * (24*7*1001 + 64*7*280) >> 20},
		"a model":          {func(p *CountParams, _ *Size, _ *int) { p.AStar = model }, 6 * 60_000 * (copies*bytesPerChosen + bytesPerRow) >> 20},
	} {
		more := least(c.change) - plain
		want := c.mib + c.mib/8
		if slack := int64(2); name == "a model" && more < want || name != "a model" && (more < want-slack || more > want+slack) {
			t.Errorf("%s: %d MiB more, want about %d", name, more, want)
		}
	}
}
