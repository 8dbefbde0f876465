package train

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"tagnet/formats/storage/lock"
	"tagnet/formats/workspace/counts"
	"tagnet/model/accelerator"
	"tagnet/model/answer"
	"tagnet/model/budget"
	"tagnet/model/engine/kernel"
	"tagnet/model/learn"
	"tagnet/model/steps"
	"tagnet/model/weights/checkpoint"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/progress"
	"tagnet/pipelines/internal/cli/workspace"
	"tagnet/stages/worker"
)

// defaultMinutes is the time of a training without flags that choose one.
var defaultMinutes = 10.

const (
	// mostMinutes is two years: a time is a number of nanoseconds, which could not hold much more.
	mostMinutes = 1e6
	// measuring is the part of the time in which the speed of the choices is measured, mostMeasured the most seconds for one of them.
	measuring, mostMeasured = .06, 3.
	// fitMargin is the reserve for the fit of probabilities, as a multiple of the time that it was measured to take.
	fitMargin = 1.25
)

// amounts are the flags that --minutes decides.
var amounts = []string{"epochs", "learning_rate_decay", "least_learning_rate", "queries_per_epoch", "valid_limit", "validate_every"}

// chosen reports whether flags choose hyperparameters.
func (f *flags) chosen() bool {
	return f.preset != "" || f.origin.from != "" || slices.ContainsFunc(f.fields, func(f *field) bool { return f.given })
}

// timed reports whether the training is one for a time: by --minutes, or since nothing else says how long it takes.
func (f *flags) timed(ctx context.Context, e *command.Environment, records []checkpoint.Record) (bool, error) {
	var amount []string
	for _, name := range amounts {
		if e.Given(name) {
			amount = append(amount, "--"+name)
		}
	}
	switch {
	case !e.Given("minutes"):
		if len(amount) > 0 || f.chosen() || f.bundles || f.workers > 1 || f.resume && len(records) > 0 || command.Elsewhere() {
			return false, nil
		}
		if before, err := lock.LastCommand(ctx, e.Workspace.Checkpoints()); f.resume && before != "" || err != nil {
			return false, err // an interrupted training without a checkpoint has other flags
		}
		f.minutes = defaultMinutes
		return true, nil
	case !(f.minutes > 0 && f.minutes <= mostMinutes):
		return false, command.FlagError("minutes", f.minutes, "more than 0, and at most 1000000")
	case len(amount) > 0:
		return false, command.Usage("--minutes decides how much is trained, and so does %s: leave one of them out", strings.Join(amount, ", "))
	case f.bundles:
		return false, command.Usage("--minutes decides how much is trained, and --bundles reads what was drawn for --epochs and --queries_per_epoch: leave one of them out")
	case f.workers > 1:
		return false, ofOneWorker(f.workers)
	case command.Elsewhere():
		return false, command.Usage("--minutes measures this machine, and others would train: give --epochs with this --runner")
	}
	return true, nil
}

// ofOneWorker returns the error of a training for a time by several workers.
func ofOneWorker(workers int) error {
	return command.Usage("--minutes is for one worker: give --epochs with --workers %d", workers)
}

// schedule decides the flags of a training for a time, before it is configured: it sets them as if they were given. began is when the command
// started. Checkpoints that exist decide all but the number of epochs, and that only with --resume.
func (f *flags) schedule(ctx context.Context, e *command.Environment, began time.Time) error {
	records, _, err := checkpoint.Folder(e.Workspace.Checkpoints()).Records(ctx)
	if err != nil {
		return err
	}
	timed, err := f.timed(ctx, e, records)
	if !timed || err != nil {
		return err
	}
	end := func() time.Time { return began.Add(time.Duration(f.minutes * float64(time.Minute))) }
	if len(records) > 0 && (!e.Force || f.resume) {
		if f.existing = true; !f.resume {
			return nil // the plan says what may be done with them
		}
		return f.extend(ctx, e, records, end())
	}
	best, err := f.choose(ctx, e, end())
	if short := (&tooShort{}); errors.As(err, &short) && !e.Given("minutes") {
		// Nobody asked for ten minutes: where they are too few, the training takes what is enough.
		f.minutes = math.Ceil(short.enough)
		e.Say("%g minutes are too short on this graph: --minutes %g", short.minutes, f.minutes)
		best, err = f.choose(ctx, e, end())
	}
	if err != nil {
		return err
	}
	if err := set(e, best.flags()); err != nil {
		return err
	}
	f.until = best.until
	best.say(e, f.minutes, end())
	return nil
}

// tooShort is the error of a time in which no choice can be trained.
type tooShort struct {
	minutes, enough float64
	instead         workspace.Command
}

