package accelerator_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/model/accelerator"
	"tagnet/model/answer"
	"tagnet/model/answer/ranking"
	"tagnet/model/engine/device"
	"tagnet/model/engine/inference"
	"tagnet/model/engine/kernel"
	"tagnet/model/graph"
	"tagnet/model/learn/learntest"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// machine returns a machine with a number of devices.
func machine(devices int) learntest.Machine {
	return learntest.NewMachine(devices, kernel.Available()[0])
}

// TestSeveralDevices scores on one device, on two and on three: the answers are the same.
func TestSeveralDevices(t *testing.T) {
	t.Parallel()
	c := configuration.Default()
	c.Layers, c.Delta = 1, 1
	random := rand.New(rand.NewPCG(1, 1))
	facts := make([]graph.Fact, 12)
	for i := range facts {
		facts[i] = graph.Fact{Head: int32(random.IntN(8)), Relation: int32(random.IntN(2)), Tail: int32(random.IntN(8))}
	}
	g, err := graph.New(8, 2, facts)
	if err != nil {
		t.Fatal(err)
	}
	p := parameters.Initialize(parameters.Layout(c, g.RelationCount()), 1)
	queries := make([]answer.Request, 3*accelerator.Together+1)
	for i := range queries {
		q := graph.Query{Source: int32(i % 8), Relation: int32(i / 8 % 4), Answer: graph.None}
		queries[i] = answer.Request{Query: q, Rows: []int64{int64(i)}, Answers: []int32{int32(i % 7)}}
	}
	score := func(devices accelerator.Devices, choice string, list ranking.Selection) (*answer.Scored, error) {
		t.Helper()
		chosen, err := device.Parse(choice)
		if err != nil {
			t.Fatal(err)
		}
		s, err := accelerator.Select(devices, chosen, c)
		if err != nil {
			t.Fatal(err)
		}
		scorer, err := s.Accelerator().NewScorer(g, nil, c, p)
		if err != nil {
			t.Fatal(err)
		}
		answered, err := scorer.Score(t.Context(), queries, list)
		if closing := errors.Join(scorer.Close(), s.Accelerator().Close()); err == nil && closing != nil {
			t.Fatal(closing)
		}
		return answered, err
	}
	for _, list := range []ranking.Selection{{K: 3}, {K: 2, Candidates: []int32{3, 4, 5}, Known: ranking.LeftOut}} {
		want, err := score(machine(1), "cuda", list)
		if err != nil {
			t.Fatal(err)
		}
		for devices := 2; devices <= 3; devices++ {
			m := machine(devices)
			m.Together("score")
			got, err := score(m, "cuda:all", list)
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("%d devices: %v (-one +all):\n%s", devices, err, diff)
			}
			for _, operation := range []string{"close scorer", "close"} {
				if closed := m.Count(operation); !cmp.Equal(closed, m.Count("open")) {
					t.Errorf("%s: %v of %d devices", operation, closed, devices)
				}
			}
		}
	}

	// A lost device is an error, and so are scores that are not finite: the error names the first such query.
	m := machine(2)
	m.Together("score")
	first := m[1].Fail
	m[1].Fail = func(operation string) error {
		if err := first(operation); operation != "score" || err != nil {
			return err
		}
		return fmt.Errorf("scoring: %w", device.ErrLost)
	}
	if _, err := score(m, "cuda:all", ranking.Selection{K: 3}); !errors.Is(err, device.ErrLost) {
		t.Errorf("error %v, want that a device was lost", err)
	}
	p.Data("mlp.2.bias")[0] = float32(math.NaN())
	_, err = score(machine(3), "cuda:all", ranking.Selection{K: 3})
	if !errors.Is(err, inference.ErrNotFinite) || !strings.HasPrefix(err.Error(), "scoring (0, 0, ?): ") {
		t.Errorf("error %v, want one that names the first query", err)
	}
}
