package answer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"tagnet/formats/remedy"
	"tagnet/formats/storage"
	"tagnet/model/answer/probability"
	"tagnet/model/graph"
	"tagnet/model/weights/checkpoint"
	"tagnet/model/weights/configuration"
)

// Sampling is the data that probabilities are fitted to: facts of the graph, and queries whose best new answers are
// compared with them.
type Sampling struct {
	probability.Sample
	Facts   []probability.Drawn
	Queries []graph.Query
}

// Sampling draws facts and queries to fit probabilities to, by the graph, the weights and the reach alone. The model
// must be over the graph of all facts. Facts that training did not see come first: held-out ones if preprocess divided
// the facts, all facts if the model was not trained on the graph.
func (m *Model) Sampling(ctx context.Context) (*Sampling, error) {
	g, untrained := m.Graph, isUntrained(m.Record)
	training := int64(0)
	if !untrained {
		facts, err := m.KG.Facts(ctx)
		if err != nil {
			return nil, err
		}
		training = probability.Training(m.Record.Configuration, facts)
	}
	s := &Sampling{Sample: m.size().Sample(training, 0)}
	var held []graph.Fact
	if !untrained && m.KG.IsDivided() {
		queries, err := m.KG.HeldOut(ctx)
		if err != nil {
			return nil, err
		}
		for _, q := range queries {
			if int(q.Relation) < g.BaseRelations && q.Source != q.Answer && !m.KG.Inference.Graph.Has(q.Source, q.Relation, q.Answer) {
				held = append(held, q.Fact(q.Answer, int32(g.BaseRelations)))
			}
		}
	}
	s.Facts = s.Draw(held, probability.Facts(g))
	for i := range s.Facts {
		s.Facts[i].HeldOut = s.Facts[i].HeldOut || untrained
	}
	if !probability.Enough(s.Facts, g.BaseRelations) {
		return &Sampling{Sample: s.Sample}, nil // FitTo says so, and nothing is observed in vain
	}
	var err error
	s.Queries, err = s.DrawQueries(ctx, m.surroundings())
	return s, err
}

// size returns the numbers that determine the cost of a fit.
func (m *Model) size() probability.Size {
	s := probability.SizeOf(m.Graph)
	s.Answered, s.Work = m.surroundings().Queries(), m.Configuration.Work(m.Graph.Entities, m.Graph.Edges())
	return s
}

// Observations returns about how many observations a Fit has at most.
func (m *Model) Observations() int64 { return probability.SizeOf(m.Graph).Observations() }

// isUntrained reports whether weights come from elsewhere and were not trained further on the graph.
func isUntrained(r checkpoint.Record) bool { return r.Origin != nil && r.Epoch == 0 }

// Work returns about how many queries ObserveSample answers, over all parts.
func (s *Sampling) Work() int64 {
	return int64(2*len(s.Facts)) + int64(float64(len(s.Queries))*(1+s.PerQuery()))
}

// ObserveSample observes one of a number of parts of a sampling. Parts share few propagations. inverse is the number of
// inverse queries made, done as in Observe.
func (m *Model) ObserveSample(ctx context.Context, s *Sampling, part, of int,
	done func(queries int)) (labeled []probability.Labeled, unlabeled []probability.Observation, inverse int, err error) {
	drawn := s.Facts[part*len(s.Facts)/of : (part+1)*len(s.Facts)/of]
	facts := make([]graph.Fact, len(drawn))
	for i, d := range drawn {
		facts[i] = d.Fact
	}
	observed, err := m.Observe(ctx, facts, done)
	if err != nil {
		return nil, nil, 0, err
	}
	for i, o := range observed {
		labeled = append(labeled, probability.Labeled{Observation: o, HeldOut: drawn[i].HeldOut})
	}
	candidates, inverse, err := m.candidates(ctx, s.Queries[part*len(s.Queries)/of:(part+1)*len(s.Queries)/of], s.K, nil,
		func(_ int, f graph.Fact, rank int64) bool { return s.Keeps(f, rank) }, done)
	return labeled, slices.Concat(candidates...), inverse, err
}

