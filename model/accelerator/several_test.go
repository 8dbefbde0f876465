package accelerator_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/model/accelerator"
	"tagnet/model/answer"
	"tagnet/model/answer/ranking"
	"tagnet/model/engine/device"
	"tagnet/model/engine/inference"
	"tagnet/model/gpu"
	"tagnet/model/gpu/interpreter"
	"tagnet/model/graph"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// card is an interpreter that counts its launches. After a number of them, if that is not 0, it waits until another card is lost, or is
// lost itself where there is none.
type card struct {
	device.Device
	launches atomic.Int64
	last     int64
	waitsFor *card
	lost     chan struct{}
	once     sync.Once
}

func (c *card) Launch(k device.Kernel, blocks, threads int, arguments ...any) error {
	if n := c.launches.Add(1); c.last > 0 && n > c.last {
		if c.waitsFor == nil {
			c.once.Do(func() { close(c.lost) })
			return fmt.Errorf("launching: %w", device.ErrLost)
		}
		<-c.waitsFor.lost
	}
	return c.Device.Launch(k, blocks, threads, arguments...)
}

// machine returns devices with so much memory each, and the devices themselves.
func machine(memory ...int64) (accelerator.Devices, []*card) {
	var cards []*card
	for _, bytes := range memory {
		cards = append(cards, &card{Device: interpreter.New(interpreter.Memory(bytes)), lost: make(chan struct{})})
	}
	return accelerator.New(gpu.Driver(func(ordinal int) (device.Device, error) {
		if ordinal >= len(cards) {
			return nil, device.ErrRange
		}
		return cards[ordinal], nil
	})), cards
}

// TestSeveralDevices scores on one device, on two, and on three of which two have little memory: the answers have the same bits.
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
	queries := make([]answer.Request, 2*gpu.Together+1)
	for i := range queries {
		queries[i] = answer.Request{Query: graph.Query{Source: int32(i % 8), Relation: int32(i / 8 % 4), Answer: graph.None}, Rows: []int64{int64(i)}, Answers: []int32{int32(i % 7)}}
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
	best := ranking.Selection{K: 3}
	one, _ := machine(1 << 30)
	want, err := score(one, "cuda", best)
	if err != nil {
		t.Fatal(err)
	}
	for _, memory := range [][]int64{{1 << 30, 1 << 30}, {1 << 30, 1 << 20, 3 << 20}} {
		devices, cards := machine(memory...)
		got, err := score(devices, "cuda:all", best)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d devices (-one +all):\n%s", len(memory), diff)
		}
		for i, c := range cards {
			if c.launches.Load() == 0 {
				t.Errorf("device %d of %d scored nothing", i, len(cards))
			}
		}
	}

	// The host chooses from the scores of one query at a time.
	chosen := ranking.Selection{K: 2, Candidates: []int32{3, 4, 5}, Known: ranking.LeftOut}
	one, _ = machine(1 << 30)
	if want, err = score(one, "cuda", chosen); err != nil {
		t.Fatal(err)
	}
	three, _ := machine(1<<30, 1<<30, 1<<30)
	got, err := score(three, "cuda:all", chosen)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("chosen (-one +three): %v\n%s", err, diff)
	}

	// A lost device is an error, and so are scores that are not finite: the error names the first such query.
	failing, cards := machine(1<<30, 1<<30)
	cards[0].last, cards[0].waitsFor, cards[1].last = 8, cards[1], 8 // so that the second device gets queries, too
	if _, err := score(failing, "cuda:all", best); !errors.Is(err, device.ErrLost) {
		t.Errorf("error %v, want that a device was lost", err)
	}
	p.Data("mlp.2.bias")[0] = float32(math.NaN())
	three, _ = machine(1<<30, 1<<30, 1<<30)
	if _, err := score(three, "cuda:all", best); !errors.Is(err, inference.ErrNotFinite) || !strings.HasPrefix(err.Error(), "scoring (0, 0, ?): ") {
		t.Errorf("error %v, want one that names the first query", err)
	}
}
