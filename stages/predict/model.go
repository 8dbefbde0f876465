package predict

import (
	"context"
	"errors"
	"fmt"

	"tagnet/formats/workspace/manifest"
	"tagnet/formats/workspace/tables"
	"tagnet/model/accelerator"
	"tagnet/model/answer"
	"tagnet/model/answer/ranking"
	"tagnet/model/answer/workload"
	"tagnet/model/budget"
	"tagnet/model/engine/device"
	"tagnet/model/engine/kernel"
	"tagnet/model/graph"
	"tagnet/model/graph/kg"
	"tagnet/model/weights/checkpoint"
	"tagnet/model/weights/configuration"
	"tagnet/stages/encode"
	"tagnet/stages/evaluation"
	"tagnet/stages/worker"
)

// RowsCounter names the counter of the rows of the split's table that are scored.
const RowsCounter = "scored_rows"

var (
	scoredRows    = worker.NewCounter("score", RowsCounter)
	scoredQueries = worker.NewCounter("score", "scored_queries")
	sentMessages  = worker.NewCounter("score", "sent_messages")
)

// WorkerModel names the model of a process, and bounds its resources.
type WorkerModel struct {
	// Checkpoints is the URL of the folder of checkpoints, Checkpoint the name of one. Required.
	Checkpoints, Checkpoint string
	// Reach takes the place of the checkpoint's configuration.Configuration.Reach.
	Reach int
	// Threads is the number of threads of a worker; if 0 one a core, MostThreads at most (unless
	// that is 0). It changes no result.
	Threads, MostThreads int
	// Memory is the budget of a worker's process in bytes, to which it holds its garbage; 0 for none.
	Memory int64
	// Kernel names the variant of the kernels; see kernel.Named.
	Kernel string
	// Device chooses the CPU or a device. A device rounds differently from the kernels.
	Device device.Choice
}

// Params are queries to a model, and how much of their results is kept.
type Params struct {
	// Model is the model of each worker. Required.
	Model WorkerModel
	// Queries selects the queries. Its graph is the model's. Known answers are listed if it has WithKnown, beside Best
	// new ones of a query, and each answer is explained by its Paths.
	Queries workload.Params
	// Best is the number of candidates that are kept for each query, with their ranks if Ranks is set, Known what
	// becomes of known ones among them; see ranking.Selection. Candidates is the URL of a tables.Lists whose candidates
	// are the only ones; "" allows all.
	Best       int
	Ranks      bool
	Known      ranking.Known
	Candidates string
	// Probabilities of answers are read there. Optional.
	Probabilities Probabilities
	// Verdicts say which facts are no new answers. Optional.
	Verdicts Verdicts
	// Rules of the graph give the reasons of answers, and what speaks against triples. Optional.
	Rules Rules
	// Walks adds all walks to reasons, like model.Walks.
	Walks bool
	// Announce is the ID under which a func(string) is registered with package worker. If it is
	// registered in the worker's process, it is called with what the worker computes on. Optional.
	Announce string
}

// View returns the graph that is queried, whole, and its names.
func (p Params) View(ctx context.Context) (*kg.View, evaluation.Names, error) {
	loaded, err := encode.Load(ctx, p.Queries.Graph, p.Queries.Without...)
	if err != nil {
		return nil, evaluation.Names{}, err
	}
	view, err := loaded.On(ctx, p.Queries.Split)
	return view, evaluation.NamesOf(view, loaded.Relations), err
}

// Rank answers queries with the model of this process, on a device or with all of its threads.
// The context is the one that Beam passed to a DoFn.
func Rank(ctx context.Context, p Params, queries []answer.Request) (scored *answer.Scored, err error) {
	err = p.Use(ctx, func(m *answer.Model) error {
		list, err := p.Selection(ctx, m)
		if err != nil {
			return err
		}
		scored, err = m.Answer(ctx, queries, answer.Kept{Selection: list, Done: scoredRows.Adder(ctx)})
		return err
	})
	if err != nil {
		return nil, err
	}
	scoredQueries.Inc(ctx, int64(len(queries)))
	sentMessages.Inc(ctx, scored.Messages)
	return scored, nil
}

// Use calls work with the model of this process. Errors of work get names instead of ids.
func (p Params) Use(ctx context.Context, work func(*answer.Model) error) error {
	m, err := p.model(ctx)
	if err != nil {
		return err
	}
	if err := p.Verdicts.judge(ctx, m); err != nil {
		return err
	}
	if err = work(m); errors.Is(err, device.ErrLost) {
		worker.Forget("model") // a runner that repeats the shard does not get the same one
	}
	if err != nil {
		err = p.named(m, err)
	}
	return err
}