// FitTo fits the model's probabilities to all observations of a sampling. The error wraps probability.ErrTooFew if
// there are too few, which WriteProbabilities writes like a fit. done is that of probability.Fit.
func (m *Model) FitTo(ctx context.Context, s *Sampling, labeled []probability.Labeled, unlabeled []probability.Observation, done func()) error {
	fitted, err := probability.Fit(ctx, m.surroundings(), s.Sample, labeled, unlabeled, m.Resources.Threads, done)
	if errors.Is(err, probability.ErrTooFew) {
		fitted = probability.Unfitted(s.Sample)
	}
	if fitted != nil {
		fitted.Fingerprint = m.source()
		m.fitted.Store(fitted)
	}
	return err
}

// deviceQueries is about the number of queries of a fit that a device answers before other calls have their turn.
const deviceQueries = 1 << 12

// Fit fits probabilities in this process, beside other calls. done, which may be nil, is called with the number of
// queries that were answered since the last call, of Sampling.Work at most.
func (m *Model) Fit(ctx context.Context, s *Sampling, done func(queries int)) error {
	parts := 1 // the threads of a pool take turns by themselves
	if m.Resources.Device != nil {
		parts += int(s.Work() / deviceQueries)
	}
	var labeled []probability.Labeled
	var unlabeled []probability.Observation
	for part := range parts {
		facts, candidates, _, err := m.ObserveSample(ctx, s, part, parts, done)
		if err != nil {
			return err
		}
		labeled, unlabeled = append(labeled, facts...), append(unlabeled, candidates...)
	}
	return m.FitTo(ctx, s, labeled, unlabeled, func() {})
}

// source identifies the weights, the graph and the reach of the model.
func (m *Model) source() probability.Fingerprint {
	return probability.Fingerprint{Weights: m.Record.Weights.SHA256, Graph: m.KG.Manifest.Checksum, Reach: m.Configuration.Reach}
}

// surroundings returns the surroundings of the graph, made once.
func (m *Model) surroundings() *probability.Surroundings {
	m.around.Do(func() { m.surrounding = probability.NewSurroundings(m.Graph) })
	return m.surrounding
}

// Estimator returns probabilities that presume a number of missing facts, or nil as long as none are fitted. The error
// of a relation that cannot have a share of its own names it.
func (m *Model) Estimator(presumed probability.Presumed) (*probability.Estimator, error) {
	if last := m.estimator.Load(); last.IsOf(m.fitted.Load(), presumed) { // every request needs it
		return last, nil
	}
	e, err := m.newEstimator(presumed)
	if err == nil && e != nil {
		m.estimator.Store(e)
	}
	return e, err
}

func (m *Model) newEstimator(presumed probability.Presumed) (*probability.Estimator, error) {
	fitted := m.fitted.Load()
	if fitted == nil || fitted.TooFew {
		return nil, nil
	}
	e, err := fitted.Estimator(m.surroundings(), presumed)
	if untold := (*probability.UntoldError)(nil); errors.As(err, &untold) {
		untold.Name = m.KG.Relations[untold.Relation]
	}
	return e, err
}

// ProbabilitiesFolder is the name of the folder of probabilities below a workspace.
const ProbabilitiesFolder = "probabilities"

// ProbabilitiesFile returns the name of the file of the model's probabilities: there is one for each of its weights,
// graph and reach.
func (m *Model) ProbabilitiesFile() string { return m.FitFolder() + ".json" }

// FitFolder returns the name of the folder beside that file which a run locks while it fits: other models'
// probabilities are fitted meanwhile.
func (m *Model) FitFolder() string {
	s := m.source()
	return fitFolder(s.Weights, s.Graph, s.Reach)
}

func fitFolder(weights, graph string, reach int) string {
	return fmt.Sprintf("%.12s-%.12s-%d", weights, graph, reach)
}

// ReadProbabilities reads the model's probabilities from a folder, and reports whether there are some. The error of a
// file that is damaged is a *checkpoint.DamagedError, and that of one which keeps that there are too few facts is
// probability.ErrTooFew.
func (m *Model) ReadProbabilities(ctx context.Context, folder string) (bool, error) {
	url := storage.Join(folder, m.ProbabilitiesFile())
	text, err := storage.ReadText(ctx, url)
	damaged := func(reason error) (bool, error) {
		return false, remedy.Errorf(remedy.Do("remove this file, and it is made again"), "%w", &checkpoint.DamagedError{URL: url, Reason: reason})
	}
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if unreadable := (*storage.Unreadable)(nil); errors.As(err, &unreadable) {
		return damaged(unreadable)
	}
	if err != nil {
		return false, err
	}
	fitted, err := probability.Parse(url, text)
	if err == nil && fitted.Fingerprint != m.source() {
		err = errors.New("it is of other weights, or of another graph or reach, than its name says")
	}
	if err != nil {
		return damaged(err)
	}
	m.fitted.Store(fitted)
	if fitted.TooFew {
		return false, probability.ErrTooFew
	}
	return true, nil
}

