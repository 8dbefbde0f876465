package train

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"tagnet/formats/workspace/counts"
	"tagnet/model/budget"
	"tagnet/model/learn"
	"tagnet/model/weights/configuration"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/progress"
	"tagnet/pipelines/internal/cli/workspace"
)

// tooShort is the error of a time in which no choice can be trained.
type tooShort struct {
	minutes, enough float64
	instead         workspace.Command
}

func (t *tooShort) Error() string {
	return fmt.Sprintf("--minutes %g is too short on this graph: give %g or more, or take %s, which needs no training", t.minutes, roundUp(t.enough), t.instead)
}

// planChoice plans the training that is the best for the time.
func (d *decision) planChoice(ctx context.Context) (*plan, error) {
	minutes := d.minutes
	best, err := d.choose(ctx, minutes)
	if short := (&tooShort{}); errors.As(err, &short) && !d.e.HasFlag("minutes") {
		// Nobody asked for ten minutes: where they are too few, the training takes what is enough.
		minutes = math.Ceil(short.enough)
		d.e.Say("%g minutes are too short on this graph: --minutes %g", short.minutes, minutes)
		best, err = d.choose(ctx, minutes)
	}
	if err != nil {
		return nil, err
	}
	flags := best.flags()
	for i := 0; i+1 < len(flags); i += 2 {
		d.e.Decide(strings.TrimPrefix(flags[i], "--"), flags[i+1])
	}
	d.wantedSettings = best.chosenSettings()
	best.say(d.e, minutes, d.deadline(minutes))
	p, err := d.planWith(ctx, d.e, d.wantedSettings)
	if err != nil {
		return nil, err
	}
	p.ends, p.fit = best.ends, best.fit
	return p, nil
}

// candidate is a choice of hyperparameters, measured on the graph.
type candidate struct {
	*plan
	choice    string // flags of the frontier
	removal   string // flags beside it, where the choice leaves out edges that this graph needs
	perQuery  learn.Speed
	timetable learn.Timetable
	alike     []string // graphs of the frontier
}

// choose measures the choices of the frontier, or the one that flags made, and returns the best for the time.
func (d *decision) choose(ctx context.Context, minutes float64) (*candidate, error) {
	frontier := learn.Measured()
	choices := frontier.Choices()
	if d.anyChosen() {
		choices = []string{""}
	}
	span := measuringTime(minutes, len(choices))
	var candidates []*candidate
	var failed error // of a choice that does not fit into the memory, for example: the one that needs the least
	var short *tooShort
	for i, choice := range choices {
		if i == 1 {
			d.e.Progress.Print("measuring how fast %d choices of hyperparameters train on this graph", len(choices))
		}
		c, err := d.measure(ctx, choice, span, minutes)
		lacks := new(tooShort)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err == nil:
			candidates = append(candidates, c)
		case errors.As(err, &lacks):
			if short == nil || lacks.enough < short.enough {
				short = lacks
			}
		case failed == nil || memoryOf(err) < memoryOf(failed):
			failed = err
		}
	}
	switch {
	case len(candidates) > 0:
		return d.expectMost(ctx, frontier, candidates)
	case failed != nil:
		return nil, failed
	}
	return nil, short
}

// memoryOf returns the least memory that an error asks for, or 0.
func memoryOf(err error) int64 {
	small := new(budget.TooSmall)
	errors.As(err, &small)
	return small.Least
}

