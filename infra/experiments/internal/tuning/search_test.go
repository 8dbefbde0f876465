package tuning

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/model/configuration"
)

// example is a search whose best learning rate is 0.005.
func example() Search {
	return Search{
		Space: Space{
			"learning_rate": {LogUniform: []float64{1e-4, 1e-1}},
			"dropout":       {Uniform: []float64{0, .5}},
			"layers":        {Integers: []int{3, 6}},
			"aggregate":     {Choices: []json.RawMessage{json.RawMessage(`"pna"`), json.RawMessage(`"sum"`)}},
		},
		Candidates: 12, Rungs: []int{1, 3, 9}, KeepOneIn: 3, Seed: 7,
	}
}

// state holds the progress of the trainings of a test. It survives an interrupt, as a workspace does.
type state struct {
	mu      sync.Mutex
	epochs  map[int]int // by candidate
	trained int         // epochs in all
	calls   int
	fail    func(c Candidate, epochs int) error
	value   func(c Candidate, epochs int) float64
}

func newState() *state {
	return &state{
		epochs: map[int]int{}, fail: func(Candidate, int) error { return nil },
		value: func(c Candidate, epochs int) float64 {
			return .5 - math.Abs(math.Log(c.Configuration.LearningRate/.005))/20 + float64(epochs)/100
		},
	}
}

// Train takes a minute for each layer and epoch.
func (s *state) Train(ctx context.Context, c Candidate, epochs, _ int) (Outcome, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	if err := errors.Join(ctx.Err(), s.fail(c, epochs)); err != nil {
		return Outcome{}, err
	}
	s.trained += max(0, epochs-s.epochs[c.Number])
	s.epochs[c.Number] = max(epochs, s.epochs[c.Number])
	return Outcome{s.value(c, epochs), 60 * float64(epochs*c.Configuration.Layers)}, nil
}

// run runs a search and returns its result with the tables that it prints.
func run(t *testing.T, ctx context.Context, s Search, trainer Trainer, atATime int) (Result, string, error) {
	t.Helper()
	var tables strings.Builder
	result, err := s.Run(ctx, s.Draw(configuration.Default()), trainer, atATime, func(r Rung) {
		if err := s.Print(&tables, r); err != nil {
			t.Error(err)
		}
	})
	return result, tables.String(), err
}

// shape returns the candidates of each rung in their order.
func shape(r Result) [][]int {
	var all [][]int
	for _, rung := range r.Rungs {
		var numbers []int
		for _, e := range rung.Entries {
			numbers = append(numbers, e.Candidate.Number)
		}
		all = append(all, numbers)
	}
	return all
}

func TestSearch(t *testing.T) {
	t.Parallel()
	s, trainings := example(), newState()
	result, tables, err := run(t, t.Context(), s, trainings, 2)
	if err != nil {
		t.Fatal(err)
	}
	// 12 candidates for an epoch, the best 4 for 2 more, the best 2 for 6 more.
	if want := 12 + 4*2 + 2*6; trainings.trained != want {
		t.Errorf("%d epochs were trained, want %d", trainings.trained, want)
	}
	rungs := shape(result)
	if len(rungs) != 3 || len(rungs[0]) != 12 || !slices.Equal(rungs[1], rungs[0][:4]) || !slices.Equal(rungs[2], rungs[0][:2]) {
		t.Errorf("the rungs have %v", rungs)
	}
	best := result.Best
	for _, c := range s.Draw(configuration.Default()) {
		if v := trainings.value(c, 9); v > best.Outcome.MRR {
			t.Errorf("candidate %d has %g, the best is %d with %g", c.Number, v, best.Candidate.Number, best.Outcome.MRR)
		}
	}
	for _, want := range []string{"rung 1 of 3, epoch 1: 12 candidates, 4 continue to epoch 3\n", "rung 3 of 3, epoch 9: 2 candidates\n", "learning_rate", fmt.Sprintf("%.4f", best.Outcome.MRR)} {
		if !strings.Contains(tables, want) {
			t.Errorf("no %q in\n%s", want, tables)
		}
	}
	for _, atATime := range []int{1, 5} {
		again, sameTables, err := run(t, t.Context(), s, newState(), atATime)
		if err != nil || cmp.Diff(result, again, cmp.AllowUnexported(Entry{})) != "" || tables != sameTables {
			t.Errorf("%d at a time: %v\n%s", atATime, err, cmp.Diff(tables, sameTables))
		}
	}
}

