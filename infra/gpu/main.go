// Command gpu times training steps, an epoch and scoring on a CUDA device, compares losses and scores with the CPU's,
// and says how much faster the device is. It is one program that needs a workspace with a graph and nothing else, for a
// machine that has a device for a short time.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"tagnet/formats/remedy"
	"tagnet/formats/workspace/manifest"
	"tagnet/infra/internal/program"
	"tagnet/model/answer"
	"tagnet/model/answer/ranking"
	"tagnet/model/engine/device"
	"tagnet/model/engine/kernel"
	"tagnet/model/gpu"
	"tagnet/model/gpu/cuda"
	"tagnet/model/graph/kg"
	"tagnet/model/learn"
	"tagnet/model/steps"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

func main() {
	start := time.Now()
	os.Exit(program.Run("gpu", "interrupted", func(ctx context.Context, arguments []string, out, _ io.Writer) error {
		return run(ctx, arguments, out, cuda.Open, start)
	}))
}

const seed = 0

type options struct {
	workspace, preset string
	device            device.Choice
	steps, queries    int
	onCPU             int
	minutes           float64
}

func parse(arguments []string, diagnostics io.Writer) (options, error) {
	o := options{device: device.Choice{Mode: device.CUDA}}
	set := flag.NewFlagSet("gpu", flag.ContinueOnError)
	set.StringVar(&o.workspace, "workspace", "workspace", "`folder` of a workspace with a graph, made by preprocess")
	set.StringVar(&o.preset, "preset", "fb15k-237", "`name` of the configuration, or a file with one: "+configuration.PresetsHelp())
	set.Var(&o.device, "device", "`cuda|cuda:n`: the device")
	set.IntVar(&o.steps, "steps", 200, "steps to time")
	set.IntVar(&o.queries, "queries", 2048, "validation queries to score")
	set.IntVar(&o.onCPU, "on_cpu", 4, "steps that the CPU makes, too, and 16 times as many queries")
	set.Float64Var(&o.minutes, "minutes", 9, "end the epoch after this time since the start of the program")
	if err := program.Parse(set, "Times a training step, an epoch and scoring on a CUDA device, and compares with the CPU.", arguments,
		diagnostics); err != nil {
		return o, err
	}
	switch {
	case o.device.Mode != device.CUDA || o.device.All:
		return o, program.Usage("--device %s: want cuda or cuda:n", o.device.String())
	case !(o.minutes > 0):
		return o, program.Usage("--minutes %g: want more than 0", o.minutes)
	case o.steps < 1 || o.queries < 1 || o.onCPU < 1:
		return o, program.Usage("--steps, --queries and --on_cpu: want 1 or more")
	}
	return o, nil
}

// measurement is one run of the command.
type measurement struct {
	options
	configuration configuration.Configuration
	kernel        kernel.Kernel
	device        device.Device
	data          learn.Data
	valid         []answer.Request
	batches       [][]steps.Draw // of the epoch
	end           time.Time
	out           io.Writer
}

