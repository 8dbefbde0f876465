package predict

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/storage"
	"tagnet/formats/storage/lock"
	"tagnet/formats/workspace/manifest"
	"tagnet/model/answer"
	"tagnet/model/answer/probability"
	"tagnet/model/answer/workload"
	"tagnet/model/budget"
	"tagnet/model/graph/kg"
	"tagnet/stages/worker"
)

// QueriesCounter names the counter of the queries that were answered, of answer.Sampling.Work at most.
const QueriesCounter = "observed_queries"

// RegressionsCounter names the counter of the regressions to them, of probability.Regressions.
const RegressionsCounter = "regressions"

var (
	observedQueries = worker.NewCounter("probability", QueriesCounter)
	regressions     = worker.NewCounter("probability", RegressionsCounter)
)

func init() {
	beam.RegisterDoFn(&cutSampleFn{})
	beam.RegisterDoFn(&observeFn{})
	beam.RegisterDoFn(&fitFn{})
	beam.RegisterType(reflect.TypeFor[samplePart]())
}

// FitParams are the parameters of Fit.
type FitParams struct {
	// Params is the model, over kg.All, without candidates.
	Params
	// Folder is the URL of the folder of the file, File the file's name, answer.Model.ProbabilitiesFile. Required.
	Folder, File string
	// Shards is the number of shards; 0 is as many as the work suggests.
	Shards int
	// Lock guards Folder; the zero Lock is never lost.
	Lock lock.Lock
}

// Fit fits the probabilities of a model and writes their file, or that there are too few facts. Output: its URL. It
// fails with a *manifest.Replaced error if the weights or the graph are not the ones in the file's name.
func Fit(s beam.Scope, p FitParams) beam.PCollection {
	s = s.Scope("predict.Fit")
	p.Queries.Split = kg.All
	shards := beam.Reshuffle(s, beam.ParDo(s, &cutSampleFn{Params: p}, beam.Impulse(s)))
	return beam.ParDo(s, &fitFn{Params: p}, beam.GroupByKey(s, beam.ParDo(s, &observeFn{Params: p}, shards)))
}

// use calls work with the model of this process and its sampling, which the process draws once.
func (p FitParams) use(ctx context.Context, work func(*answer.Model, *answer.Sampling) error) error {
	return p.Use(ctx, func(m *answer.Model) error {
		if m.ProbabilitiesFile() != p.File {
			return &manifest.Replaced{Folder: p.Queries.Graph}
		}
		s, err := Sampling(ctx, m)
		if err != nil {
			return err
		}
		return work(m, s)
	})
}

// Sampling draws the sampling of a model over all facts, once per process.
func Sampling(ctx context.Context, m *answer.Model) (*answer.Sampling, error) {
	return worker.Load(worker.Key{Kind: "sampling"}, m.ProbabilitiesFile(), func() (*answer.Sampling, error) { return m.Sampling(ctx) })
}

// samplePart is number Number of Of shards. Each has a range of the sampling's facts and a range of its queries.
type samplePart struct{ Number, Of int }

type cutSampleFn struct{ Params FitParams }

func (f *cutSampleFn) ProcessElement(ctx context.Context, _ []byte, emit func(samplePart)) error {
	return f.Params.use(ctx, func(m *answer.Model, s *answer.Sampling) error {
		count := f.Params.Shards
		if count == 0 {
			count = int(workload.Count(s.Work(), s.Work(), workload.Work(m.Configuration, m.Graph)))
		}
		for number := range count {
			emit(samplePart{number, count})
		}
		return nil
	})
}

type observeFn struct{ Params FitParams }

// ProcessElement observes a part of the sample and emits the observations under one key.
func (f *observeFn) ProcessElement(ctx context.Context, part samplePart, emit func(int, []byte)) error {
	within, leave, err := worker.Enter(ctx, budget.Shards)
	if err != nil {
		return err
	}
	defer leave()
	done := observedQueries.Adder(ctx)
	return f.Params.use(within, func(m *answer.Model, s *answer.Sampling) error {
		var o observations
		var err error
		if o.Labeled, o.Unlabeled, _, err = m.ObserveSample(within, s, part.Number, part.Of, done); err != nil {
			return err
		}
		var element bytes.Buffer
		if err := gob.NewEncoder(&element).Encode(o); err != nil {
			return err
		}
		emit(0, element.Bytes())
		return nil
	})
}

// observations are what a shard observes, and with gob an element.
type observations struct {
	Labeled   []probability.Labeled
	Unlabeled []probability.Observation
}

type fitFn struct{ Params FitParams }

// ProcessElement fits to the observations of all shards.
func (f *fitFn) ProcessElement(ctx context.Context, _ int, elements func(*[]byte) bool, emit func(string)) error {
	var all observations
	var element []byte
	for elements(&element) {
		var o observations
		if err := gob.NewDecoder(bytes.NewReader(element)).Decode(&o); err != nil {
			return err
		}
		all.Labeled, all.Unlabeled = append(all.Labeled, o.Labeled...), append(all.Unlabeled, o.Unlabeled...)
	}
	return f.Params.use(ctx, func(m *answer.Model, s *answer.Sampling) error {
		done := func() { regressions.Inc(ctx, 1) }
		if err := m.FitTo(ctx, s, all.Labeled, all.Unlabeled, done); err != nil && !errors.Is(err, probability.ErrTooFew) {
			return err
		}
		if err := m.WriteProbabilities(f.Params.Lock.Guard(ctx), f.Params.Folder); err != nil {
			return err
		}
		emit(storage.Join(f.Params.Folder, f.Params.File))
		return nil
	})
}
