package model

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"tagnet/formats/storage"
	"tagnet/formats/storage/lock"
	"tagnet/model/answer"
	"tagnet/model/answer/probability"
)

// ErrTooFew is the error of Fit for a graph with too few facts: there are scores, but no probabilities.
var ErrTooFew = probability.ErrTooFew

// ErrTrainingGraph is the error of Fit for a model that answers from another graph than the graph of all facts.
var ErrTrainingGraph = errors.New("probabilities are those of the graph of all facts: leave out WithGraph")

// WithMissing sets how many facts probabilities presume to be missing, as a share of the graph's facts: more than 0, at
// most 1, by default 0.05.
func WithMissing(share float64) Option {
	return func(o *options) { o.missing.Share, o.missing.Guessed = share, false }
}

// WithMissingOf sets how many facts of a relation are presumed to be missing, as a share of its facts: more than 0.
// More than 1 are missing of a relation that could be derived and is seldom stated. Its other facts do not count as
// those of WithMissing.
func WithMissingOf(relation string, share float64) Option {
	return func(o *options) { o.missing.Relations[relation] = share }
}

// Fit fits probabilities, unless the model has some: facts of the graph, each scored without itself, are compared with
// new answers. They depend on the weights, the graph and the reach alone, and equal the commands' probabilities. The
// workspace keeps them, or that there are too few facts, for the next Open; that it cannot be written is no error, and
// is logged. Kept ones that cannot be read are an error. progress, which may be nil, is called with the number of
// queries that were answered, of about as many. Other methods may run meanwhile, and have probabilities afterwards.
// Errors wrap ErrTooFew or ErrTrainingGraph where one of them applies.
func (m *Model) Fit(ctx context.Context, progress func(done, total int64)) error {
	fail := func(err error) error { return fmt.Errorf("fitting probabilities: %w", err) }
	m.fitting.Lock()
	defer m.fitting.Unlock()
	if !m.overAll {
		return fail(ErrTrainingGraph)
	}
	// Another process may have fitted them meanwhile.
	switch found, err := m.readProbabilities(ctx); {
	case err != nil:
		return fail(classify(err))
	case found:
		return errors.Join(m.checkPresumed(), m.ReadVerdicts(ctx))
	}
	sampling, err := m.opened.Sampling(ctx)
	if err != nil {
		return fail(classify(err))
	}
	// The work is an estimate, so that progress is cut off at it.
	done, total := int64(0), sampling.Work()
	err = m.opened.Fit(ctx, sampling, func(queries int) {
		if done = min(done+int64(queries), total); progress != nil {
			progress(done, total)
		}
	})
	tooFew := errors.Is(err, ErrTooFew)
	if err != nil && !tooFew {
		return fail(m.failed(err))
	}
	if err := m.writeProbabilities(ctx); err != nil && ctx.Err() == nil {
		m.note(fmt.Sprintf("the fit of probabilities is not kept: %v", err))
	}
	if tooFew {
		return fail(err)
	}
	return errors.Join(m.checkPresumed(), m.ReadVerdicts(ctx))
}

// checkPresumed returns an error if probabilities cannot presume what WithMissingOf says.
func (m *Model) checkPresumed() error {
	_, err := m.opened.Estimator(*m.presumed.Load())
	return err
}

// note announces a text, or logs it where nothing is announced.
func (m *Model) note(text string) {
	if announce := m.opened.Resources.Announce; announce != nil {
		announce(text)
		return
	}
	slog.Warn(text)
}

// Presumed returns a sentence that says how many facts probabilities presume to be missing. fitted is false as long as
// nothing is fitted; then there are no probabilities.
func (m *Model) Presumed() (sentence string, fitted bool) {
	e, err := m.estimator()
	if e == nil || err != nil {
		return "", false
	}
	return e.Text(), true
}

// estimator returns the estimator of probabilities, or nil as long as nothing is fitted, or where checkPresumed fails,
// which Fit has said.
func (m *Model) estimator() (*probability.Estimator, error) {
	if !m.overAll {
		return nil, nil
	}
	e, err := m.opened.Estimator(*m.presumed.Load())
	if errors.As(err, new(*probability.UntoldError)) {
		return nil, nil
	}
	return e, err
}

// probabilityOf returns the probability of an estimate, or nil if it claims none.
func probabilityOf(e probability.Estimate) *float64 {
	if !e.HasProbability {
		return nil
	}
	return &e.Probability
}

// probabilitiesFolder returns the folder of the workspace's probabilities, or "" without a workspace.
func (m *Model) probabilitiesFolder() string {
	if m.workspace == "" {
		return ""
	}
	return storage.Join(m.workspace, answer.ProbabilitiesFolder)
}

// readProbabilities reads the workspace's probabilities, unless the model has some, and reports
// whether it has some now.
func (m *Model) readProbabilities(ctx context.Context) (bool, error) {
	e, err := m.estimator()
	folder := m.probabilitiesFolder()
	if e != nil || err != nil || folder == "" || !m.overAll {
		return e != nil, err
	}
	return m.opened.ReadProbabilities(ctx, folder)
}

// writeProbabilities writes the model's into the workspace, unless there is none, or another process holds the lock: it
// fits the same.
func (m *Model) writeProbabilities(ctx context.Context) error {
	folder := m.probabilitiesFolder()
	if folder == "" {
		return nil
	}
	if err := storage.CheckRegular(ctx, m.workspace, folder); err != nil {
		return err
	}
	own := storage.Join(folder, m.opened.FitFolder())
	held, err := lock.Acquire(ctx, own, strings.Join(os.Args, " "), false)
	switch {
	case errors.As(err, new(*lock.Held)):
		return nil
	case err != nil:
		return err
	}
	err = errors.Join(m.opened.WriteProbabilities(held.Guard(ctx), folder), held.Release(context.WithoutCancel(ctx)))
	storage.RemoveEmpty(context.WithoutCancel(ctx), own)
	return err
}
