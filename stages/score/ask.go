package score

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"tagnet/formats/storage"
	"tagnet/formats/workspace/manifest"
	"tagnet/model/answer"
	"tagnet/model/answer/probability"
	"tagnet/model/answer/workload"
	"tagnet/model/budget"
	"tagnet/model/graph"
	"tagnet/stages/worker"
)

// BackwardCounter names the counter of what is scored beside a user's queries: their candidates, and known answers.
const BackwardCounter = "scored_backward"

var scoredBackward = worker.NewCounter("score", BackwardCounter)

// Probabilities says where the probabilities of the model are. Its zero value stands for none.
type Probabilities struct {
	// Folder is the URL of the folder of their file, SHA256 the checksum of the file.
	Folder, SHA256 string
	// Missing is the share of the graph's facts that they presume to be missing.
	Missing float64
}

// Asked are a user's queries with their answers.
type Asked struct {
	Queries []answer.Request
	// Answers has those of each query.
	Answers []answer.Answers
	// Backward is the number of queries that asked the candidates in the other direction.
	Backward int
}

// Sort orders the queries by their numbers.
func (a *Asked) Sort() {
	order := make([]int, len(a.Queries))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(a.Queries[i].Rows[0], a.Queries[j].Rows[0]) })
	queries, answers := make([]answer.Request, len(order)), make([]answer.Answers, len(order))
	for to, from := range order {
		queries[to], answers[to] = a.Queries[from], a.Answers[from]
	}
	a.Queries, a.Answers = queries, answers
}

// Asking returns what is queried for, without candidates and probabilities.
func (p Params) Asking() *answer.Asking { return &answer.Asking{Best: p.Best, Known: p.WithKnown} }

// Ask answers the queries of the shard and passes the answers to use, which must not keep them: the memory of the shard is counted until it
// returns. The context is the one that Beam passed to a DoFn.
func (s Shard) Ask(ctx context.Context, p Params, queries workload.Params, use func(context.Context, *Asked) error) error {
	ctx, leave, err := worker.Enter(ctx, budget.Shards)
	if err != nil {
		return err
	}
	defer leave()
	all := &Asked{}
	err = s.requests(ctx, queries, func(requests []answer.Request) error {
		all.Queries = append(all.Queries, requests...)
		return all.ask(ctx, p, requests)
	})
	if err != nil {
		return err
	}
	return use(ctx, all)
}

// ask adds the answers to queries.
func (a *Asked) ask(ctx context.Context, p Params, queries []answer.Request) error {
	estimator, err := p.Estimator(ctx)
	if err != nil {
		return err
	}
	return p.Use(ctx, func(m *answer.Model) error {
		list, err := p.selection(ctx, m)
		if err != nil {
			return err
		}
		asked := make([]graph.Query, len(queries))
		for i, q := range queries {
			asked[i] = q.Query
		}
		asking := p.Asking()
		asking.Among, asking.Estimator = list.Candidates, estimator
		asking.Done, asking.Backward = counted(ctx, len(queries)), func(queries int) { a.Backward += queries }
		answers, err := m.Ask(ctx, asked, *asking)
		a.Answers = append(a.Answers, answers...)
		return err
	})
}

// counted returns what counts queries as they are answered: so many queries first, and then what is queried backward.
func counted(ctx context.Context, queries int) func(queries int) {
	var counting sync.Mutex
	return func(queries int) {
		counting.Lock()
		defer counting.Unlock()
		forward := min(queries, queries)
		queries -= forward
		scoredRows.Inc(ctx, int64(forward))
		scoredBackward.Inc(ctx, int64(queries-forward))
	}
}

// Estimator returns what gives the probabilities of the model of this process, or nil without any. The process reads them once.
func (p Params) Estimator(ctx context.Context) (estimator *probability.Estimator, err error) {
	if p.Probabilities.Folder == "" {
		return nil, nil
	}
	err = p.Use(ctx, func(m *answer.Model) (err error) {
		type version struct {
			Probabilities
			file string
		}
		v := version{p.Probabilities, m.ProbabilitiesFile()}
		estimator, err = worker.Load(worker.Key{Kind: "probabilities"}, v, func() (*probability.Estimator, error) { return p.Probabilities.read(ctx, m) })
		return err
	})
	return estimator, err
}

// read reads the probabilities of a model.
func (p Probabilities) read(ctx context.Context, m *answer.Model) (*probability.Estimator, error) {
	url := storage.Join(p.Folder, m.ProbabilitiesFile())
	file, err := manifest.HashFile(ctx, url)
	if err != nil {
		return nil, err
	}
	if file.SHA256 != p.SHA256 {
		return nil, fmt.Errorf("%s was replaced: run again; every worker must see this file", url)
	}
	if _, err := m.ReadProbabilities(ctx, p.Folder); err != nil {
		return nil, err
	}
	return m.Estimator(p.Missing)
}