func (t *tooShort) Error() string {
	return fmt.Sprintf("--minutes %g is too short on this graph: give %g or more, or take %s, which needs no training", t.minutes, roundUp(t.enough), t.instead)
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

// candidate is a choice of hyperparameters, measured on the graph.
type candidate struct {
	choice    string // flags of the frontier
	removal   string // flags beside it, where the choice leaves out edges that this graph needs
	limited   bool   // the choice limits the queries of an epoch, in place of which the timetable does or all are drawn
	speed     learn.Speed
	fit       float64 // seconds of the fit of probabilities
	timetable learn.Timetable
	until     time.Time
	alike     []string // graphs of the frontier
}

// choose measures the choices of the frontier, or the one that flags made, and returns the best for the time.
func (f *flags) choose(ctx context.Context, e *command.Environment, deadline time.Time) (*candidate, error) {
	frontier := learn.Measured()
	choices := frontier.Choices()
	if f.chosen() {
		choices = []string{""}
	}
	about := time.Duration(min(mostMeasured, measuring*f.minutes*60/float64(len(choices))) * float64(time.Second))
	var candidates []*candidate
	var failed error // of a choice that does not fit into the memory, for example: the one that needs the least
	short := 0.
	for i, choice := range choices {
		if i == 1 { // the graph can be opened
			e.Progress.Print("measuring how fast %d choices of hyperparameters train on this graph", len(choices))
		}
		c, least, err := f.measure(ctx, e, choice, about, deadline)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil:
			if failed == nil || memory(err) < memory(failed) {
				failed = err
			}
		case least > 0 && (short == 0 || least < short):
			short = least
		case least == 0:
			candidates = append(candidates, c)
		}
	}
	switch {
	case len(candidates) > 0:
		return expectMost(ctx, e, frontier, candidates)
	case failed != nil:
		return nil, failed
	}
	return nil, &tooShort{f.minutes, short, e.Workspace.Command("discover", "--model", "zero")}
}

// memory returns the least memory that an error asks for, or 0.
func memory(err error) int64 {
	small := new(budget.TooSmall)
	errors.As(err, &small)
	return small.Least
}

// expectMost returns the candidate, the first of equal ones, of which most is expected on the graph.
func expectMost(ctx context.Context, e *command.Environment, frontier learn.Frontier, candidates []*candidate) (best *candidate, err error) {
	summary, err := counts.ReadDataset(ctx, e.Workspace.Graph())
	if err != nil {
		return nil, err
	}
	traits := learn.Traits{
		Facts: float64(summary.Facts), Entities: float64(summary.Entities), Relations: float64(summary.Relations),
		Answers: float64(summary.Queries["train"]) / float64(max(1, summary.Distinct["train"])),
	}
	most := -1.
	for _, c := range candidates {
		if expected := frontier.Expect(traits, c.choice, c.timetable.Queries); expected > most {
			best, most = c, expected
		}
	}
	best.alike = frontier.Nearest(traits, 2)
	return best, nil
}

// with returns a copy of the flags, to which those of a choice are added.
func (f *flags) with(choice string) (*flags, error) {
	g := *f
	g.measuring = true
	g.fields = nil
	for _, field := range f.fields {
		clone := *field
		g.fields = append(g.fields, &clone)
	}
	words := strings.Fields(choice)
	for i := 0; i+1 < len(words); i += 2 {
		switch name := strings.TrimPrefix(words[i], "--"); name {
		case "preset":
			g.preset = words[i+1]
		case "from":
			g.origin.from = words[i+1]
		default:
			at := slices.IndexFunc(g.fields, func(f *field) bool { return f.Name == name })
			if at < 0 {
				return nil, fmt.Errorf("the frontier has the unknown flag %s", words[i])
			}
			if err := g.fields[at].Set(words[i+1]); err != nil {
				return nil, err
			}
		}
	}
	return &g, nil
}

// opened opens a training with the flags of a choice, to be measured. It prints nothing: each choice would say the same.
func (f *flags) opened(ctx context.Context, e *command.Environment, choice string) (*trainer, error) {
	g, err := f.with(choice)
	if err != nil {
		return nil, err
	}
	quiet := *e
	quiet.Out = io.Discard
	if err := g.configure(ctx, &quiet); err != nil {
		return nil, err
	}
	t, err := g.open(ctx, &quiet)
	f.graph, f.inputs = g.graph, g.inputs
	return t, err
}