// TestInterruptedSearch interrupts a search before each of its trainings: it continues to the same result, and trains no epoch twice.
func TestInterruptedSearch(t *testing.T) {
	t.Parallel()
	s := example()
	want, tables, err := run(t, t.Context(), s, newState(), 1)
	if err != nil {
		t.Fatal(err)
	}
	whole := newState()
	for n := 1; ; n++ {
		ctx, cancel := context.WithCancel(t.Context())
		whole.calls = 0
		whole.fail = func(Candidate, int) error {
			if whole.calls == n {
				cancel()
				return ctx.Err()
			}
			return nil
		}
		got, gotTables, err := run(t, ctx, s, whole, 2)
		cancel()
		if err != nil {
			if !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			continue
		}
		if difference := cmp.Diff(want, got, cmp.AllowUnexported(Entry{})) + cmp.Diff(tables, gotTables); difference != "" {
			t.Error(difference)
		}
		break
	}
	if want := 12 + 4*2 + 2*6; whole.trained != want {
		t.Errorf("%d epochs were trained, want %d", whole.trained, want)
	}
}

func TestDivergedCandidateDropsOut(t *testing.T) {
	t.Parallel()
	s, trainings := example(), newState()
	first, _, err := run(t, t.Context(), s, newState(), 1)
	if err != nil {
		t.Fatal(err)
	}
	best, second := first.Rungs[0].Entries[0].Candidate.Number, first.Rungs[0].Entries[1].Candidate.Number
	trainings.fail = func(c Candidate, epochs int) error {
		if c.Number == best && epochs == 3 {
			return fmt.Errorf("training: %w", &Diverged{"the loss is not finite"})
		}
		return nil
	}
	result, tables, err := run(t, t.Context(), s, trainings, 2)
	if err != nil {
		t.Fatal(err)
	}
	if last := result.Rungs[1].Entries[3]; last.Candidate.Number != best || result.Best.Candidate.Number != second || result.Rungs[1].Promoted != 2 {
		t.Errorf("the rungs have %v", shape(result))
	}
	if !strings.Contains(tables, "4 candidates, 1 diverged, 2 continue") || !strings.Contains(tables, "  the loss is not finite\n") {
		t.Errorf("no line about it in\n%s", tables)
	}

	trainings.fail = func(Candidate, int) error { return &Diverged{"the loss is not finite"} }
	if _, _, err := run(t, t.Context(), s, trainings, 2); err == nil || !strings.Contains(err.Error(), "no candidate is left after epoch 1") {
		t.Errorf("all diverge: %v", err)
	}
}

// TestOtherFailureEndsTheSearch checks that a full disk, say, does not cost a candidate: the others of the rung are trained, and the search ends.
func TestOtherFailureEndsTheSearch(t *testing.T) {
	t.Parallel()
	s, trainings := example(), newState()
	full := errors.New("no space left")
	trainings.fail = func(c Candidate, epochs int) error {
		if c.Number == 3 {
			return full
		}
		return nil
	}
	_, tables, err := run(t, t.Context(), s, trainings, 2)
	if !errors.Is(err, full) || !strings.Contains(err.Error(), "candidate 3: ") || tables != "" {
		t.Errorf("%v, %s", err, tables)
	}
	if trainings.trained != 11 {
		t.Errorf("%d candidates were trained", trainings.trained)
	}
}

// TestEqualValues checks that of candidates with equal values those of lower numbers are kept, in any order of their trainings, and
// at a later rung those that were ahead.
func TestEqualValues(t *testing.T) {
	t.Parallel()
	s, trainings := example(), newState()
	trainings.value = func(Candidate, int) float64 { return .5 }
	result, _, err := run(t, t.Context(), s, trainings, 4)
	if want := [][]int{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, {0, 1, 2, 3}, {0, 1}}; err != nil || cmp.Diff(want, shape(result)) != "" {
		t.Errorf("%v, %v", err, shape(result))
	}
	trainings.value = func(c Candidate, epochs int) float64 {
		if epochs == 1 {
			return float64(c.Number) / 100
		}
		return .5
	}
	result, _, err = run(t, t.Context(), s, trainings, 4)
	if want := [][]int{{11, 10, 9, 8}, {11, 10}}; err != nil || cmp.Diff(want, shape(result)[1:]) != "" {
		t.Errorf("%v, %v", err, shape(result))
	}
}

