package train

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/storage/lock"
	"tagnet/formats/workspace/counts"
	"tagnet/model/accelerator"
	"tagnet/model/answer"
	"tagnet/model/budget"
	"tagnet/model/engine/device"
	"tagnet/model/engine/relations"
	"tagnet/model/graph/kg"
	"tagnet/model/learn"
	"tagnet/model/steps"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/progress"
	"tagnet/pipelines/internal/probabilities"
	"tagnet/stages/encode"
	"tagnet/stages/train"
)

// plan is a training with settings on the graph: what it computes on, and on how much. Making one writes nothing.
type plan struct {
	*decision
	settings
	e         *command.Environment     // of the decision, or a quiet one while choices are measured
	initial   *parameters.Set[float32] // the weights of --from over the graph, or nil for initial weights
	unused    []string                 // relations of --from that the graph lacks
	together  int                      // shards of a round that a process trains at the same time
	computing string                   // says what it computes on
	facts     int64                    // that the training learns from
	valid     int64                    // validation queries
	allotment budget.Allotment
	ends      time.Time // when the training for a time and the fit of probabilities after it end, or zero
	fit       answer.FitSpeed
	replans   int
	before    int // complete epochs before those of --resume --minutes
}

// plan completes the settings where --minutes chooses them, and plans the training.
func (d *decision) plan(ctx context.Context) (*plan, error) {
	if d.chooses() {
		return d.planChoice(ctx)
	}
	p, err := d.planWith(ctx, d.e, d.wantedSettings)
	if err == nil && d.timed && d.resume {
		err = p.lengthen(ctx)
	}
	return p, err
}

// planWith plans a training with settings, and says to an environment what a user should know of it.
func (d *decision) planWith(ctx context.Context, e *command.Environment, s settings) (*plan, error) {
	p := &plan{decision: d, settings: s, e: e}
	var err error
	if s.weights != nil {
		if p.initial, p.unused, err = s.weights.Over(d.loaded.Relations); err != nil {
			return nil, err
		}
	}
	if err := p.selectDevices(); err != nil {
		return nil, err
	}
	sizes, err := p.readSizes(ctx)
	if err != nil {
		return nil, err
	}
	if err := p.describeGraph(ctx); err != nil {
		return nil, err
	}
	if p.allotment, err = p.allot(ctx, sizes); err != nil {
		return nil, err
	}
	return p, p.openBundles(ctx)
}

// selectDevices selects what to compute on, and returns an error if the user's choice cannot be used.
func (p *plan) selectDevices() error {
	p.together, p.computing = 1, "computing on the CPU"
	choice := p.on.Device
	if choice.Mode != device.CUDA {
		return nil
	}
	if p.Workers > 1 && choice.All {
		p.together = p.Workers // a machine of a worker's may have as many
	}
	if p.computing = fmt.Sprintf("computing on %v of each worker's machine", choice); !command.Local() {
		return nil
	}
	selected, err := accelerator.Select(accelerator.Process, choice, p.Configuration)
	if err != nil {
		return fmt.Errorf("--device %v: %w", choice, err)
	}
	p.together, p.computing = min(p.together, selected.Devices()), selected.String()
	return nil
}

// readSizes counts the facts and the validation queries. It returns the sizes of the graph, of the larger one where
// validation is on another.
func (p *plan) readSizes(ctx context.Context) (budget.Sizes, error) {
	split, err := encode.SizesOf(ctx, p.loaded, "train")
	if err != nil {
		return split, err
	}
	if split.Queries == 0 {
		return split, errors.New("the train split has no queries: put facts into the dataset's train.txt and preprocess again")
	}
	sizes, err := encode.SizesOf(ctx, p.loaded, "valid")
	if err != nil {
		return sizes, err
	}
	p.facts, p.valid = split.Queries/2, sizes.Queries
	if patience := p.Validation.Patience; p.valid == 0 && patience > 0 {
		return sizes, command.Usage("--patience is %d, and the dataset has no validation facts that could get better: leave it out", patience)
	}
	sizes.Entities, sizes.Edges = max(sizes.Entities, split.Entities), max(sizes.Edges, split.Edges)
	return sizes, nil
}

