package study

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"tagnet/formats/hop"
	"tagnet/formats/storage"
	"tagnet/formats/workspace/counts"
	"tagnet/formats/workspace/metrics"
	"tagnet/formats/workspace/parquet"
	"tagnet/model/engine/parts"
	"tagnet/model/graph"
	"tagnet/model/graph/kg"
	"tagnet/model/weights/configuration"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/score"
	"tagnet/pipelines/internal/scoring/scoringtest"
	"tagnet/stages/encode"
)

// TestReachIsScores compares the messages with those that scoring a model sends, which propagates the queries of a source and a relation once.
func TestReachIsScores(t *testing.T) {
	workspace := trained(t, configuration.PolicyWindow)
	var sent []int64
	for _, most := range []int{1, 5, 12, 1000} {
		pipelinetest.Succeed(t, Messages(), "--workspace", workspace, "--layers", "3", "--deltas", "1", "--reach", fmt.Sprint(most), "--force")
		rows := scoringtest.Rows[parquet.MessageCount](t, filepath.Join(workspace, "runs/main/messages/test", counts.CountsTable))
		l, err := encode.Load(t.Context(), filepath.Join(workspace, "graph"))
		if err != nil {
			t.Fatal(err)
		}
		queries, err := l.Queries(t.Context(), "test")
		if err != nil {
			t.Fatal(err)
		}
		distinct := map[string]map[int32]bool{} // the relations of the queries of each source
		for _, q := range queries {
			name := l.Of("test").Entities[q.Source]
			if distinct[name] == nil {
				distinct[name] = map[int32]bool{}
			}
			distinct[name][q.Relation] = true
		}
		counted := int64(0)
		for _, r := range rows {
			counted += int64(len(distinct[r.Source])) * (r.Kept - r.KeptEmpty)
		}
		pipelinetest.Succeed(t, score.Pipeline(), "--workspace", workspace, "--top_k", "0", "--reach", fmt.Sprint(most), "--force")
		m, err := storage.ReadJSON[metrics.Evaluation](t.Context(), filepath.Join(workspace, "runs/main/evaluation/test", metrics.File))
		if err != nil {
			t.Fatal(err)
		}
		if counted != m.Messages {
			t.Errorf("--reach %d: %d messages are counted, %d are sent", most, counted, m.Messages)
		}
		sent = append(sent, counted)
	}
	if !(sent[0] < sent[1] && sent[1] < sent[2] && sent[2] < sent[3]) {
		t.Errorf("the messages are %v: the reaches differ in nothing", sent)
	}
}

// TestReachEqualsCountingEdgeByEdge compares sums for every way of removing with those of each query's part.
func TestReachEqualsCountingEdgeByEdge(t *testing.T) {
	workspace := prepared(t, true)
	l, err := encode.Load(t.Context(), filepath.Join(workspace, "graph"))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ split, remove string }{{"test", configuration.RemoveNone}, {"train", configuration.RemoveTriple}, {"train", configuration.RemoveOneHop}} {
		for _, most := range []int{2, 9, 100} {
			out := pipelinetest.Succeed(t, Messages(), "--workspace", workspace, "--split", test.split, "--remove", test.remove, "--layers", "4,2", "--deltas", "0,2", "--reach", fmt.Sprint(most), "--force")
			s, err := counts.ReadSummary(t.Context(), filepath.Join(workspace, "runs/main/messages", test.split))
			if err != nil || s.Reach != most || !strings.Contains(out, fmt.Sprintf("each through at most %d entities", most)) {
				t.Fatalf("a reach of %d, error %v: %s", s.Reach, err, out)
			}
			for _, got := range s.Configurations {
				want := countedWithin(t, l, test.split, got.Layers, got.Delta, most, test.remove)
				if got.Totals != want {
					t.Errorf("%+v, --reach %d, %d layers, delta %d: %+v, want %+v", test, most, got.Layers, got.Delta, got.Totals, want)
				}
			}
		}
	}
}

// countedWithin counts edge by edge, query by query, each in its part of at most most entities.
func countedWithin(t *testing.T, l *kg.KG, split string, layers, delta, most int, remove string) (c counts.Totals) {
	t.Helper()
	queries, err := l.Queries(t.Context(), split)
	if err != nil {
		t.Fatal(err)
	}
	g := l.Of(split).Graph
	for _, q := range queries {
		q.Removal = configuration.Removal(remove)
		distances := within(g, q, layers, most)
		for o := range int32(g.Entities) {
			senders, relations := g.In(o)
			for i, u := range senders {
				if g.Removes(q, u, relations[i], o) {
					continue
				}
				at, from := distances[o], distances[u]
				for layer := 1; layer <= layers; layer++ {
					c.NBFNet++
					kept := at != outside && layer-delta <= at && at <= layer && from < at+delta && from < hop.Unreached
					switch empty := at == outside || from > layer-1; {
					case kept:
						c.Kept++
						if empty {
							c.KeptEmpty++
						}
					case empty:
						c.PrunedEmpty++
					default:
						c.PrunedRedundant++
					}
				}
			}
		}
	}
	return c
}

// outside is the distance of an entity that is not in the part.
const outside = hop.Unreached + 1

// within returns the distances in a query's part, of all entities.
func within(g *graph.Graph, q graph.Query, hops, most int) []int {
	var part parts.Subgraph
	parts.NewFinder(g, most, hops).Find(q, &part)
	local := make([]uint8, len(part.Entities))
	graph.NewSearcher(part.Of(g)).Search(part.Source, hops, part.Query, local)
	distances := make([]int, g.Entities)
	for o := range distances {
		distances[o] = outside
	}
	for i, o := range part.Entities {
		distances[o] = int(local[i])
	}
	return distances
}

func TestReachMistakes(t *testing.T) {
	workspace := trained(t, configuration.PolicyAStar)
	for says, arguments := range map[string][]string{
		"--reach is -1":            {"--reach", "-1"},
		"--reach is not for A*Net": {"--reach", "5", "--model", "best"},
	} {
		pipelinetest.Fail(t, Messages(), pipelinetest.Failure{Code: command.ExitUsage, Says: []string{says}}, append([]string{"--workspace", workspace}, arguments...)...)
	}
}