// expectMost returns the candidate, the first of equal ones, of which most is expected on the graph.
func (d *decision) expectMost(ctx context.Context, frontier learn.Frontier, candidates []*candidate) (best *candidate, err error) {
	summary, err := counts.ReadDataset(ctx, d.e.Workspace.Graph())
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

// planQuietly plans a training with a choice, to be measured. It prints nothing: each choice would say the same.
func (d *decision) planQuietly(ctx context.Context, h hyperparameters) (*plan, error) {
	s, err := d.settingsOf(ctx, h)
	if err != nil {
		return nil, err
	}
	quiet := *d.e
	quiet.Out = io.Discard
	return d.planWith(ctx, &quiet, s)
}

// measure measures a choice, that of the user's flags if it is empty, and makes a timetable of a training with it. If
// the time is too short for one, the error is a *tooShort.
func (d *decision) measure(ctx context.Context, choice string, span time.Duration, minutes float64) (*candidate, error) {
	c := &candidate{choice: choice}
	h, err := d.hyperparameters, error(nil)
	if choice != "" {
		if h, err = choiceOf(choice); err != nil {
			return nil, err
		}
	}
	if c.plan, err = d.planQuietly(ctx, h); err != nil {
		return nil, err
	}
	if choice != "" {
		if err := c.keepAdjacent(ctx, h); err != nil {
			return nil, err
		}
	}
	if c.perQuery, err = c.speed(ctx, span); err != nil {
		return nil, err
	}
	if err := c.measureFit(ctx, nil, span/2); err != nil {
		return nil, err
	}
	c.ends = d.deadline(minutes)
	return c, c.schedule(d, minutes)
}

// schedule makes the timetable: the longer the training, the longer the fit after it.
func (c *candidate) schedule(d *decision, minutes float64) error {
	extra := 0
	if c.weights != nil {
		extra = 1 // the weights are validated before the training
	}
	// What is left when the measurement of all choices ends is not known yet: each takes as long as this one.
	fit := func(t learn.Timetable) float64 {
		c.timetable = t
		return c.fit.Seconds(c.chosenSettings().Configuration)
	}
	var lacks float64
	c.timetable, lacks = c.perQuery.TimetableBefore(fit, time.Until(c.ends).Seconds(), c.Configuration, int(c.facts), c.valid, extra)
	if lacks == 0 {
		return nil
	}
	const longer = 1.1 // with more minutes, the measurement takes longer, too
	return &tooShort{minutes, minutes + longer*lacks/60, d.e.Workspace.Command("discover", "--model", "zero")}
}

// mostAdjacent is the share of validation facts between whose ends the graph has an edge, from which a choice does not
// remove such edges: in WN18RR it is a third, in FB15k-237 none.
const mostAdjacent = .05

// keepAdjacent plans a choice again that removes all edges between the ends of a training query, so that it removes
// none but that of the query, and the model learns what other edges say. It stays as it is where the validation facts
// have hardly any such edges.
func (c *candidate) keepAdjacent(ctx context.Context, h hyperparameters) error {
	if c.Remove != configuration.RemoveOneHop {
		return nil
	}
	queries, err := c.loaded.Queries(ctx, "valid")
	if err != nil || len(queries) > 0 && learn.Adjacent(c.loaded.View("valid").Graph, queries) < mostAdjacent {
		return err
	}
	c.removal = "--remove " + configuration.RemoveTriple
	if err := h.set("remove", configuration.RemoveTriple); err != nil {
		return err
	}
	c.plan, err = c.planQuietly(ctx, h)
	return err
}

// chosenSettings returns the settings of the choice, with its amounts.
func (c *candidate) chosenSettings() settings {
	s, t := c.plan.settings, c.timetable
	s.Epochs, s.QueriesPerEpoch, s.LearningRateDecay = t.Epochs, t.QueriesPerEpoch, t.Decay
	s.Validation.Every, s.Validation.Limit = t.ValidateEvery, t.ValidLimit
	return s
}

// flags returns the flags of the choice, with its amounts.
func (c *candidate) flags() []string {
	t := c.timetable
	list := append(strings.Fields(c.choice+" "+c.removal), "--epochs", strconv.Itoa(t.Epochs))
	if limited := c.QueriesPerEpoch > 0; limited || t.QueriesPerEpoch > 0 { // in place of the limit the timetable has one, or all are drawn
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

// say prints the choice, why, and until when.
func (c *candidate) say(e *command.Environment, minutes float64, deadline time.Time) {
	until := ", until " + clock(deadline)
	if c.timetable.Enough {
		until = fmt.Sprintf(" is more than it takes, as more than %d passes over the facts have not helped", learn.MostPasses)
	}
	e.Say("--minutes %g%s: %s queries at %.0f a second, then %s to fit probabilities", minutes, until,
		progress.Count(c.timetable.Queries), 1/c.perQuery.Query, progress.Duration(c.ends.Sub(c.endsBefore(c.chosenSettings().Configuration))))
	if c.choice != "" {
		e.Say("chosen: %s, the best after so many queries on the graphs that are most like this one, %s", c.choice, strings.Join(c.alike, " and "))
		if c.removal != "" {
			e.Say("and %s: other edges between the ends of a fact may say whether it is true", c.removal)
		}
	}
	e.Say("the same model on any machine: %s", e.Again("minutes", "plan", "dry_run", "resume"))
}
