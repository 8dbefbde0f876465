// Command serve starts the program of pipelines/serve on a workspace, asks it the test split's queries from many clients
// at once, compares each answer with package model, and prints one line of JSON: how long the answers took, and how
// much memory the server used. It can mix in malformed requests, and kill the server half-way.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"io"
	"os"

	"tagnet/infra/internal/program"
)

func main() { os.Exit(program.Run("serve", "interrupted; no result was written", run)) }

// options are the flags.
type options struct {
	program, workspace string
	requests, clients  int
	same, relations    int
	malformed          float64
	kill               bool
	top                int
	seed               uint64
}

// result is the line that is printed. Times are those of the requests that were answered, in milliseconds.
type result struct {
	Requests  int     `json:"requests"`
	Clients   int     `json:"clients"`
	PerSource int     `json:"requests_per_source"`
	Seconds   float64 `json:"seconds"`
	PerSecond float64 `json:"per_second"`
	P50       float64 `json:"p50_ms"`
	P99       float64 `json:"p99_ms"`
	Most      float64 `json:"most_ms"`
	// Answers were equal to those of package model. Refused are the malformed requests by status; 0 is a connection
	// that the server closed.
	Answers int         `json:"answers"`
	Refused map[int]int `json:"refused,omitempty"`
	Retries int         `json:"retries"`
	// Queries and Batches are those that the server, or the one after the kill, has computed, and CPU the processor time
	// that it took, in seconds.
	Queries float64 `json:"queries"`
	Batches float64 `json:"batches"`
	CPU     float64 `json:"cpu_seconds"`
	// MiB is the server's resident memory after each tenth of the requests.
	MiB []int `json:"resident_mib"`
}

func run(ctx context.Context, arguments []string, out, diagnostics io.Writer) error {
	o, err := parse(arguments, diagnostics)
	if err != nil {
		return err
	}
	w, err := newWork(ctx, o)
	if err != nil {
		return err
	}
	s, err := start(ctx, o.program, o.workspace, diagnostics)
	if err != nil {
		return err
	}
	defer s.kill()
	r, err := w.run(ctx, s)
	if err != nil {
		return err
	}
	if err := s.stop(); err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(r)
}

func parse(arguments []string, diagnostics io.Writer) (options, error) {
	var o options
	set := flag.NewFlagSet("bench/serve", flag.ContinueOnError)
	set.StringVar(&o.program, "program", "bin/serve", "`file` of the server, from go build -o bin/ ./pipelines/serve")
	set.StringVar(&o.workspace, "workspace", "workspace", "`folder` of a workspace with a trained model")
	set.IntVar(&o.requests, "requests", 10000, "requests to send")
	set.IntVar(&o.clients, "clients", 16, "clients that send them, each the next one when it has the answer")
	set.IntVar(&o.same, "per_source", 1, "requests in a row about one source, of any relation; 1 takes the test split's queries")
	set.IntVar(&o.relations, "relations", 0, "with --per_source, how many relations these requests are about; 0 is all")
	set.Float64Var(&o.malformed, "malformed", 0, "share of requests that are malformed")
	set.BoolVar(&o.kill, "kill", false, "kill the server after half of the requests, and start it again")
	set.IntVar(&o.top, "k", 10, "answers of a query")
	set.Uint64Var(&o.seed, "seed", 1, "seed of the requests")
	if err := program.Parse(set, "Loads the program of pipelines/serve with many requests, checks the answers, and measures times and memory.", arguments, diagnostics); err != nil {
		return o, err
	}
	switch {
	case o.requests < 10 || o.clients < 1 || o.same < 1 || o.top < 1 || o.relations < 0:
		return o, program.Usage("--requests must be 10 or more, --clients, --per_source and --k 1 or more, --relations 0 or more")
	case !(o.malformed >= 0 && o.malformed < 1):
		return o, program.Usage("--malformed must be 0 or more, and less than 1")
	}
	return o, nil
}