func TestHours(t *testing.T) {
	t.Parallel()
	whole, _, err := run(t, t.Context(), example(), newState(), 1)
	if err != nil {
		t.Fatal(err)
	}
	first := 0.0 // the time of the first rung
	for _, e := range whole.Rungs[0].Entries {
		first += e.Outcome.Seconds / 3600
	}
	minute := 1. / 60
	perEpoch := whole.Best.Outcome.Seconds / 3600 / 9
	for name, c := range map[string]struct {
		hours   float64
		rungs   []int // the number of candidates at each
		missing bool
	}{
		"enough":                   {whole.Seconds / 3600, []int{12, 4, 2}, false},
		"for the best alone":       {first + 8*perEpoch + minute/60, []int{12, 1, 1}, false},
		"for the first rung alone": {first + 8*perEpoch - minute, []int{12}, true},
		"for one training":         {minute / 2, []int{1}, true},
	} {
		s := example()
		s.Hours = c.hours
		result, tables, err := run(t, t.Context(), s, newState(), 1)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var counts []int
		for _, r := range result.Rungs {
			counts = append(counts, len(r.Entries))
		}
		if !slices.Equal(counts, c.rungs) || (result.Missing > 0) != c.missing {
			t.Errorf("%s: %v candidates, want %v, %g s are missing\n%s", name, counts, c.rungs, result.Missing, tables)
		}
		if !c.missing && result.Seconds > s.Hours*3600+1 {
			t.Errorf("%s: %g s of %g hours", name, result.Seconds, s.Hours)
		}
	}
}

func TestPresetOfSearch(t *testing.T) {
	t.Parallel()
	s := example()
	base, err := configuration.Preset("wn-v1")
	if err != nil {
		t.Fatal(err)
	}
	trainings := newState()
	trainings.fail = func(c Candidate, _ int) error {
		if c.Number == 5 {
			return &Diverged{"the loss is not finite"}
		}
		return nil
	}
	result, err := s.Run(t.Context(), s.Draw(base), trainings, 1, func(Rung) {})
	if err != nil {
		t.Fatal(err)
	}
	for _, preset := range []string{"wn-v1", ""} {
		text, err := s.PresetFile(Origin{Name: "tiny", Dataset: "WN18RR_v1", Preset: preset, Flags: map[string]string{"valid_limit": "9"}}, result)
		if err != nil {
			t.Fatal(err)
		}
		got, err := configuration.ParsePreset("f.json", text)
		if err != nil || got != result.Best.Candidate.Configuration || got.Epochs != 9 {
			t.Errorf("%v\n%s\n%s", err, text, got)
		}
		var file struct {
			Preset     string `json:"preset"`
			Provenance struct {
				Name string `json:"search"`
				Search
				Flags         map[string]string `json:"flags"`
				Trained       []trained         `json:"trained"`
				Candidate     int               `json:"candidate"`
				ValidationMRR float64           `json:"validation_mrr"`
			} `json:"provenance"`
		}
		if err := json.Unmarshal(text, &file); err != nil {
			t.Fatal(err)
		}
		p := file.Provenance
		if file.Preset != preset || p.Candidate != result.Best.Candidate.Number || p.ValidationMRR != result.Best.Outcome.MRR || p.Seed != 7 || len(p.Trained) != 3 || p.Name != "tiny" || len(p.Space) != 4 || p.Flags["valid_limit"] != "9" || len(p.Trained[0].ValidationMRR)+len(p.Trained[0].Diverged) != 12 || !slices.Equal(p.Trained[0].Diverged, []int{5}) {
			t.Errorf("the provenance is %+v", p)
		}
		if again, err := s.PresetFile(Origin{Name: "tiny", Dataset: "WN18RR_v1", Preset: preset, Flags: map[string]string{"valid_limit": "9"}}, result); err != nil || string(again) != string(text) {
			t.Errorf("a second time: %v\n%s", err, again)
		}
	}
}
