package train

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/model/accelerator"
	"tagnet/model/answer/workload"
	"tagnet/model/budget"
	"tagnet/model/engine/relations"
	"tagnet/model/learn"
	"tagnet/model/weights/checkpoint"
	"tagnet/stages/encode"
	"tagnet/stages/worker"
)

func init() {
	beam.RegisterDoFn(&learnFn{})
}

var (
	trainedQueries   = worker.NewCounter("learn", "trained_queries")
	validatedQueries = worker.NewCounter("learn", "validated_queries")
)

// Params are the parameters of the stage.
type Params struct {
	// Graph is the URL of the graph's folder. Required.
	Graph string
	// Bundles is the URL of the folder of folders of parts of the graph, which training and validation take instead of
	// the graph. Optional.
	Bundles string
	// Run is the training.
	Run learn.Run
	// Together is how many shards of Rounds a process trains at the same time, each on a device of its own;
	// less than 2 is one.
	Together int
	// Session is the ID of a Session of the process that starts the pipeline. Optional.
	Session string
}

// Learn trains one model. It returns PCollection<string>, the name of the last checkpoint. All epochs
// run inside one element, on one worker, which holds the training set in memory.
func Learn(s beam.Scope, p Params) beam.PCollection {
	s = s.Scope("train.Learn")
	return beam.ParDo(s, &learnFn{Params: p}, beam.Impulse(s))
}

// session returns the session of this process, or one that does nothing.
func (p Params) session() *Session {
	if session, ok := worker.Registered[*Session](p.Session); ok {
		return session
	}
	return &Session{stopped: context.Background()}
}

type learnFn struct{ Params Params }

func (f *learnFn) ProcessElement(ctx context.Context, _ []byte, emit func(string)) error {
	session := f.Params.session()
	record, err := f.train(ctx, session)
	session.setErr(err)
	if err != nil {
		return err
	}
	emit(record.Name())
	return nil
}

// train trains all epochs in this process and returns the last checkpoint's record.
func (f *learnFn) train(ctx context.Context, session *Session) (checkpoint.Record, error) {
	budget.Limit(f.Params.Run.Memory) // until the process ends
	joined, leave := session.join(ctx)
	defer leave()
	data, err := f.Params.ReadData(joined)
	if err != nil {
		return checkpoint.Record{}, err
	}
	defer data.Close()
	data.Devices, data.Replan = accelerator.Process, session.Replan
	var last learn.Progress
	return learn.Train(joined, f.Params.Run, data, func(p learn.Progress) {
		if p.Epoch != last.Epoch {
			last = learn.Progress{Queries: p.Queries} // queries of earlier runs are not counted
		}
		trainedQueries.Inc(ctx, p.Queries-last.Queries)
		validatedQueries.Inc(ctx, max(0, p.Validated-last.Validated))
		last = p
		session.tell(p)
	})
}

// Open calls learn.Open for a training by several workers. here says whether they are in this process, so that they
// take its devices. It reports the checkpoint from which it resumes to the session.
func Open(ctx context.Context, p Params, here bool) (learn.Position, error) {
	data, err := p.readTraining(ctx)
	if err != nil {
		return learn.Position{}, err
	}
	if here {
		data.Devices = accelerator.Process
	}
	session := p.session()
	return learn.Open(ctx, p.Run, data, func(progress learn.Progress) {
		session.tellShard(progress, progress.Queries, progress.Loss*float64(progress.Queries))
	})
}

// ReadData reads the inputs of a training.
func (p Params) ReadData(ctx context.Context) (learn.Data, error) {
	d, err := p.readTraining(ctx)
	if err != nil {
		return d, err
	}
	if p.Bundles != "" {
		err := p.readValidParts(ctx, &d)
		return d, err
	}
	loaded, err := encode.Load(ctx, p.Graph)
	if err != nil {
		return d, err
	}
	valid, err := workload.List(ctx, loaded, workload.Params{QueriedGraph: workload.QueriedGraph{Split: "valid"}, Limit: p.Run.Validation.Limit})
	if err != nil {
		return d, err
	}
	d.Valid = valid
	all, err := loaded.Queries(ctx, "valid")
	d.ValidAll = int64(len(all))
	if on := loaded.View("valid"); on != loaded.Train {
		d.ValidOn = on
	}
	return d, err
}

// readTraining reads the training data alone, without the validation queries.
func (p Params) readTraining(ctx context.Context) (learn.Data, error) {
	if p.Bundles != "" {
		return p.readParts(ctx)
	}
	loaded, err := encode.Load(ctx, p.Graph)
	if err != nil {
		return learn.Data{}, err
	}
	d, err := learn.NewData(ctx, loaded)
	if err != nil {
		return learn.Data{}, err
	}
	d.Relations = relations.Between(d.Graph, p.Run.Configuration)
	return d, nil
}
