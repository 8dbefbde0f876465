package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"tagnet/formats/manifest"
	"tagnet/formats/storage"
	"tagnet/model"
	"tagnet/model/kg"
)

// work is the requests of a run, and the answers that they must get.
type work struct {
	options
	client  *http.Client
	queries []model.Query // of each request; the zero query is a malformed request
	want    map[model.Query][]model.Answer

	before float64 // seconds of processor time that the start took

	mu      sync.Mutex
	took    []time.Duration
	refused map[int]int
	mib     []int
	retries int
}

func newWork(ctx context.Context, o options) (*work, error) {
	w := &work{options: o, refused: map[int]int{}, want: map[model.Query][]model.Answer{}}
	w.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: o.clients}}
	if err := w.choose(ctx); err != nil {
		return nil, err
	}
	return w, w.answer(ctx)
}

// choose chooses the queries of the requests.
func (w *work) choose(ctx context.Context) error {
	folder := storage.Join(w.workspace, kg.Folder)
	m, err := manifest.Read(ctx, folder)
	if err != nil {
		return err
	}
	loaded, err := kg.Load(ctx, folder, m)
	if err != nil {
		return err
	}
	test, err := loaded.Queries(ctx, "test")
	if err != nil {
		return err
	}
	if len(test) == 0 {
		return errors.New("the test split has no queries")
	}
	relations := len(loaded.Relations)
	if w.relations > 0 {
		relations = min(relations, w.relations)
	}
	random := rand.New(rand.NewPCG(w.seed, 0))
	order := random.Perm(len(test))
	for i := range w.requests {
		q := test[order[i/w.same%len(order)]]
		relation, inverse := int(q.Relation)%len(loaded.Relations), q.Inverse
		if w.same > 1 {
			relation, inverse = random.IntN(relations), random.IntN(2) == 1
		}
		if random.Float64() < w.malformed {
			w.queries = append(w.queries, model.Query{})
			continue
		}
		name := loaded.Relations[relation]
		if inverse {
			name = "~" + name
		}
		w.queries = append(w.queries, model.Query{Source: loaded.Inference.Entities[q.Source], Relation: name})
	}
	return nil
}

// answer answers the queries with package model.
func (w *work) answer(ctx context.Context) error {
	m, err := model.Open(ctx, w.workspace)
	if err != nil {
		return err
	}
	var distinct []model.Query
	for _, q := range w.queries {
		if _, ok := w.want[q]; !ok && q != (model.Query{}) {
			w.want[q] = nil
			distinct = append(distinct, q)
		}
	}
	answers, err := m.AskAll(ctx, distinct, w.top)
	for i, q := range distinct {
		if err == nil {
			w.want[q] = answers[i]
		}
	}
	return err
}

// run sends the requests. Its error is that of the first wrong answer.
func (w *work) run(ctx context.Context, s *server) (result, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var err error
	if w.before, err = s.measure(ctx, "process_cpu_seconds_total"); err != nil {
		return result{}, err
	}
	begun := time.Now()
	var next atomic.Int64
	var clients sync.WaitGroup
	for range w.clients {
		clients.Go(func() {
			for i := next.Add(1) - 1; i < int64(w.requests) && ctx.Err() == nil; i = next.Add(1) - 1 {
				if err := w.request(ctx, s, int(i)); err != nil {
					cancel(fmt.Errorf("request %d: %w", i+1, err))
				}
			}
		})
	}
	clients.Wait()
	if err := context.Cause(ctx); err != nil {
		return result{}, err
	}
	return w.result(ctx, s, time.Since(begun))
}

// request sends one request, and does what is due at its number.
func (w *work) request(ctx context.Context, s *server, i int) error {
	if w.kill && i == w.requests/2 {
		if err := s.again(ctx); err != nil {
			return err
		}
		w.before = 0 // another process
	}
	if (i+1)%(w.requests/10) == 0 {
		bytes, err := s.measure(ctx, "process_resident_memory_bytes")
		if err == nil {
			w.mu.Lock()
			w.mib = append(w.mib, int(bytes)>>20)
			w.mu.Unlock()
		}
	}
	if w.queries[i] == (model.Query{}) {
		return w.refuse(ctx, s, malformed[i%len(malformed)])
	}
	return w.ask(ctx, s, w.queries[i])
}

