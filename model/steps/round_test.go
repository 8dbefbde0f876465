package steps

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/workspace/safetensors"
	"tagnet/model/engine/kernel"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// The rounds of an epoch train each of its batches once, whatever the last round is left with.
func TestRoundsTrainEveryBatchOnce(t *testing.T) {
	t.Parallel()
	for _, batches := range []int{1, 2, 3, 7, 8, 9, 85} {
		for _, workers := range []int{2, 3, 4} {
			for _, local := range []int{1, 2, 8, math.MaxInt} {
				t.Run(fmt.Sprint(batches, workers, local), func(t *testing.T) {
					var trained []int
					for first := 0; first < batches; {
						r := NextRound(configuration.Rounds{Workers: workers, LocalSteps: local}, 3, first, batches)
						if r.Epoch != 3 || r.First != first || r.Workers < 1 || r.Workers > workers {
							t.Fatalf("round %+v", r)
						}
						last := r.First+r.Batches == batches
						if full := workers * local; !last && r.Batches != full {
							t.Errorf("%d batches, want %d in all rounds but the last", r.Batches, full)
						}
						for i := range r.Workers {
							shard := r.Shard(i)
							if steps := len(shard); steps < 1 || steps > r.Steps() || steps < r.Steps()-1 || (i == 0 && steps != r.Steps()) || steps > local {
								t.Errorf("shard %d of %+v makes %d steps", i, r, steps)
							}
							trained = append(trained, shard...)
						}
						first += r.Batches
					}
					slices.Sort(trained)
					want := make([]int, batches)
					for i := range want {
						want[i] = i
					}
					if diff := cmp.Diff(want, trained); diff != "" {
						t.Errorf("batches (-want +got):\n%s", diff)
					}
				})
			}
		}
	}
}

func TestShardsInterleave(t *testing.T) {
	t.Parallel()
	rounds := configuration.Rounds{Workers: 3, LocalSteps: 2}
	for first, want := range map[int][][]int{0: {{0, 3}, {1, 4}, {2, 5}}, 6: {{6, 9}, {7}, {8}}, 9: {{9}}} {
		r := NextRound(rounds, 1, first, 10)
		var got [][]int
		for i := range r.Workers {
			got = append(got, r.Shard(i))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("round from %d (-want +got):\n%s", first, diff)
		}
	}
}

// TestAverageByHand makes one step each of two shards, from the same weights, and compares the
// average with the arithmetic written out: g is a shard's gradient with the decay, m and v start at 0.
func TestAverageByHand(t *testing.T) {
	t.Parallel()
	const rate, decay = .01, .1
	start := []float32{1, -2, .5, 3}
	gradients := [][]float32{{.5, .25, -1, 0}, {-.125, .75, 2, 1e-3}}
	queries := []float64{64, 16} // the second shard had the smaller batch
	layout := []parameters.Shape{{Name: "w", Shape: []int{2, 2}}}
	var weights, moments Average
	for i, g := range gradients {
		p := parameters.NewSet[float32](layout)
		copy(p.Tensors[0].Data, start)
		gradient := parameters.NewSet[float32](layout)
		copy(gradient.Tensors[0].Data, g)
		solver := NewAdam(layout, rate, decay, kernel.Available()[0])
		if err := solver.Step(p, gradient); err != nil {
			t.Fatal(err)
		}
		state, _ := solver.State()
		for a, tensors := range map[*Average][]safetensors.Tensor[float32]{&weights: p.Tensors, &moments: state} {
			if err := a.Add(tensors, int64(queries[i])); err != nil {
				t.Fatal(err)
			}
		}
	}
	var want [3][]float64 // weights, first and second moments
	for j, w := range start {
		var sum [3]float64
		for i, g := range gradients {
			g := float64(g[j]) + decay*float64(w)
			m, v := (1-beta1)*g, (1-beta2)*g*g
			corrected := math.Sqrt(v / (1 - beta2))
			sum[0] += queries[i] * (float64(w) - rate*(m/(1-beta1))/(corrected+epsilon))
			sum[1] += queries[i] * m
			sum[2] += queries[i] * v
		}
		for k := range sum {
			want[k] = append(want[k], sum[k]/(queries[0]+queries[1]))
		}
	}
	got := append(weights.Mean(), moments.Mean()...)
	for k, name := range []string{"w", "exp_avg.w", "exp_avg_sq.w"} {
		if got[k].Name != name || !slices.Equal(got[k].Shape, []int{2, 2}) {
			t.Errorf("tensor %d is %s of %v, want %s", k, got[k].Name, got[k].Shape, name)
		}
		for j, x := range got[k].Data {
			if !(math.Abs(float64(x)-want[k][j]) <= 1e-6*math.Abs(want[k][j])+1e-9) {
				t.Errorf("%s[%d] is %g, want %g", name, j, x, want[k][j])
			}
		}
	}
}

// Shards that end with the same bits have them as their mean, whatever their weights.
func TestAverageOfEqualShards(t *testing.T) {
	t.Parallel()
	values := []float32{1, -1.0 / 3, 1e-38, 3e38, 0, 1e-45}
	shard := []safetensors.Tensor[float32]{{Name: "w", Shape: []int{6}, Data: values}}
	var a Average
	for _, weight := range []int64{64, 7, 1} {
		if err := a.Add(shard, weight); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(values, a.Mean()[0].Data); diff != "" {
		t.Errorf("mean (-want +got):\n%s", diff)
	}
}

func TestAverageRefusesOtherTensors(t *testing.T) {
	t.Parallel()
	tensor := func(name string, shape ...int) safetensors.Tensor[float32] {
		return safetensors.Tensor[float32]{Name: name, Shape: shape, Data: make([]float32, 2)}
	}
	for want, c := range map[string]struct {
		tensors []safetensors.Tensor[float32]
		weight  int64
	}{
		"averaging a shard of 0 tensors":           {nil, 1},
		"averaging v of shape [2], want w":         {[]safetensors.Tensor[float32]{tensor("v", 2)}, 1},
		"averaging w of shape [1 2], want w of [2": {[]safetensors.Tensor[float32]{tensor("w", 1, 2)}, 1},
		"averaging a shard of 0 queries":           {[]safetensors.Tensor[float32]{tensor("w", 2)}, 0},
	} {
		var a Average
		if err := a.Add([]safetensors.Tensor[float32]{tensor("w", 2)}, 1); err != nil {
			t.Fatal(err)
		}
		if err := a.Add(c.tensors, c.weight); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}
