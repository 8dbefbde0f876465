package answer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"tagnet/formats/remedy"
	"tagnet/formats/storage"
	"tagnet/model/answer/probability"
	"tagnet/model/graph"
	"tagnet/model/weights/checkpoint"
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

// ObserveSample observes one of a number of parts of a sampling. Parts share few propagations. done is as in Observe.
func (m *Model) ObserveSample(ctx context.Context, s *Sampling, part, of int,
	done func(queries int)) (labeled []probability.Labeled, unlabeled []probability.Observation, err error) {
	drawn := s.Facts[part*len(s.Facts)/of : (part+1)*len(s.Facts)/of]
	facts := make([]graph.Fact, len(drawn))
	for i, d := range drawn {
		facts[i] = d.Fact
	}
	observed, err := m.Observe(ctx, facts, done)
	if err != nil {
		return nil, nil, err
	}
	for i, o := range observed {
		labeled = append(labeled, probability.Labeled{Observation: o, HeldOut: drawn[i].HeldOut})
	}
	candidates, _, err := m.candidates(ctx, s.Queries[part*len(s.Queries)/of:(part+1)*len(s.Queries)/of], s.K, nil, s.Keeps, done)
	for _, list := range candidates {
		unlabeled = append(unlabeled, list...)
	}
	return labeled, unlabeled, err
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
		facts, candidates, err := m.ObserveSample(ctx, s, part, parts, done)
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

// Estimator returns probabilities that presume a number of missing facts, or nil as long as none are fitted. The error of
// a relation that cannot have a share of its own names it.
func (m *Model) Estimator(presumed probability.Presumed) (*probability.Estimator, error) {
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
	return fmt.Sprintf("%.12s-%.12s-%d", s.Weights, s.Graph, s.Reach)
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

const (
	// regressionSeconds is about how many seconds of a core an observation takes after all are made, at least.
	regressionSeconds = 45e-6
	// leastRegression is the number of observations whose regression says how long one takes.
	leastRegression = 500
)

// FitSeconds returns about how many seconds Fit takes, by a part of it that takes about a duration. The
// weights may be any.
func (m *Model) FitSeconds(ctx context.Context, duration time.Duration) (float64, error) {
	began := time.Now()
	s, err := m.Sampling(ctx)
	if err != nil || s.Work() == 0 {
		return 0, err
	}
	drawing := time.Since(began).Seconds()
	for parts := max(1, int(s.Work()/64)); ; parts = max(1, parts/4) {
		began, queries := time.Now(), 0
		labeled, unlabeled, err := m.ObserveSample(ctx, s, parts/2, parts, func(n int) { queries += n })
		if err != nil {
			return 0, err
		}
		// The whole fit answers fewer queries than its parts do one by one: equal ones are answered once.
		if took := time.Since(began); parts == 1 || took > duration/4 {
			size, regression := m.size(), regressionSeconds
			if n := len(labeled) + len(unlabeled); n >= leastRegression { // a loaded machine is slower
				began = time.Now()
				if _, err := probability.Fit(ctx, m.surroundings(), s.Sample, labeled, unlabeled, m.Resources.Threads, func() {}); err == nil {
					regression = max(regression, time.Since(began).Seconds()/float64(n))
				}
			}
			answering := took.Seconds() / float64(max(1, queries)) * float64(size.Propagations(s.Sample))
			return drawing + answering + regression*float64(size.Observed(s.Sample)), nil
		}
	}
}
