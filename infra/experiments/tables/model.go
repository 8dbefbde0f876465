package main

import (
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strings"

	"tagnet/formats/workspace/metrics"
	"tagnet/infra/experiments/internal/lists"
	"tagnet/infra/internal/engine"
)

// model is a cell of the grids: trainings that differ in their seeds only.
type model struct {
	lists.Training // with the first seed
	// List is the file that lists it, Seeds the number of listed ones.
	List    string
	Seeds   int
	Results []*engine.Result
}

// test is the protocol of the paper's tables.
const test = string(metrics.Test)

// Label describes the model within its dataset: "fixed, delta 0".
func (m *model) Label() string {
	text := m.Experiment
	for _, flag := range slices.Sorted(maps.Keys(m.Varied)) {
		text += ", " + flag + " " + m.Varied[flag]
	}
	return text
}

// spread describes a sample of values, such as a metric over seeds.
type spread struct {
	N int
	// Mean is NaN for an empty sample, Deviation, which is estimated with N - 1, for fewer than two values.
	Mean, Deviation float64
}

// Error returns the standard error of the mean, NaN for fewer than two values.
func (s spread) Error() float64 { return s.Deviation / math.Sqrt(float64(s.N)) }

// over returns the spread of a value over the seeds. NaN stands for a result without it.
func (m *model) over(of func(*engine.Result) float64) spread {
	var values []float64
	sum, squares := 0.0, 0.0
	for _, r := range m.Results {
		if v := of(r); !math.IsNaN(v) {
			values = append(values, v)
			sum += v
		}
	}
	s := spread{N: len(values), Mean: sum / float64(len(values)), Deviation: math.NaN()}
	for _, v := range values {
		squares += (v - s.Mean) * (v - s.Mean)
	}
	if s.N > 1 {
		s.Deviation = math.Sqrt(squares / float64(s.N-1))
	}
	return s
}

// evaluated returns the spread of a value of the evaluations by a protocol.
func (m *model) evaluated(protocol string, of func(*engine.Result, *engine.Evaluation) float64) spread {
	return m.over(func(r *engine.Result) float64 {
		if e := r.Commands[protocol].Evaluation; e != nil {
			return of(r, e)
		}
		return math.NaN()
	})
}

// metricsOf are the columns of the tables, by their names.
var metricsOf = map[string]func(metrics.Metrics) float64{
	"MRR":     func(m metrics.Metrics) float64 { return m.MRR },
	"Hits@1":  func(m metrics.Metrics) float64 { return m.Hits1 },
	"Hits@3":  func(m metrics.Metrics) float64 { return m.Hits3 },
	"Hits@10": func(m metrics.Metrics) float64 { return m.Hits10 },
}

// Metric returns a pessimistic metric by the paper's protocol.
func (m *model) Metric(name string) spread {
	return m.evaluated(test, func(_ *engine.Result, e *engine.Evaluation) float64 { return metricsOf[name](e.Pessimistic) })
}

// Hits10 returns the Hits@10 by a protocol, with ties against the answer or at their mean rank.
func (m *model) Hits10(protocol string, mean bool) spread {
	return m.evaluated(protocol, func(_ *engine.Result, e *engine.Evaluation) float64 {
		if mean {
			return e.Mean.Hits10
		}
		return e.Pessimistic.Hits10
	})
}

// Sent returns the share of NBFNet's messages that the model sends for the test queries: NBFNet sends one along each
// edge in each layer.
func (m *model) Sent() float64 {
	return m.evaluated(test, func(r *engine.Result, e *engine.Evaluation) float64 {
		return float64(e.Messages) / float64(e.Distinct*int64(m.Configuration.Layers)*r.Graph.Edges)
	}).Mean
}

// Validation returns the validation MRR after an epoch, of the best checkpoints for epoch 0.
func (m *model) Validation(epoch int) spread {
	return m.over(func(r *engine.Result) float64 {
		t, at := r.Commands["train"].Training, epoch
		if at == 0 {
			at = t.BestEpoch
		}
		if at > len(t.Curve) || t.Curve[at-1].Valid == nil {
			return math.NaN()
		}
		return t.Curve[at-1].Valid.MRR
	})
}

// CPU returns the processor time of a training.
func (m *model) CPU() spread {
	return m.over(func(r *engine.Result) float64 {
		if s := r.Commands["train"].CPUSeconds; s > 0 {
			return s
		}
		return math.NaN()
	})
}

// Time returns the elapsed time of a training.
func (m *model) Time() spread {
	return m.over(func(r *engine.Result) float64 { return r.Commands["train"].Training.Seconds })
}

// Done returns how many seeds have a result, of how many if some lack one.
func (m *model) Done() string {
	if m.Seeds > len(m.Results) {
		return fmt.Sprintf("%d of %d", len(m.Results), m.Seeds)
	}
	return fmt.Sprint(len(m.Results))
}