// describeGraph says what a user should know of the graph.
func (p *plan) describeGraph(ctx context.Context) error {
	if p.valid == 0 {
		p.e.Say("there are no validation queries: the last epoch will count as the best")
	}
	summary, err := counts.ReadDataset(ctx, p.e.Workspace.Graph())
	if err != nil {
		return err
	}
	if c := summary.Conversion; c != nil && c.Split != nil && c.Split.NearInverse > 0 && p.Remove == configuration.RemoveTriple {
		p.e.Say("near-inverse relations: %d of %d: --remove one_hop hides their facts in training, as validation and test do; "+
			"lists of new facts are better without it", c.Split.NearInverse, summary.Relations)
	}
	if p.loaded.View("valid") != p.loaded.Train {
		p.e.Say("validation is on the inference graph, as preprocess --validate_on inference decided")
	}
	return nil
}

// allot divides the memory between the threads of the training and of the fit of probabilities after it. It depends on
// the relation graph and, for the probabilities, on the graph of all facts.
func (p *plan) allot(ctx context.Context, sizes budget.Sizes) (budget.Allotment, error) {
	var err error
	if sizes.RelationEdges, err = relations.CountEdges(p.loaded.Train.Graph, p.Configuration); err != nil {
		return budget.Allotment{}, err
	}
	u := budget.Use{Task: "training on this graph", Training: true, Averages: p.Workers > 1}
	if p.on.Device.Mode == device.CUDA {
		u.Devices = p.together
	}
	estimate := budget.ForModel(sizes, p.Configuration, u)
	if !p.bundles {
		all, err := encode.SizesOf(ctx, p.loaded, kg.All)
		if err != nil {
			return budget.Allotment{}, err
		}
		estimate = estimate.Or(probabilities.EstimateFit(all, p.Configuration))
	}
	return p.e.Allot(estimate, p.Memory, p.Threads)
}

// drawn returns the number of queries of an epoch.
func (p *plan) drawn() int64 { return int64(steps.FactsPerEpoch(int(p.facts), p.Configuration)) }

// work describes the jobs: the Beam pipeline that the run begins with, as others follow it for further rounds and for
// the fit of probabilities, and the inputs of its steps; the input of the training step is an epoch's.
func (p *plan) work(ctx context.Context, cost command.Cost) command.Work {
	step, queries, batch := "train.learn", p.drawn(), int64(p.BatchSize)
	if p.Workers > 1 {
		step = "train.shard"
	}
	load := command.Load{
		Step: step, Elements: queries,
		Unit: fmt.Sprintf("queries in an epoch, which has %s optimizer steps", progress.Count((queries+batch-1)/batch)),
	}
	return command.Work{
		Jobs:   func() ([]*beam.Pipeline, error) { return p.firstJob(ctx) },
		Memory: p.Memory, Count: queries, Unit: "training queries", Loads: []command.Load{load}, Cost: cost,
	}
}

// params returns the parameters of the stage, for the lock of the folder of checkpoints. session is the id
// of a learn.Session.
func (p *plan) params(session string, held lock.Lock) train.Params {
	w, on := p.e.Workspace, p.on
	return train.Params{
		Graph: w.Graph(), Bundles: p.bundlesURL(), Together: p.together, Session: session,
		Run: learn.Run{
			Checkpoints: w.Checkpoints(), History: w.TrainingLog(), Lock: held,
			Configuration: p.Configuration, Seed: p.seed, Validation: p.Validation, Rounds: p.Rounds,
			Every:   time.Duration(p.every * float64(time.Minute)),
			Threads: on.Threads, MostThreads: p.allotment.MaxThreads, Memory: on.Memory * budget.MiB,
			Kernel: p.e.Variant(on.Kernel), Device: on.Device,
		},
	}
}
