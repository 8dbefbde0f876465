package serve

import (
	"cmp"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// measures holds the metrics that /metrics shows.
type measures struct {
	handler  http.Handler
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	queries  prometheus.Counter
	batches  prometheus.Histogram

	mu       sync.Mutex
	perQuery float64 // seconds that a query took in the latest batches
}

// buckets are the limits of the durations in seconds, from a query of a small graph to --timeout.
var buckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}

// newMeasures returns the metrics of /metrics, registered.
func newMeasures(a *admission) *measures {
	m := &measures{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "tagnet_requests_total", Help: "Requests by path and status."},
			[]string{"path", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "tagnet_request_seconds", Help: "Duration of requests that compute, by path.",
			Buckets: buckets}, []string{"path"}),
		queries: prometheus.NewCounter(prometheus.CounterOpts{Name: "tagnet_queries_total",
			Help: "Queries that were computed, each once if several requests share it."}),
		batches: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "tagnet_batch_seconds",
			Help: "Duration of batches, each of queries that are answered together.", Buckets: buckets}),
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(m.requests, m.seconds, m.queries, m.batches,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "tagnet_queries_under_way", Help: "Queries that are admitted and not answered."},
			func() float64 { return float64(a.inUse()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "tagnet_queries_limit", Help: "Queries that may be under way, --queue."},
			func() float64 { return float64(a.most) }),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.handler = promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
	return m
}

// request counts a request of a route; of one that was not found the path is invented, and is no label.
func (m *measures) request(served route, status int, took time.Duration) {
	path := cmp.Or(served.path, "other")
	m.requests.WithLabelValues(path, strconv.Itoa(status)).Inc()
	if served.admitted {
		m.seconds.WithLabelValues(path).Observe(took.Seconds())
	}
}

// batch records a batch of queries and updates the running mean of seconds a query.
func (m *measures) batch(queries int, took time.Duration) {
	m.queries.Add(float64(queries))
	m.batches.Observe(took.Seconds())
	m.mu.Lock()
	defer m.mu.Unlock()
	const weight = 0.1 // of the latest batch
	m.perQuery += weight * (took.Seconds()/float64(queries) - m.perQuery)
}

// secondsPerQuery returns how long a query takes about.
func (m *measures) secondsPerQuery() float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.perQuery
}

// showMetrics writes the measures in the text format of Prometheus.
func (s *server) showMetrics(w http.ResponseWriter, r *http.Request) error {
	s.measures.handler.ServeHTTP(w, r)
	return nil
}