// WriteProbabilities writes the model's probabilities into a folder, or that there are too few facts for some.
func (m *Model) WriteProbabilities(ctx context.Context, folder string) error {
	text, err := m.fitted.Load().Encode()
	if err != nil {
		return err
	}
	return storage.WriteFile(ctx, storage.Join(folder, m.ProbabilitiesFile()), text)
}

// FitSpeed is how fast this machine makes a fit.
type FitSpeed struct {
	size             probability.Size
	rates            []float64 // seconds of a propagation, as measured again and again
	inverse, labeled float64   // queries of an unlabeled observation; labeled facts, as a share of Sample.Facts
	facts            int       // that a training asks, 0 for weights that come trained
	epoch            float64   // propagations of an epoch of all these
}

// regressionSeconds is about how many seconds of a core an observation takes after all are made.
const regressionSeconds = 2e-5

// FitSpeed measures slices from all over the sample of the model's fit for about a duration.
func (m *Model) FitSpeed(ctx context.Context, duration time.Duration) (f FitSpeed, err error) {
	s, err := m.Sampling(ctx)
	if err != nil || s.Work() == 0 {
		return f, err
	}
	f.size, f.labeled = m.size(), float64(len(s.Facts))/float64(s.Sample.Facts)
	if !isUntrained(m.Record) {
		facts, err := m.KG.Facts(ctx)
		if err != nil {
			return f, err
		}
		c := m.Configuration
		c.Epochs, c.QueriesPerEpoch = 2, 0
		f.facts, f.epoch = len(facts), float64(probability.Training(c, facts))/2
	}
	var took, inverse, unlabeled float64
	observe := func(part, of int) error {
		began := time.Now()
		labeled, candidates, n, err := m.ObserveSample(ctx, s, part, of, nil)
		took, inverse, unlabeled = time.Since(began).Seconds(), inverse+float64(n), unlabeled+float64(len(candidates))
		f.rates = append(f.rates, took/float64(max(1, 2*len(labeled)+len(s.Queries)/of+n)))
		return err
	}
	parts := max(1, int(s.Work()/16))
	if err := observe(0, parts); err != nil { // makes the threads' buffers
		return f, err
	}
	begun := time.Now() // short slices say how long others may be
	for share := 0.; share < .5; parts = max(1, int(float64(parts)*min(1, share))) {
		f.rates, inverse, unlabeled = nil, 0, 0
		if err := observe(parts/2, parts); err != nil {
			return f, err
		}
		if share = max(1./16, 4*took/duration.Seconds()); parts == 1 {
			share = 1
		}
	}
	for i := 0; i < min(3, parts-1) && time.Since(begun) < duration; i++ {
		if err := observe((2*i+1)*parts/(2*min(3, parts-1)), parts); err != nil {
			return f, err
		}
	}
	f.inverse = inverse / max(1, unlabeled)
	return f, nil
}

// Since adds what was measured before: a machine may have other work for a while.
func (f FitSpeed) Since(before FitSpeed) FitSpeed {
	f.rates = slices.Concat(f.rates, before.rates)
	return f
}

// Seconds returns about how many seconds the fit after a training takes.
func (f FitSpeed) Seconds(c configuration.Configuration) float64 {
	if len(f.rates) == 0 {
		return 0
	}
	propagations, observations := f.Work(c)
	rate := slices.Sorted(slices.Values(f.rates))[len(f.rates)/3] // a lower one: slices share less than all queries do
	return rate*float64(propagations) + regressionSeconds*float64(observations)
}

// Work returns about how many propagations and observations the fit after a training takes.
func (f FitSpeed) Work(c configuration.Configuration) (propagations, observations int64) {
	training := f.epoch * float64(c.Epochs)
	if n := c.QueriesPerEpoch; n > 0 {
		training *= min(1, float64(n)/float64(max(1, f.facts)))
	}
	if f.facts > 0 {
		training = max(1, training) // 0 is that of weights which come trained
	}
	sample := f.size.Sample(int64(training), 0)
	sample.Facts = int(f.labeled * float64(sample.Facts))
	return f.size.Propagations(sample, f.inverse), f.size.Observed(sample)
}