func run(ctx context.Context, arguments []string, out io.Writer, open gpu.Driver, start time.Time) (err error) {
	o, err := parse(arguments, out)
	if err != nil {
		return err
	}
	m := &measurement{options: o, kernel: kernel.Available()[0], out: out, end: start.Add(time.Duration(o.minutes * float64(time.Minute)))}
	if m.configuration, err = configuration.OpenPreset(ctx, o.preset); err != nil {
		return program.Usage("--preset: %w", err)
	}
	if err := gpu.Supports(m.configuration); err != nil {
		return program.Usage("--preset %s: %s", o.preset, remedy.Without(err))
	}
	if m.device, err = open(o.device.Ordinal); err != nil {
		return errors.New(remedy.Without(err))
	}
	defer func() { err = errors.Join(err, m.device.Close()) }()
	p := m.device.Properties()
	m.print("%s, driver %s, %.1f GiB of memory, %d multiprocessors; %d threads of a CPU, %s", p.Name, p.Driver, float64(p.Memory)/(1<<30), p.Processors,
		runtime.GOMAXPROCS(0), m.kernel.Name())
	for _, step := range []struct {
		name string
		do   func(context.Context) error
	}{{"reading the graph", m.read}, {"training", m.train}, {"scoring", m.score}} {
		if err := step.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	return nil
}

func (m *measurement) print(format string, arguments ...any) {
	fmt.Fprintf(m.out, format+"\n", arguments...)
}

// read reads the graph, the training set and validation queries.
func (m *measurement) read(ctx context.Context) error {
	folder := filepath.Join(m.workspace, kg.Folder)
	described, err := manifest.Read(ctx, folder)
	if err != nil {
		return err
	}
	loaded, err := kg.Load(ctx, folder, described)
	if err != nil {
		return err
	}
	if m.data, err = learn.NewData(ctx, loaded); err != nil {
		return err
	}
	table, err := loaded.Queries(ctx, "valid")
	if err != nil {
		return err
	}
	for _, q := range table[:min(m.queries, len(table))] {
		m.valid = append(m.valid, answer.Request{Query: q, Rows: []int64{0}, Answers: []int32{q.Answer}})
	}
	m.batches = steps.Schedule(m.data.Train.Keys(m.configuration), m.configuration, seed, 1)
	g := m.data.Graph
	m.print("%s: %d entities, %d edges, %d relations with inverses; an epoch has %d steps", m.workspace, g.Entities, g.Edges(), g.RelationCount(),
		len(m.batches))
	return nil
}

// fresh returns the weights and the solver at the beginning of a training.
func (m *measurement) fresh() (*parameters.Set[float32], *steps.Adam) {
	relations := m.data.Graph.RelationCount()
	weights := parameters.Initialize(parameters.Layout(m.configuration, relations), steps.WeightsSeed(seed))
	return weights, steps.NewSolver(m.configuration, relations, m.kernel)
}

// epoch makes the first steps of the epoch, as training does: a device prepares each during the one
// before. It ends at a time.
func (m *measurement) epoch(ctx context.Context, t steps.Stepper, count int, end time.Time) (results []steps.Result, took time.Duration, err error) {
	begun, prepared := time.Now(), -1 // the step whose examples are there
	sampler := steps.NewSampler(m.data.Graph.Entities, m.configuration.StrictNegatives)
	var examples []steps.Example
	prepare := func(step int) {
		examples, err = m.data.Train.Examples(m.batches[step], seed, 1, nil)
		examples = slices.DeleteFunc(examples, sampler.Saturated)
		prepared = step
	}
	for step := 0; step < min(count, len(m.batches)) && time.Now().Before(end); step++ {
		if prepared < step {
			prepare(step)
		}
		if err := errors.Join(err, ctx.Err()); err != nil {
			return nil, 0, err
		}
		if len(examples) == 0 { // no query has negatives
			continue
		}
		if step+1 < len(m.batches) {
			t.Announce(func() ([]steps.Example, uint64) {
				prepare(step + 1)
				return examples, steps.StepSeed(seed, 1, step+1)
			})
		}
		result, failed := t.Step(examples, steps.StepSeed(seed, 1, step))
		if failed != nil {
			return nil, 0, failed
		}
		results = append(results, result)
	}
	return results, time.Since(begun), err
}

// train makes steps on the CPU and on the device, compares their losses, and makes an epoch.
func (m *measurement) train(ctx context.Context) error {
	c, never := m.configuration, time.Now().AddDate(1, 0, 0)
	weights, solver := m.fresh()
	trainer, err := gpu.NewTrainer(m.device, m.data.Graph, nil, c, weights, solver)
	if err != nil {
		return err
	}
	defer trainer.Close()
	first, _, err := m.epoch(ctx, trainer, m.onCPU, never)
	if err != nil {
		return err
	}
	own, ownSolver := m.fresh()
	cpu, err := steps.New(m.data.Graph, nil, c, own, ownSolver, runtime.GOMAXPROCS(0), m.kernel)
	if err != nil {
		return err
	}
	want, took, err := m.epoch(ctx, cpu, m.onCPU, never)
	if err != nil {
		return err
	}
	onCPU := took.Seconds() / float64(len(want))
	for i := range want {
		if first[i].Messages != want[i].Messages || !near(first[i].Loss, want[i].Loss) {
			return fmt.Errorf("step %d has loss %g and %d messages, the CPU's %g and %d", i+1, first[i].Loss, first[i].Messages, want[i].Loss, want[i].Messages)
		}
	}
	m.print("the losses of %d steps are the CPU's within %g; the last is %g", len(want), tolerance, want[len(want)-1].Loss)
	if err := trainer.Load(); err != nil {
		return err
	}
	results, took, err := m.epoch(ctx, trainer, m.steps, never)
	if err != nil {
		return err
	}
	m.compare("a step", took.Seconds()/float64(len(results)), onCPU)
	if err := trainer.Load(); err != nil {
		return err
	}
	if results, took, err = m.epoch(ctx, trainer, len(m.batches), m.end); err != nil || len(results) == 0 {
		return err
	}
	what := "an epoch"
	if len(results) < len(m.batches) {
		what = fmt.Sprintf("an epoch, from %d of %d steps", len(results), len(m.batches))
	}
	m.compare(what, took.Seconds()/float64(len(results))*float64(len(m.batches)), onCPU*float64(len(m.batches)))
	loss := 0.
	for _, r := range results {
		loss += r.Loss / float64(len(results))
	}
	m.print("%-32s %12.6f", "mean loss of its steps", loss)
	return nil
}

// score scores validation queries on the device, some of them on the CPU, too, and compares the
// scores of their answers.
func (m *measurement) score(ctx context.Context) error {
	weights, _ := m.fresh()
	scorer, err := gpu.NewScorer(m.device, m.data.Graph, nil, m.configuration, weights)
	if err != nil {
		return err
	}
	defer scorer.Close()
	best := ranking.Selection{K: 10}
	if _, err := scorer.Score(ctx, m.valid[:min(gpu.Together, len(m.valid))], best); err != nil { // the first kernels of a program take longer
		return err
	}
	begun := time.Now()
	scored, err := scorer.Score(ctx, m.valid, best)
	if err != nil {
		return err
	}
	took := time.Since(begun)
	cpu := answer.Model{Graph: m.data.Graph, Configuration: m.configuration, Parameters: weights,
		Resources: answer.Resources{Kernel: m.kernel, Threads: runtime.GOMAXPROCS(0)}}
	queries := m.valid[:min(16*m.onCPU, len(m.valid))]
	begun = time.Now()
	onCPU, err := cpu.Answer(ctx, queries, answer.Kept{})
	if err != nil {
		return err
	}
	spent := time.Since(begun)
	for i, q := range onCPU.Queries {
		if got, want := scored.Queries[i].Results[0], q.Results[0]; !near(float64(got.Score), float64(want.Score)) {
			return fmt.Errorf("(%d, %d, %d) has score %g, on the CPU %g", q.Source, q.Relation, want.Answer, got.Score, want.Score)
		}
	}
	m.print("the scores of %d answers are the CPU's within %g", len(queries), tolerance)
	m.compare("a scored query", took.Seconds()/float64(len(m.valid)), spent.Seconds()/float64(len(queries)))
	return nil
}

// tolerance bounds differences, relative to numbers beyond 1: a device adds terms in another order.
const tolerance = 1e-4

func near(x, y float64) bool { return math.Abs(x-y) <= tolerance*max(1, math.Abs(y)) }

// compare prints what something takes on the device and on the CPU.
func (m *measurement) compare(what string, onDevice, onCPU float64) {
	m.print("%-32s %12.6f s   CPU %12.6f s   %8.1f times as fast", what, onDevice, onCPU, onCPU/onDevice)
}
