package train

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"tagnet/formats/storage/lock"
	"tagnet/model/accelerator"
	"tagnet/model/answer"
	"tagnet/model/engine/kernel"
	"tagnet/model/learn"
	"tagnet/model/steps"
	"tagnet/model/weights/checkpoint"
	"tagnet/model/weights/parameters"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/progress"
	"tagnet/stages/worker"
)

// defaultMinutes is the time of a training without flags that choose one.
var defaultMinutes = 10.

const (
	// mostMinutes is two years: a time is a number of nanoseconds, which could not hold much more.
	mostMinutes = 1e6
	// measuring is the part of the time in which the speed of the choices is measured, mostMeasured the most seconds
	// for one of them.
	measuring, mostMeasured = .06, 3.
	// fitMargin is the reserve for the fit of probabilities, as a multiple of the time that it was measured to take.
	fitMargin = 1.25
)

// amounts are the flags that --minutes decides.
var amounts = []string{"epochs", "learning_rate_decay", "queries_per_epoch", "valid_limit", "validate_every"}

// isTimed reports whether the training is one for a time: by --minutes, or since nothing else says how long it takes.
func (d *decision) isTimed(ctx context.Context) (bool, error) {
	var amount []string
	for _, name := range amounts {
		if d.e.HasFlag(name) {
			amount = append(amount, "--"+name)
		}
	}
	switch {
	case !d.e.HasFlag("minutes"):
		if len(amount) > 0 || d.anyChosen() || d.bundles || d.workers > 1 || d.resume && len(d.records) > 0 || command.Elsewhere() {
			return false, nil
		}
		before, err := lock.LastCommand(ctx, string(d.folder))
		return !(d.resume && before != ""), err // an interrupted training without a checkpoint has other flags
	case !(d.minutes > 0 && d.minutes <= mostMinutes):
		return false, command.FlagError("minutes", d.minutes, "more than 0, and at most 1000000")
	case len(amount) > 0:
		return false, command.Usage("--minutes decides how much is trained, and so does %s: leave one of them out", strings.Join(amount, ", "))
	case d.bundles:
		return false, command.Usage("--minutes decides how much is trained, and --bundles reads what was drawn for --epochs and --queries_per_epoch: leave " +
			"one of them out")
	case d.workers > 1:
		return false, ofOneWorker(d.workers)
	case command.Elsewhere():
		return false, command.Usage("--minutes measures this machine, and others would train: give --epochs with this --runner")
	}
	return true, nil
}

// ofOneWorker returns the error of a training for a time by several workers.
func ofOneWorker(workers int) error {
	return command.Usage("--minutes is for one worker: give --epochs with --workers %d", workers)
}

// deadline returns when a training of so many minutes ends.
func (d *decision) deadline(minutes float64) time.Time {
	return d.began.Add(time.Duration(minutes * float64(time.Minute)))
}

// measuringTime returns how long each of some choices is measured.
func measuringTime(minutes float64, choices int) time.Duration {
	return time.Duration(min(mostMeasured, measuring*minutes*60/float64(choices)) * float64(time.Second))
}

// roundUp returns minutes with one digit after the point, and so never fewer than are enough.
func roundUp(minutes float64) float64 { return math.Ceil(minutes*10) / 10 }

// clock returns a time of day, with its date if it is half a day away or more.
func clock(t time.Time) string {
	if time.Until(t) >= 12*time.Hour {
		return t.Format(time.DateTime)
	}
	return t.Format(time.TimeOnly)
}

// lengthen sets the number of epochs with which a resumed training takes the time.
func (p *plan) lengthen(ctx context.Context) error {
	deadline, span := p.deadline(p.minutes), measuringTime(p.minutes, 1)
	speed, err := p.speed(ctx, span)
	if err != nil {
		return err
	}
	fit, err := p.fitSeconds(ctx, span)
	if err != nil {
		return err
	}
	p.until = deadline.Add(-time.Duration(fitMargin * fit * float64(time.Second)))
	more := speed.Epochs(time.Until(p.until).Seconds(), p.Configuration, int(p.facts), p.valid, p.Validation)
	if more == 0 {
		epoch := speed.Epoch(p.Configuration, int(p.facts), p.valid, p.Validation)
		return fmt.Errorf("--minutes %g is too short for an epoch of this training and the fit of probabilities after it, of about %s: give %g or more",
			p.minutes, progress.Duration(time.Duration(fit*float64(time.Second))), roundUp(p.minutes+epoch/60-time.Until(p.until).Minutes()))
	}
	p.addEpochs(more)
	p.e.Say("--minutes %g, until %s: %d more epochs, with --epochs %d and a learning rate of at least %g",
		p.minutes, clock(deadline), more, p.Epochs, p.LeastLearningRate)
	return nil
}