// Repeat returns the arguments of the experiments' command that repeat the first seed, or train what is missing; and a
// note where neither is possible.
func (m *model) Repeat() string {
	name := m.Cell() + "-seed-*"
	if len(m.Results) > 0 {
		name = m.Results[0].Run
		if kernels := m.Results[0].Kernels; len(kernels) > 1 {
			return "not to the last digit: several kernel variants computed the epochs, " + strings.Join(kernels, " and ")
		}
	}
	if m.List != paperFile {
		return fmt.Sprintf("`%s --only '%s'`", path.Join("infra/experiments", m.List), name)
	}
	return fmt.Sprintf("`--only '%s'`", name)
}

// architecture are the hyperparameters that Changes lists first.
var architecture = []string{"relations", "relation_layers", "policy", "layers", "delta", "delta_mode", "dim", "aggregate", "message"}

// Changes returns the hyperparameters that differ from a base.
func (m *model) Changes(base *model) string {
	before, after := lists.Hyperparameters(base.Configuration), lists.Hyperparameters(m.Configuration)
	var found []string
	listed := map[string]bool{}
	for _, name := range slices.Concat(architecture, slices.Sorted(maps.Keys(after))) {
		if before[name] != after[name] && !listed[name] {
			found = append(found, name+" "+after[name])
		}
		listed[name] = true
	}
	return strings.Join(found, ", ")
}

// atDistances returns the number of test queries whose answer is at some distances, and their Hits@10 over the seeds
// that have it.
func (m *model) atDistances(names []string) (queries int64, hits spread) {
	hits = m.evaluated(test, func(_ *engine.Result, e *engine.Evaluation) float64 {
		n, sum := int64(0), 0.0
		for _, name := range names {
			d := e.ByDistance[name]
			n, sum = n+d.Queries, sum+float64(d.Queries)*d.Pessimistic.Hits10
		}
		queries = max(queries, n)
		return sum / float64(n) // NaN without queries
	})
	return queries, hits
}

// number is a number of the paper and ours.
type number struct {
	*model
	Method, Name string // of the metric
	Paper        float64
	Ours         spread
	// OfQueries is the standard error that the number of test queries leaves, OfSeeds that of the mean over the seeds,
	// which is NaN for a single seed.
	OfQueries, OfSeeds float64
	// First is set where no number of the same model stands before.
	First bool
}

// newNumber compares a model's metric, by the paper's protocol, with a published number.
func newNumber(m *model, method, metric string, paper float64) number {
	ours := m.Metric(metric)
	return number{model: m, Method: method, Name: metric, Paper: paper, Ours: ours, OfQueries: m.queryError(metric), OfSeeds: ours.Error()}
}

// Difference returns ours less the paper's, both with three digits, since the paper's has no more.
func (n number) Difference() float64 { return math.Round(1000*n.Ours.Mean)/1000 - n.Paper }

func (n number) StandardError() float64 {
	if math.IsNaN(n.OfSeeds) {
		return n.OfQueries
	}
	return math.Hypot(n.OfSeeds, n.OfQueries)
}

// Sign says how our number compares: "✓" at or above the paper's, "≈" less than a standard error below, "▼" lower, ""
// if it is missing.
func (n number) Sign() string {
	switch d := n.Difference(); {
	case n.Ours.N == 0:
		return ""
	case d > -0.0005:
		return "✓"
	case d >= -n.StandardError():
		return "≈"
	}
	return "▼"
}

// Against describes the difference from the paper's number in words.
func (n number) Against() string {
	return fmt.Sprintf("%s %s against %s (%s, %.1f standard errors)", n.Name, three(n.Ours.Mean), three(n.Paper), signed(n.Difference()),
		math.Abs(n.Difference())/n.StandardError())
}

// queryError returns the standard error of a metric that comes from the number of queries, if these were drawn
// independently. That of a share is exact. That of the MRR is an upper bound, at most a few percent above it: of the
// inverse ranks the shares of ranks up to 1, 3 and 10 are known, and within each range the inverse is at most that of
// its first rank.
func (m *model) queryError(metric string) float64 {
	queries := m.evaluated(test, func(_ *engine.Result, e *engine.Evaluation) float64 { return float64(e.Queries) }).Mean
	value := m.Metric(metric).Mean
	square := value // of a share: the square of 0 or 1 is itself
	if metric == "MRR" {
		h1, h3, h10 := m.Metric("Hits@1").Mean, m.Metric("Hits@3").Mean, m.Metric("Hits@10").Mean
		square = h1 + (h3-h1)/4 + (h10-h3)/16 + (1-h10)/121
	}
	return math.Sqrt(max(0, square-value*value) / queries)
}
