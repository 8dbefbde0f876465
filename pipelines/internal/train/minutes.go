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
	"tagnet/model/learn"
	"tagnet/model/steps"
	"tagnet/model/weights/checkpoint"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/progress"
	"tagnet/pipelines/internal/probabilities"
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
	// measuringAgain is the part of the time of each measurement of the fit while the training runs.
	measuringAgain = .01
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
	span := measuringTime(p.minutes, 1)
	p.ends = p.deadline(p.minutes)
	speed, err := p.speed(ctx, span)
	if err != nil {
		return err
	}
	if err := p.measureFit(ctx, nil, span); err != nil {
		return err
	}
	c := p.Configuration
	c.Epochs = int(p.trained()) + 1 // more of them make the fit longer: see replan
	more := speed.Epochs(time.Until(p.endsBefore(c)).Seconds(), c, int(p.facts), p.valid, p.Validation)
	if more == 0 {
		epoch := speed.Epoch(c, int(p.facts), p.valid, p.Validation)
		return fmt.Errorf("--minutes %g is too short for an epoch of this training and the fit of probabilities after it, of about %s: give %g or more",
			p.minutes, progress.Duration(p.ends.Sub(p.endsBefore(c))), roundUp(p.minutes+epoch/60-time.Until(p.endsBefore(c)).Minutes()))
	}
	p.addEpochs(more)
	p.e.Say("--minutes %g, until %s: %d more epochs, with --epochs %d and a learning rate of at least %g",
		p.minutes, clock(p.ends), more, p.Epochs, p.LeastLearningRate)
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

// measureFit measures the fit of probabilities after the training, by the weights of its start if there are no others.
func (p *plan) measureFit(ctx context.Context, weights *parameters.Set[float32], span time.Duration) error {
	if p.bundles {
		return nil
	}
	if weights == nil {
		weights = p.initial
	}
	if weights == nil {
		weights = parameters.Initialize(parameters.Layout(p.Configuration, 2*len(p.loaded.Relations)), steps.WeightsSeed(uint64(p.seed)))
	}
	record := checkpoint.Record{Configuration: p.Configuration, Epoch: 1, Origin: p.Origin}
	fit, err := probabilities.Speed(ctx, p.e, answer.New(p.loaded, record, weights, answer.Resources{Threads: p.threads()}), p.on, span)
	p.fit = fit.Since(p.fit)
	return err
}

// endsBefore returns when a training has to end, so that the fit after it is made in time.
func (p *plan) endsBefore(c configuration.Configuration) time.Time {
	return p.ends.Add(-time.Duration(p.fit.Seconds(c) * float64(time.Second)))
}

// replan measures the fit by the weights so far: see learn.Replan.
func (p *plan) replan(ctx context.Context, weights *parameters.Set[float32]) (func(epochs int) time.Time, error) {
	var err error
	if p.replans++; p.replans&(p.replans-1) == 0 { // the first, second, fourth and so on
		span := min(mostMeasured, measuringAgain*p.ends.Sub(p.began).Seconds())
		err = p.measureFit(ctx, weights, time.Duration(span*float64(time.Second)))
	}
	return func(epochs int) time.Time {
		c := p.Configuration
		if epochs > c.Epochs && int64(epochs)*p.drawn() > learn.MostPasses*p.facts {
			return time.Time{}
		}
		c.Epochs = epochs
		return p.endsBefore(c)
	}, err
}

// threads returns the number of threads of a worker in this process.
func (p *plan) threads() int { return worker.Threads(p.on.Threads, p.allotment.MaxThreads) }

// cost measures, for --plan, how long the epochs that remain and the fit of probabilities take: processor time, since a
// machine may have other work.
func (p *plan) cost(ctx context.Context) (command.Cost, error) {
	if !p.e.Plan {
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
	if err := p.measureFit(ctx, nil, span); err != nil {
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
	seconds := speed.Epoch(p.Configuration, int(p.facts), p.valid, p.Validation)*left + p.fit.Seconds(p.Configuration)
	return command.Cost{Seconds: seconds * cores, Threads: p.threads()}, nil
}