// patience is how long a request is repeated while no server listens.
const patience = time.Minute

// retry calls send until it has no error, as a client does whose server is started again.
func (w *work) retry(ctx context.Context, send func() error) error {
	for begun := time.Now(); ; {
		err := send()
		if err == nil || errors.As(err, new(wrong)) || ctx.Err() != nil || !w.kill || time.Since(begun) > patience {
			return err
		}
		w.mu.Lock()
		w.retries++
		w.mu.Unlock()
		time.Sleep(20 * time.Millisecond)
	}
}

// wrong is the error of a response that is not the right one.
type wrong struct{ error }

// refuse sends a malformed request, which the server must refuse.
func (w *work) refuse(ctx context.Context, s *server, text string) error {
	return w.retry(ctx, func() error {
		status, err := sendMalformed(s.address, text)
		if err != nil {
			return err
		}
		if status != 0 && status < 400 || status == 500 {
			return wrong{fmt.Errorf("%.60q: status %d", text, status)}
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.refused[status]++
		return nil
	})
}

// ask sends a query and compares its answers.
func (w *work) ask(ctx context.Context, s *server, q model.Query) error {
	parameters := url.Values{"source": {q.Source}, "relation": {q.Relation}, "k": {fmt.Sprint(w.top)}}
	return w.retry(ctx, func() error {
		begun := time.Now()
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.address+"/answer?"+parameters.Encode(), nil)
		if err != nil {
			return err
		}
		response, err := w.client.Do(r)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil {
			return err
		}
		took := time.Since(begun)
		if response.StatusCode != http.StatusOK {
			return wrong{fmt.Errorf("%+v: status %d: %s", q, response.StatusCode, text)}
		}
		if err := same(w.want[q], text); err != nil {
			return wrong{fmt.Errorf("%+v: %w", q, err)}
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.took = append(w.took, took)
		return nil
	})
}

// same compares a response with the answers of package model.
func same(want []model.Answer, text []byte) error {
	var got struct {
		Answers []struct {
			Entity string
			Score  float32
			Known  bool
		}
	}
	if err := json.Unmarshal(text, &got); err != nil {
		return err
	}
	if len(got.Answers) != len(want) {
		return fmt.Errorf("%d answers, want %d", len(got.Answers), len(want))
	}
	for i, a := range got.Answers {
		if w := want[i]; a.Entity != w.Entity || a.Score != w.Score || a.Known != w.Known {
			return fmt.Errorf("answer %d is %+v, want %+v", i+1, a, w)
		}
	}
	return nil
}

// result sums up a run.
func (w *work) result(ctx context.Context, s *server, took time.Duration) (result, error) {
	r := result{
		Requests: w.requests, Clients: w.clients, PerSource: w.same, Seconds: round(took.Seconds()), PerSecond: round(float64(w.requests) / took.Seconds()),
		Answers: len(w.took), Refused: w.refused, Retries: w.retries, MiB: w.mib,
	}
	slices.Sort(w.took)
	r.P50, r.P99, r.Most = w.percentile(50), w.percentile(99), w.percentile(100)
	for name, into := range map[string]*float64{"tagnet_queries_total": &r.Queries, "tagnet_batch_seconds_count": &r.Batches, "process_cpu_seconds_total": &r.CPU} {
		var err error
		if *into, err = s.measure(ctx, name); err != nil {
			return r, err
		}
	}
	r.CPU = round(r.CPU - w.before)
	return r, nil
}

// percentile returns the time in milliseconds that p percent of the answers did not exceed.
func (w *work) percentile(p int) float64 {
	if len(w.took) == 0 {
		return 0
	}
	i := (p*len(w.took)+99)/100 - 1
	return round(float64(w.took[max(0, i)]) / float64(time.Millisecond))
}

func round(x float64) float64 { return float64(int64(100*x+0.5)) / 100 }
