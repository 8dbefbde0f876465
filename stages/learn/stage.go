package learn

import (
	"context"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/storage"
	"tagnet/model/budget"
	"tagnet/model/checkpoint"
	"tagnet/stages/bundle"
	"tagnet/stages/graph"
)

func init() {
	beam.RegisterDoFn(&learnFn{})
	beam.RegisterDoFn(learnedFn)
	beam.RegisterType(reflect.TypeOf((*Bundles)(nil)).Elem())
}

var (
	trainedQueries   = beam.NewCounter("learn", "trained_queries")
	validatedQueries = beam.NewCounter("learn", "validated_queries")
)

// Bundles are the URLs of the bundles that a training reads.
type Bundles struct{ Train, Valid []string }

// Params say how a model is trained.
type Params struct {
	// Graph is the URL of the graph's folder. Required.
	Graph string
	Run   Run
}

// Learn trains one model: PCollection<Bundles> of one element, to PCollection<string>, the name
// of the last checkpoint. All epochs run inside of the one element, on one worker, which holds
// the bundles in memory (see Deck). It ends in a barrier: the local runner keeps a core busy
// waiting for a long step that does not.
func Learn(s beam.Scope, p Params, bundles beam.PCollection) beam.PCollection {
	s = s.Scope("learn.Learn")
	learned := beam.GroupByKey(s, beam.ParDo(s, &learnFn{Params: p}, bundles))
	return beam.ParDo(s, learnedFn, learned)
}

type learnFn struct{ Params Params }

// ProcessElement trains.
func (f *learnFn) ProcessElement(ctx context.Context, bundles Bundles, emit func(int, string)) error {
	if f.Params.Run.Memory > 0 {
		budget.Limit(f.Params.Run.Memory) // as long as the process lives
	}
	stopped, cancel := stoppable(ctx)
	defer cancel()
	data, err := ReadData(stopped, f.Params.Graph, bundles)
	if err != nil {
		return err
	}
	var last Progress
	record, err := Train(stopped, f.Params.Run, data, func(p Progress) {
		if p.Epoch != last.Epoch {
			last = Progress{Queries: p.Queries} // what was trained before is not counted
		}
		trainedQueries.Inc(ctx, p.Queries-last.Queries)
		validatedQueries.Inc(ctx, max(0, p.Validated-last.Validated))
		last = p
		tellWatcher(p)
	})
	if err != nil {
		return err
	}
	emit(0, record.Name())
	return nil
}

// learnedFn passes the name on behind the barrier.
func learnedFn(_ int, names func(*string) bool, emit func(string)) {
	var name string
	for names(&name) {
		emit(name)
	}
}

// ReadData reads what a training needs: the graph and the bundles.
func ReadData(ctx context.Context, folder string, urls Bundles) (Data, error) {
	loaded, err := graph.Load(folder)
	if err != nil {
		return Data{}, err
	}
	train, err := readBundles(ctx, urls.Train)
	if err != nil {
		return Data{}, err
	}
	g := loaded.Train.Graph
	d := Data{Graph: g, Vocabulary: checkpoint.Vocabulary{
		Relations: loaded.Relations, Entities: len(loaded.Train.Entities), Hash: loaded.Vocabulary,
		Graph: loaded.Manifest.Checksum,
	}}
	if d.Deck, err = NewDeck(g.Entities, g.BaseRelations, train); err != nil {
		return Data{}, err
	}
	d.Valid, err = readBundles(ctx, urls.Valid)
	return d, err
}

func readBundles(ctx context.Context, urls []string) ([]*bundle.Bundle, error) {
	var bundles []*bundle.Bundle
	for _, url := range urls {
		data, err := storage.ReadFile(ctx, url)
		if err != nil {
			return nil, err
		}
		b, err := bundle.Decode(data)
		if err != nil {
			return nil, &checkpoint.DamagedError{URL: url, Reason: err}
		}
		bundles = append(bundles, b)
	}
	return bundles, nil
}