// addEpochs adds epochs after those that are trained. The learning rate decays as it was to, and then no more; one that
// grows is left alone.
func (p *plan) addEpochs(more int) {
	if p.LearningRateDecay < 1 {
		p.LeastLearningRate = max(p.LeastLearningRate, steps.LearningRate(p.Configuration, p.Epochs))
	}
	p.before = int(p.trained())
	p.Epochs = p.before + more
	p.wantedSettings = p.settings
	p.e.Decide("epochs", strconv.Itoa(p.Epochs))
}

// trained returns the number of epochs, with a part of one, that are trained.
func (p *plan) trained() float64 {
	if len(p.records) == 0 {
		return 0
	}
	last := p.records[len(p.records)-1]
	if last.Partial == nil {
		return float64(last.Epoch)
	}
	return float64(last.Epoch-1) + float64(last.Partial.Queries)/float64(p.drawn())
}

// speed measures how fast this machine trains and validates, for about so long.
func (p *plan) speed(ctx context.Context, span time.Duration) (learn.Speed, error) {
	params := p.params("", lock.Lock{})
	data, err := params.ReadData(ctx)
	if err != nil {
		return learn.Speed{}, err
	}
	defer data.Close()
	data.Devices = accelerator.Process
	return learn.Measure(ctx, params.Run, data, span)
}

// fitSeconds measures about how many seconds the fit of probabilities takes after the training, 0 with --bundles.
func (p *plan) fitSeconds(ctx context.Context, span time.Duration) (float64, error) {
	if p.bundles {
		return 0, nil
	}
	k, err := kernel.Named(p.e.Variant(p.on.Kernel))
	if err != nil {
		return 0, err
	}
	selected, err := accelerator.Select(accelerator.Process, p.on.Device, p.Configuration)
	if err != nil {
		return 0, err
	}
	weights := parameters.Initialize(parameters.Layout(p.Configuration, 2*len(p.loaded.Relations)), steps.WeightsSeed(uint64(p.seed)))
	record := checkpoint.Record{Configuration: p.Configuration, Epoch: 1, Origin: p.Origin}
	m := answer.New(p.loaded, record, weights, answer.Resources{Kernel: k, Threads: p.threads(), Device: &selected})
	over, err := m.OverAllFacts(ctx)
	if err != nil {
		return 0, err
	}
	defer over.Close()
	return over.FitSeconds(ctx, span)
}

// threads returns the number of threads of a worker in this process.
func (p *plan) threads() int { return worker.Threads(p.on.Threads, p.allotment.MaxThreads) }

// cost measures, for --plan, how long the epochs that remain and the fit of probabilities take: processor time, since a
// machine may have other work.
func (p *plan) cost(ctx context.Context) (command.Cost, error) {
	if !p.e.Planned() {
		return command.Cost{}, nil
	}
	selected, err := accelerator.Select(accelerator.Process, p.on.Device, p.Configuration)
	if err != nil {
		return command.Cost{}, err
	}
	const span = time.Second
	began, before := time.Now(), processorTime()
	speed, err := p.speed(ctx, span)
	if err != nil {
		return command.Cost{}, err
	}
	fit, err := p.fitSeconds(ctx, span)
	if err != nil {
		return command.Cost{}, err
	}
	cores := float64(p.threads())
	if used := processorTime() - before; used > 0 && selected.Accelerator() == nil {
		cores = used.Seconds() / time.Since(began).Seconds()
	}
	left := float64(p.Epochs)
	if p.resume {
		left = max(0, left-p.trained())
	}
	seconds := speed.Epoch(p.Configuration, int(p.facts), p.valid, p.Validation)*left + fit
	return command.Cost{Seconds: seconds * cores, Threads: p.threads()}, nil
}