// measure measures a choice and plans a training with it. If the time is too short for one, it returns about how many minutes are enough.
func (f *flags) measure(ctx context.Context, e *command.Environment, choice string, about time.Duration, deadline time.Time) (*candidate, float64, error) {
	t, err := f.opened(ctx, e, choice)
	if err != nil {
		return nil, 0, err
	}
	c := &candidate{choice: choice}
	if choice != "" {
		if c.removal, err = t.removal(ctx); err != nil {
			return nil, 0, err
		}
	}
	if c.removal != "" {
		if t, err = f.opened(ctx, e, choice+" "+c.removal); err != nil {
			return nil, 0, err
		}
	}
	if c.speed, err = t.speed(ctx, about); err != nil {
		return nil, 0, err
	}
	c.limited = t.configuration.QueriesPerEpoch > 0
	// The fit takes the longer, the longer the training is; one that takes all the time is the bound.
	left := func() float64 { return time.Until(deadline).Seconds() }
	t.configuration.Epochs, t.configuration.QueriesPerEpoch = 1, max(1, int(left()/c.speed.Query))
	if c.fit, err = t.fitSeconds(ctx, about/2); err != nil {
		return nil, 0, err
	}
	c.fit *= fitMargin
	c.until = deadline.Add(-time.Duration(c.fit * float64(time.Second)))
	extra := 0
	if t.origin.file != nil {
		extra = 1 // the weights are validated before the training
	}
	// What is left when the measurement of all choices ends is not known yet: each takes as long as this one.
	var ok bool
	if c.timetable, ok = c.speed.Timetable(time.Until(c.until).Seconds(), t.configuration, int(t.facts), t.valid, extra); !ok {
		lacks := c.speed.Least(t.configuration, int(t.facts), t.valid, extra) - time.Until(c.until).Seconds()
		return nil, f.minutes + fitMargin*lacks/60, nil // with more minutes, the measurement and the fit take longer, too
	}
	return c, 0, nil
}

// mostAdjacent is the share of validation facts between whose ends the graph has an edge, from which a choice does not remove such edges: in WN18RR it
// is a third, in FB15k-237 none.
const mostAdjacent = .05

// removal returns the flags with which a choice of the frontier removes no edge but that of the training query, so that the model learns what other
// edges between its ends say. They are empty where the choice does so, and where no validation fact has such edges.
func (t *trainer) removal(ctx context.Context) (string, error) {
	if t.configuration.Remove != configuration.RemoveOneHop {
		return "", nil
	}
	queries, err := t.loaded.Queries(ctx, "valid")
	if err != nil || len(queries) > 0 && learn.Adjacent(t.loaded.Of("valid").Graph, queries) < mostAdjacent {
		return "", err
	}
	return "--remove " + configuration.RemoveTriple, nil
}

// speed measures how fast this machine trains and validates.
func (t *trainer) speed(ctx context.Context, about time.Duration) (learn.Speed, error) {
	p := t.params("")
	data, err := p.ReadData(ctx)
	if err != nil {
		return learn.Speed{}, err
	}
	defer data.Close()
	data.Devices = accelerator.Process
	return learn.Measure(ctx, p.Run, data, about)
}

// fitSeconds measures about how many seconds the fit of probabilities takes after the training, 0 with --bundles.
func (t *trainer) fitSeconds(ctx context.Context, about time.Duration) (float64, error) {
	if t.bundles {
		return 0, nil
	}
	k, err := kernel.Named(t.e.Variant(t.Kernel))
	if err != nil {
		return 0, err
	}
	selected, err := accelerator.Select(accelerator.Process, t.Device, t.configuration)
	if err != nil {
		return 0, err
	}
	c := t.configuration
	weights := parameters.Initialize(parameters.Layout(c, 2*len(t.loaded.Relations)), steps.WeightsSeed(uint64(t.e.Seed)))
	m := answer.New(t.loaded, checkpoint.Record{Configuration: c, Epoch: 1, Origin: t.origin.recorded}, weights, answer.Means{
		Kernel: k, Threads: worker.Threads(t.Threads, t.allotment.MaxThreads), Device: &selected,
	})
	over, err := m.OverAllFacts(ctx)
	if err != nil {
		return 0, err
	}
	defer over.Close()
	return over.FitSeconds(ctx, about)
}

// extend sets the number of epochs with which a resumed training takes the time.
func (f *flags) extend(ctx context.Context, e *command.Environment, records []checkpoint.Record, deadline time.Time) error {
	if workers := records[0].Rounds.Workers; workers > 1 {
		return ofOneWorker(workers)
	}
	t, err := f.opened(ctx, e, "")
	if err != nil {
		return err
	}
	about := time.Duration(min(mostMeasured, measuring*f.minutes*60) * float64(time.Second))
	speed, err := t.speed(ctx, about)
	if err != nil {
		return err
	}
	fit, err := t.fitSeconds(ctx, about)
	if err != nil {
		return err
	}
	f.until = deadline.Add(-time.Duration(fitMargin * fit * float64(time.Second)))
	more := speed.Epochs(time.Until(f.until).Seconds(), t.configuration, int(t.facts), t.valid, t.validation)
	if more == 0 {
		return fmt.Errorf("--minutes %g is too short for an epoch of this training and the fit of probabilities after it, of about %s: give %g or more",
			f.minutes, progress.Duration(time.Duration(fit*float64(time.Second))), roundUp(f.minutes+speed.Epoch(t.configuration, int(t.facts), t.valid, t.validation)/60-time.Until(f.until).Minutes()))
	}
	// Its learning rate decays as it was to, and then no more. One that grows is left alone.
	least := t.configuration.LeastLearningRate
	if t.configuration.LearningRateDecay < 1 {
		least = max(least, steps.LearningRate(t.configuration, t.configuration.Epochs))
	}
	f.before = int(t.trained(records))
	given := []string{"--epochs", strconv.Itoa(f.before + more), "--least_learning_rate", strconv.FormatFloat(least, 'g', -1, 64)}
	e.Say("--minutes %g, until %s: %d more epochs, with %s", f.minutes, clock(deadline), more, strings.Join(given, " "))
	return set(e, given)
}

