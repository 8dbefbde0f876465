package answer_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tagnet/model/accelerator"
	"tagnet/model/answer"
	"tagnet/model/answer/ranking"
	"tagnet/model/engine/device"
	"tagnet/model/engine/kernel"
	"tagnet/model/graph"
	"tagnet/model/learn/learntest"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// smallModel returns a model over a random graph of 60 entities, of which the last 10 have no edges.
func smallModel(t *testing.T) *answer.Model {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 1))
	var facts []graph.Fact
	for range 120 {
		facts = append(facts, graph.Fact{Head: random.Int32N(50), Relation: random.Int32N(3), Tail: random.Int32N(50)})
	}
	g, err := graph.New(60, 3, facts)
	if err != nil {
		t.Fatal(err)
	}
	c := configuration.Default()
	c.Layers, c.Dim, c.Delta = 2, 8, 1
	return &answer.Model{Graph: g, Configuration: c, Parameters: parameters.Initialize(parameters.Layout(c, g.RelationCount()), 3)}
}

// manyQueries returns requests of more queries than a device is given at a time, every third one with a row
// that has no labelled answer.
func manyQueries(m *answer.Model) []answer.Request {
	random := rand.New(rand.NewPCG(2, 2))
	var b []answer.Request
	row := int64(0)
	for i := range 2*512 + 9 {
		q := answer.Request{Query: graph.Query{Source: int32(i / 20), Relation: int32(i % 6), Answer: graph.None}}
		for range 1 + i%2 {
			q.Rows, q.Answers = append(q.Rows, row), append(q.Answers, random.Int32N(60))
			row++
		}
		if i%3 == 0 {
			q.Answers[0] = graph.None
		}
		for range 4 {
			q.Known = append(q.Known, random.Int32N(60))
		}
		slices.Sort(q.Known)
		q.Known = slices.Compact(q.Known)
		b = append(b, q)
	}
	return b
}

// on returns a copy of a model on what is selected. announce may be nil.
func on(t *testing.T, m *answer.Model, devices accelerator.Devices, mode device.Mode, announce func(string)) *answer.Model {
	t.Helper()
	selected, err := accelerator.Select(devices, device.Choice{Mode: mode}, m.Configuration)
	if err != nil {
		t.Fatal(err)
	}
	return &answer.Model{
		Graph: m.Graph, Configuration: m.Configuration, Parameters: m.Parameters,
		Resources: answer.Resources{Kernel: portable(t), Threads: 2, Device: &selected, Announce: announce},
	}
}

