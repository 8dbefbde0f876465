package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"tagnet/model"
	"tagnet/pipelines/internal/pipelinetest"
)

// served is an answer of the server, by its service, its page or its client in Python. The page has
// the probability alone.
type served struct {
	Entity      string
	Probability *float64
	Score       float32
	OtherScore  float32 `json:"other_score"`
	Rank        int64
	OtherRank   int64 `json:"other_rank"`
	Known       bool
}

// query is a head and a relation.
type query struct{ source, relation string }

// serving starts the server of a workspace and asks about the tails of the heads of some facts, as ask does.
func serving(ask func(t *testing.T, address string, queries []query) [][]served) place {
	return func(t *testing.T, w string, facts []model.Triple) map[model.Triple]said {
		t.Helper()
		var queries []query
		for _, f := range facts {
			if q := (query{f.Head, f.Relation}); !slices.Contains(queries, q) && len(queries) < 12 {
				queries = append(queries, q)
			}
		}
		all := map[model.Triple]said{}
		for i, answers := range ask(t, serverOf(t, w, presumes...), queries) {
			for _, a := range answers {
				all[model.Triple{Head: queries[i].source, Relation: queries[i].relation, Tail: a.Entity}] = said{a.Probability, a.Score, a.OtherScore,
					a.Rank, a.OtherRank, a.Known}
			}
		}
		return all
	}
}

// startServer starts a server on a workspace until the test ends, and returns its process and address.
func startServer(t *testing.T, w string, flags ...string) (server *exec.Cmd, address string) {
	t.Helper()
	c := tagnetOn(t, w, append(slices.Clone(serves), flags...))
	stdout, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	lines := bufio.NewScanner(stdout)
	for address == "" && lines.Scan() {
		address = regexp.MustCompile(`http://127\.0\.0\.1:\d+`).FindString(lines.Text())
	}
	go func() { _, _ = io.Copy(io.Discard, stdout) }()
	return c, address
}

// serverOf starts a server on a workspace until the test ends, and returns its address when it has probabilities.
func serverOf(t *testing.T, w string, flags ...string) string {
	t.Helper()
	_, address := startServer(t, w, flags...)
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		var health struct{ Probabilities string }
		if get(t, address+"/healthz", &health); health.Probabilities == "ready" {
			return address
		}
	}
	t.Fatalf("the server at %q has no probabilities", address)
	return ""
}

// get reads the JSON of a URL.
func get(t *testing.T, url string, into any) {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(into); err != nil {
		t.Fatalf("%s: %v", url, err)
	}
}

// byService asks the service for JSON.
func byService(t *testing.T, address string, queries []query) (all [][]served) {
	t.Helper()
	for _, q := range queries {
		var found struct{ Answers []served }
		get(t, address+"/answer?"+url.Values{"source": {q.source}, "relation": {q.relation}, "k": {"30"}, "known": {"true"}}.Encode(), &found)
		all = append(all, found.Answers)
	}
	return all
}

// byPage reads what the page shows.
func byPage(t *testing.T, address string, queries []query) [][]served {
	t.Helper()
	all := make([][]served, len(queries))
	for i, q := range queries {
		p := pipelinetest.OpenPage(t, address+"/?"+url.Values{"source": {q.source}, "relation": {q.relation}}.Encode(), 1000, 900)
		p.Wait(`document.documentElement.dataset.state == "answered"`)
		rows := pipelinetest.EvaluateOnPage[[][2]string](p,
			`[...document.querySelectorAll("#answers tr")].filter(e => e.querySelector("[title^='probability ']")).`+
				`map(e => [new URLSearchParams(e.querySelector("a").getAttribute("href")).get("source"), e.querySelector("[title^='probability ']").title])`)
		for _, row := range rows {
			var probability float64
			if _, err := fmt.Sscanf(row[1], "probability %g", &probability); err != nil {
				t.Fatalf("%q: %v", row, err)
			}
			all[i] = append(all[i], served{Entity: row[0], Probability: &probability, Rank: notSaid})
		}
	}
	return all
}

// byPython asks with the client in Python, without the modules that the rest of the package needs.
func byPython(t *testing.T, address string, queries []query) (all [][]served) {
	t.Helper()
	folder, err := filepath.Abs("../../infra/python/tagnet")
	if err != nil {
		t.Fatal(err)
	}
	arguments := []string{folder, address}
	for _, q := range queries {
		arguments = append(arguments, q.source, q.relation)
	}
	c := exec.CommandContext(t.Context(), "python3", append([]string{"-c", `
import dataclasses, json, sys, types
package = types.ModuleType("tagnet")
package.__path__ = [sys.argv[1]]
sys.modules["tagnet"] = package
from tagnet.client import Client
results = Client(sys.argv[2]).answers(list(zip(sys.argv[3::2], sys.argv[4::2])), k=30, known=True)
print(json.dumps([[dataclasses.asdict(a) for a in r.answers] for r in results]))
`}, arguments...)...)
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(strings.NewReader(string(out))).Decode(&all); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	return all
}