// trained returns the number of epochs, with a part of one, that are trained.
func (t *trainer) trained(records []checkpoint.Record) float64 {
	if len(records) == 0 {
		return 0
	}
	last := records[len(records)-1]
	if last.Partial == nil {
		return float64(last.Epoch)
	}
	return float64(last.Epoch-1) + float64(last.Partial.Queries)/float64(steps.Drawn(int(t.facts), t.configuration))
}

// flags returns the flags of the choice, with its amounts.
func (c *candidate) flags() []string {
	t := c.timetable
	list := append(strings.Fields(c.choice+" "+c.removal), "--epochs", strconv.Itoa(t.Epochs))
	if t.QueriesPerEpoch > 0 || c.limited {
		list = append(list, "--queries_per_epoch", strconv.Itoa(t.QueriesPerEpoch))
	}
	list = append(list, "--learning_rate_decay", strconv.FormatFloat(t.Decay, 'g', -1, 64))
	if t.ValidateEvery > 1 {
		list = append(list, "--validate_every", strconv.Itoa(t.ValidateEvery))
	}
	if t.ValidLimit > 0 {
		list = append(list, "--valid_limit", strconv.FormatInt(t.ValidLimit, 10))
	}
	return list
}

// set sets flags as if they were given.
func set(e *command.Environment, list []string) error {
	for i := 0; i+1 < len(list); i += 2 {
		if err := e.Flags.Set(strings.TrimPrefix(list[i], "--"), list[i+1]); err != nil {
			return fmt.Errorf("%s: %w", list[i], err)
		}
	}
	return nil
}

// say prints the choice, why, and until when.
func (c *candidate) say(e *command.Environment, minutes float64, deadline time.Time) {
	until := ", until " + clock(deadline)
	if c.timetable.Enough {
		until = fmt.Sprintf(" is more than it takes, as more than %d passes over the facts have not helped", learn.MostPasses)
	}
	e.Say("--minutes %g%s: %s queries at %.0f a second, then %s to fit probabilities", minutes, until,
		progress.Count(c.timetable.Queries), 1/c.speed.Query, progress.Duration(time.Duration(c.fit)*time.Second))
	if c.choice != "" {
		e.Say("chosen: %s, the best after so many queries on the graphs that are most like this one, %s", c.choice, strings.Join(c.alike, " and "))
		if c.removal != "" {
			e.Say("and %s: other edges between the ends of a fact may say whether it is true", c.removal)
		}
	}
	e.Say("the same model on any machine: %s", e.Again("minutes", "plan", "dry_run", "resume"))
}

// cost measures, for --plan, how long the epochs that remain and the fit of probabilities take: processor time, since a machine may have other work.
func (t *trainer) cost(ctx context.Context) (command.Cost, error) {
	if !t.e.Planned() || t.measuring {
		return command.Cost{}, nil
	}
	var records []checkpoint.Record
	if t.resume {
		var err error
		if records, _, err = t.folder.Records(ctx); err != nil {
			return command.Cost{}, err
		}
	}
	selected, err := accelerator.Select(accelerator.Process, t.Device, t.configuration)
	if err != nil {
		return command.Cost{}, err
	}
	const about = time.Second
	began, before := time.Now(), processorTime()
	speed, err := t.speed(ctx, about)
	if err != nil {
		return command.Cost{}, err
	}
	fit, err := t.fitSeconds(ctx, about)
	if err != nil {
		return command.Cost{}, err
	}
	threads := worker.Threads(t.Threads, t.allotment.MaxThreads)
	cores := float64(threads)
	if used := processorTime() - before; used > 0 && selected.Accelerator() == nil {
		cores = used.Seconds() / time.Since(began).Seconds()
	}
	seconds := speed.Epoch(t.configuration, int(t.facts), t.valid, t.validation)*max(0, float64(t.configuration.Epochs)-t.trained(records)) + fit
	return command.Cost{Seconds: seconds * cores, Threads: threads}, nil
}