// named returns an error of the model with names instead of the ids of entities and relations.
func (p Params) named(m *answer.Model, err error) error {
	return fmt.Errorf("%s of %s: %w", p.Model.Checkpoint, p.Model.Checkpoints, graph.Named(err, m.View.Entities, m.KG.Relations))
}

// Score scores the queries of the shard and passes the result to use, which must not keep it: the memory of the shard
// is counted until it returns. The context is the one that Beam passed to a DoFn.
func (s Shard) Score(ctx context.Context, p Params, use func(context.Context, *answer.Scored) error) error {
	ctx, leave, err := worker.Enter(ctx, budget.Shards)
	if err != nil {
		return err
	}
	defer leave()
	all := &answer.Scored{}
	err = s.Requests(ctx, p.Queries, func(requests []answer.Request) error {
		scored, err := Rank(ctx, p, requests)
		if err != nil {
			return err
		}
		all.Queries, all.Messages = append(all.Queries, scored.Queries...), all.Messages+scored.Messages
		return nil
	})
	if err != nil {
		return err
	}
	return use(ctx, all)
}

// model returns the process's opened model. There is one at a time: other parameters, another graph or other
// weights replace it.
func (p Params) model(ctx context.Context) (*answer.Model, error) {
	on := p.Queries.QueriedGraph
	loaded, err := encode.Open(ctx, on.Graph, on.Parts.URL != "", on.Without...)
	if err != nil {
		return nil, err
	}
	opened, err := worker.Model(ctx, checkpoint.Folder(p.Model.Checkpoints), p.Model.Checkpoint, loaded)
	if err != nil {
		return nil, err
	}
	// One model serves several pipelines, whatever they ask.
	type version struct {
		WorkerModel
		on             string
		graph, weights string // checksums
		configuration  configuration.Configuration
	}
	v := version{p.Model, fmt.Sprint(on), loaded.Manifest.Checksum, opened.Record.Weights.SHA256, opened.Configuration}
	return worker.Load(worker.Key{Kind: "model"}, v, func() (*answer.Model, error) {
		budget.Limit(p.Model.Memory) // as long as the process lives
		if on.Split != kg.All {
			return p.prepare(ctx, opened.ForSplit(on.Split))
		}
		all, err := opened.OverAllFacts(ctx)
		if err != nil {
			return nil, err
		}
		return p.prepare(ctx, all)
	})
}

// prepare sets what an opened model computes with.
func (p Params) prepare(ctx context.Context, m *answer.Model) (*answer.Model, error) {
	if err := m.SetReach(p.Model.Reach); err != nil {
		return nil, err
	}
	m.Resources = answer.Resources{Threads: worker.Threads(p.Model.Threads, p.Model.MostThreads), Announce: p.announce}
	var err error
	if m.Resources.Kernel, err = kernel.Named(p.Model.Kernel); err != nil {
		return nil, err
	}
	if err := accelerator.SelectDevice(m, p.Model.Device); err != nil {
		return nil, err
	}
	p.announce(m.Computing())
	if place := p.Queries.Parts; place.URL != "" {
		folder, err := place.Open(ctx)
		if err != nil {
			return nil, err
		}
		m.Graph = folder.Header.Outline()
		if err := folder.Close(); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// Selection returns which candidates are kept. The process reads their list once.
func (p Params) Selection(ctx context.Context, m *answer.Model) (ranking.Selection, error) {
	list := ranking.Selection{K: p.Best, Known: p.Known, Ranks: p.Ranks}
	if p.Candidates == "" {
		return list, nil
	}
	file, err := manifest.HashFile(ctx, p.Candidates)
	if err != nil {
		return list, err
	}
	lists, err := worker.Load(worker.Key{Kind: "candidates"}, file.SHA256+" of "+m.KG.Manifest.Checksum, func() (tables.Lists, error) {
		return tables.ReadLists(ctx, p.Candidates, m.View.Graph.Entities)
	})
	list.Candidates = lists.Candidates
	return list, err
}

// announce tells the function of Announce, if it is in this process, which kernel or device computes.
func (p Params) announce(text string) {
	if announce, ok := worker.Registered[func(string)](p.Announce); ok && text != "" {
		announce(text)
	}
}
