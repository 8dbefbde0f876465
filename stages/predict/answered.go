package predict

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"tagnet/model/answer"
	"tagnet/model/budget"
	"tagnet/model/graph"
	"tagnet/model/parallel"
	"tagnet/stages/worker"
)

// BackwardCounter names the counter of the queries that are scored for candidates and known answers, in
// the other direction.
const BackwardCounter = "scored_backward"

var (
	askedRows     = worker.NewCounter("ask", RowsCounter)
	askedBackward = worker.NewCounter("ask", BackwardCounter)
)

// answered are the queries of a shard with their answers.
type answered struct {
	queries []answer.Request
	answers []answer.Answers // of each query
	// backward is the number of queries that asked the candidates in the other direction.
	backward int
}

// sort orders the queries by their numbers.
func (a *answered) sort() {
	order := parallel.Indices[int](len(a.queries))
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(a.queries[i].Rows[0], a.queries[j].Rows[0]) })
	queries, answers := make([]answer.Request, len(order)), make([]answer.Answers, len(order))
	for to, from := range order {
		queries[to], answers[to] = a.queries[from], a.answers[from]
	}
	a.queries, a.answers = queries, answers
}

// asking returns the options of answering without candidates and probabilities, which need the graph.
func (p AskParams) asking() *answer.Asking {
	return &answer.Asking{Best: p.Best, Known: p.Queries.WithKnown}
}

// answer answers the queries of a shard and passes the answers to use, which must not keep them: the memory of the
// shard is counted until it returns. The context is the one that Beam passed to a DoFn.
func (p AskParams) answer(ctx context.Context, shard Shard, use func(context.Context, *answered) error) error {
	ctx, leave, err := worker.Enter(ctx, budget.Shards)
	if err != nil {
		return err
	}
	defer leave()
	all := &answered{}
	err = shard.Requests(ctx, p.Queries, func(requests []answer.Request) error {
		all.queries = append(all.queries, requests...)
		return all.ask(ctx, p, requests)
	})
	if err != nil {
		return err
	}
	return use(ctx, all)
}

func (a *answered) ask(ctx context.Context, p AskParams, queries []answer.Request) error {
	estimator, err := p.Estimator(ctx)
	if err != nil {
		return err
	}
	return p.Use(ctx, func(m *answer.Model) error {
		list, err := p.Selection(ctx, m)
		if err != nil {
			return err
		}
		asked := make([]graph.Query, len(queries))
		for i, q := range queries {
			asked[i] = q.Query
		}
		asking := p.asking()
		asking.Among, asking.Estimator = list.Candidates, estimator
		asking.Done, asking.Backward = counted(ctx, len(queries)), func(queries int) { a.backward += queries }
		answers, err := m.Ask(ctx, asked, *asking)
		a.answers = append(a.answers, answers...)
		return err
	})
}

// counted returns a function that counts answered queries: the first left ones as queries of the shard, all further
// ones as backward queries.
func counted(ctx context.Context, left int) func(queries int) {
	var counting sync.Mutex
	return func(queries int) {
		counting.Lock()
		defer counting.Unlock()
		forward := min(left, queries)
		left -= forward
		askedRows.Inc(ctx, int64(forward))
		askedBackward.Inc(ctx, int64(queries-forward))
	}
}