// rankOn ranks on what is selected, and returns the rows that were reported as done, and what was announced.
func rankOn(t *testing.T, ctx context.Context, m *answer.Model, devices accelerator.Devices, mode device.Mode, b []answer.Request,
	list ranking.Selection) (*answer.Scored, int, []string, error) {
	t.Helper()
	var announced []string
	m = on(t, m, devices, mode, func(text string) { announced = append(announced, text) })
	rows := make(chan int, 4*len(b))
	s, err := m.Answer(ctx, b, answer.Kept{Selection: list, Done: func(n int) { rows <- n }})
	close(rows)
	done := 0
	for n := range rows {
		done += n
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	return s, done, announced, err
}

func portable(t *testing.T) kernel.Kernel {
	t.Helper()
	k, err := kernel.Named("portable")
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// TestDeviceRanksAsTheCPU compares answers of a device and of the CPU on equal scores.
func TestDeviceRanksAsTheCPU(t *testing.T) {
	t.Parallel()
	m := smallModel(t)
	b := manyQueries(m)
	for _, list := range []ranking.Selection{
		{}, {K: 3}, {K: 1000}, {K: 3, Known: ranking.KnownToo}, {K: 3, Known: ranking.LeftOut}, {K: 3, Candidates: []int32{2, 3, 5, 8, 50}},
		{K: 1000, Known: ranking.LeftOut},
	} {
		compareDevices(t, m, b, list)
	}
	for i := range b {
		b[i].Sample = answer.Sample{Negatives: 9, Seed: 4}
	}
	compareDevices(t, m, b, ranking.Selection{K: 3})
}

// compareDevices ranks on a device and on the CPU.
func compareDevices(t *testing.T, m *answer.Model, b []answer.Request, list ranking.Selection) {
	t.Helper()
	want, rows, _, err := rankOn(t, t.Context(), m, nil, device.CPU, b, list)
	if err != nil {
		t.Fatal(err)
	}
	devices := &learntest.Devices{Kernel: portable(t)}
	got, done, announced, err := rankOn(t, t.Context(), m, devices, device.CUDA, b, list)
	if err != nil || done != rows || int64(rows) != answer.Rows(b) || len(announced) != 0 {
		t.Fatalf("%d of %d rows, announced %q, %v", done, rows, announced, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%+v (-cpu +device):\n%s", list, diff)
	}
	if want := []string{"open", "scorer", "score", "score", "score", "close scorer"}; !slices.Equal(devices.Operations, want) {
		t.Errorf("operations %q, want %q", devices.Operations, want)
	}
}

// TestDeviceFallsBack ranks on a device whose memory suffices for some groups only.
func TestDeviceFallsBack(t *testing.T) {
	t.Parallel()
	m := smallModel(t)
	b := manyQueries(m)
	want, rows, _, err := rankOn(t, t.Context(), m, nil, device.CPU, b, ranking.Selection{K: 3})
	if err != nil {
		t.Fatal(err)
	}
	for _, fails := range []int{0, 1, 3} { // at which of scorer and score
		for _, mode := range []device.Mode{device.Auto, device.CUDA} {
			operations := 0
			devices := &learntest.Devices{Kernel: portable(t), Fail: func(name string) error {
				if strings.HasPrefix(name, "sc") {
					if operations++; operations > fails {
						return fmt.Errorf("imaginary:0: %w", device.ErrMemory)
					}
				}
				return nil
			}}
			got, done, announced, err := rankOn(t, t.Context(), m, devices, mode, b, ranking.Selection{K: 3})
			if mode == device.CUDA {
				if !errors.Is(err, device.ErrMemory) {
					t.Errorf("after %d operations: error %v, want that the memory is too small", fails, err)
				}
				continue
			}
			if err != nil || done != rows || len(announced) != 1 || !strings.HasSuffix(announced[0], "imaginary:0: out of device memory") {
				t.Errorf("after %d operations: %d of %d rows, announced %q, %v", fails, done, rows, announced, err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("after %d operations (-cpu +after falling back):\n%s", fails, diff)
			}
			if slices.Contains(devices.Operations, "scorer") != slices.Contains(devices.Operations, "close scorer") {
				t.Errorf("operations %q, want that the scorer is closed", devices.Operations)
			}
		}
	}
}

func TestDeviceRankFails(t *testing.T) {
	t.Parallel()
	m := smallModel(t)
	b := manyQueries(m)
	lost := &learntest.Devices{Kernel: portable(t)}
	lost.Fail = func(name string) error {
		if name == "score" {
			return device.ErrLost
		}
		return nil
	}
	if _, _, _, err := rankOn(t, t.Context(), m, lost, device.Auto, b, ranking.Selection{K: 3}); !errors.Is(err, device.ErrLost) {
		t.Errorf("error %v, want that the device was lost", err)
	}
	if !slices.Contains(lost.Operations, "close") {
		t.Errorf("operations %q, want that the device is closed", lost.Operations)
	}

	ctx, cancel := context.WithCancel(t.Context())
	interrupted := &learntest.Devices{Kernel: portable(t), Fail: func(name string) error {
		if name == "score" {
			cancel()
		}
		return nil
	}}
	if _, done, _, err := rankOn(t, ctx, m, interrupted, device.Auto, b, ranking.Selection{K: 3}); !errors.Is(err, context.Canceled) || done >= len(b) {
		t.Errorf("interrupted: %d rows, %v", done, err)
	}

	broken, one := smallModel(t), b[1:2]
	bias := broken.Parameters.Data("mlp.2.bias")
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		bias[0] = float32(bad)
		_, _, _, onCPU := rankOn(t, t.Context(), broken, nil, device.CPU, one, ranking.Selection{K: 3})
		_, _, _, onDevice := rankOn(t, t.Context(), broken, &learntest.Devices{Kernel: portable(t)}, device.Auto, one, ranking.Selection{K: 3})
		query := fmt.Sprintf("scoring (%d, %d, ?): 60 of 60 scores are NaN or infinite", one[0].Source, one[0].Relation)
		if onCPU == nil || onDevice == nil || onCPU.Error() != onDevice.Error() || !strings.Contains(onCPU.Error(), query) {
			t.Errorf("%v: %v on a device, %v on the CPU, want %s", bad, onDevice, onCPU, query)
		}
	}

	closed := on(t, m, &learntest.Devices{Kernel: portable(t)}, device.CUDA, nil)
	b[0].Source = 60
	if _, err := closed.Answer(t.Context(), b, answer.Kept{}); err == nil || !strings.Contains(err.Error(), "source 60 is outside") {
		t.Errorf("requests of a larger graph: %v", err)
	}
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := closed.Answer(t.Context(), one, answer.Kept{}); err == nil || !strings.Contains(err.Error(), "run again") {
		t.Errorf("closed: %v", err)
	}
}

// TestFallBackOfAnotherGraph has the memory of a device run out for the second graph of a model: the first, whose
// scorer is made, computes on the processor, too.
func TestFallBackOfAnotherGraph(t *testing.T) {
	t.Parallel()
	m := smallModel(t)
	b := manyQueries(m)[:30]
	scorers := 0
	devices := &learntest.Devices{Kernel: portable(t), Fail: func(name string) error {
		if name == "scorer" {
			if scorers++; scorers > 1 {
				return device.ErrMemory
			}
		}
		return nil
	}}
	first := on(t, m, devices, device.Auto, nil)
	if err := first.Prepare(); err != nil {
		t.Fatal(err)
	}
	second := &answer.Model{Graph: m.Graph, Configuration: m.Configuration, Parameters: m.Parameters, Resources: first.Resources}
	for _, of := range []*answer.Model{second, first} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		_, err := of.Answer(ctx, b, answer.Kept{Selection: ranking.Selection{K: 3}})
		if cancel(); err != nil {
			t.Errorf("on the processor: %v", err)
		}
	}
	if want := []string{"open", "scorer", "close scorer"}; !slices.Equal(devices.Operations, want) {
		t.Errorf("operations %q, want %q", devices.Operations, want)
	}
}

// TestLostBeforeScoring has a device that is lost while a scorer is made: the next call opens it again.
func TestLostBeforeScoring(t *testing.T) {
	t.Parallel()
	opened := 0
	devices := &learntest.Devices{Kernel: portable(t), Fail: func(name string) error {
		switch {
		case name == "open":
			opened++
		case name == "scorer" && opened == 1:
			return device.ErrLost
		}
		return nil
	}}
	m := on(t, smallModel(t), accelerator.New(devices), device.CUDA, nil)
	if err := m.Prepare(); !errors.Is(err, device.ErrLost) {
		t.Errorf("error %v, want that the device was lost", err)
	}
	if err := m.Prepare(); err != nil {
		t.Errorf("after the device was lost: %v", err)
	}
}

// TestWaitForDevice has a call whose context ends while another one has the device.
func TestWaitForDevice(t *testing.T) {
	t.Parallel()
	scoring, proceed := make(chan struct{}), make(chan struct{})
	m := on(t, smallModel(t), &learntest.Devices{Kernel: portable(t), Fail: func(name string) error {
		if name == "score" {
			scoring <- struct{}{}
			<-proceed
		}
		return nil
	}}, device.CUDA, nil)
	b := manyQueries(m)[:1]
	ended := make(chan error)
	go func() {
		_, err := m.Answer(t.Context(), b, answer.Kept{})
		ended <- err
	}()
	<-scoring
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	late := time.AfterFunc(10*time.Second, func() { close(proceed) })
	if _, err := m.Answer(ctx, b, answer.Kept{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want that of the context", err)
	}
	if late.Stop() {
		close(proceed)
	} else {
		t.Error("the call waited for the device after its context had ended")
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
