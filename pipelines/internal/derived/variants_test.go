package derived

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"tagnet/formats/storage"
	"tagnet/formats/storage/gcs/gcstest"
	"tagnet/formats/workspace/tables"
	"tagnet/model/engine/relations"
	"tagnet/model/graph"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/pipelinetest"
	stage "tagnet/stages/relations"
	"tagnet/stages/worker"
)

// folders counts the folders of this process's memory that tests have used.
var folders atomic.Int64

// folder returns a folder in memory that no other test uses.
func folder() string { return fmt.Sprintf("mem://relationgraph/%d", folders.Add(1)) }

// written writes the edges of a graph as so many shards by tail.
func written(t *testing.T, g *graph.Graph, shards int) (all []stage.Shard) {
	t.Helper()
	at := folder()
	for i := range shards {
		s := stage.Shard{Number: i, URL: storage.Join(at, fmt.Sprintf("edges-%d.arrow", i))}
		w, err := tables.CreateEdges(t.Context(), s.URL)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Abort()
		for tail := int32(g.Entities * i / shards); tail < int32(g.Entities*(i+1)/shards); tail++ {
			heads, relations := g.In(tail)
			edges := make([][2]int32, len(heads))
			for j := range heads {
				edges[j] = [2]int32{heads[j], relations[j]}
			}
			slices.SortFunc(edges, func(a, b [2]int32) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
			for _, e := range edges {
				if err := w.Write(tail, e[1], e[0]); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

// table makes the table and returns its bytes, which are the only file that is left.
func table(t *testing.T, shards []stage.Shard, base int) string {
	t.Helper()
	p := stage.Params{BaseRelations: base, Folder: folder(), BufferBytes: 1} // the least: spill files of 1,024 pairs
	worker.Start()                                                           // a failed command of another test has stopped
	pipelinetest.RunBeam(t, BuildRelationGraph(shards, p))
	files := pipelinetest.Files(t, p.Folder)
	if len(files) != 1 {
		t.Errorf("%d files, want the table alone", len(files))
	}
	return files[stage.TableFile]
}

// check compares the tables of a graph, made from one shard and from several, with the relation graph.
func check(t *testing.T, g *graph.Graph) {
	t.Helper()
	want := relations.GraphOf(g)
	one := table(t, written(t, g, 1), g.BaseRelations)
	several := written(t, g, 3)
	reversed := slices.Clone(several)
	slices.Reverse(reversed)
	for _, shards := range [][]stage.Shard{several, reversed} {
		if got := table(t, shards, g.BaseRelations); got != one {
			t.Errorf("%s first: other bytes", shards[0].URL)
		}
	}
	url := storage.Join(folder(), stage.TableFile)
	if err := storage.WriteFile(t.Context(), url, []byte(one)); err != nil {
		t.Fatal(err)
	}
	got, err := stage.Read(t.Context(), url, g.BaseRelations)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(want, got, gocmp.AllowUnexported(relations.Graph{})); diff != "" {
		t.Errorf("relation graph (-want +got):\n%s", diff)
	}
}

func newGraph(t *testing.T, entities, base int, facts []graph.Fact) *graph.Graph {
	t.Helper()
	g, err := graph.New(entities, base, facts)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestTableIsTheRelationGraph has a random graph with loops, parallel edges, entities and relations without facts, and repeated
// facts; a hub with more pairs than a spill file has; facts of one relation; and no facts.
func TestTableIsTheRelationGraph(t *testing.T) {
	command.InitBeam()
	random := rand.New(rand.NewPCG(3, 1))
	var mixed, hub []graph.Fact
	for range 300 {
		head, relation := int32(random.IntN(60)), int32(random.IntN(40))
		mixed = append(mixed, graph.Fact{Head: head, Relation: relation, Tail: int32(random.IntN(80))})
		mixed = append(mixed, graph.Fact{Head: head, Relation: relation, Tail: head})
	}
	const spokes = 60
	for r := range int32(spokes) {
		hub = append(hub, graph.Fact{Head: 0, Relation: r, Tail: 1 + r%3}, graph.Fact{Head: 1 + r%5, Relation: r, Tail: 0})
	}
	for name, g := range map[string]*graph.Graph{
		"mixed": newGraph(t, 100, 50, mixed), "hub": newGraph(t, 6, spokes, hub),
		"loop": newGraph(t, 2, 3, []graph.Fact{{Head: 1, Relation: 1, Tail: 1}}), "empty": newGraph(t, 4, 2, nil),
	} {
		t.Run(name, func(t *testing.T) { check(t, g) })
	}
}

// TestBucketHoldsTheSameTable makes the table in a bucket, with spill files there.
func TestBucketHoldsTheSameTable(t *testing.T) {
	command.InitBeam()
	worker.Start()
	g := newGraph(t, 3, 4, []graph.Fact{{Head: 0, Relation: 3, Tail: 1}, {Head: 1, Relation: 1, Tail: 1}})
	shards, bucket := written(t, g, 2), gcstest.Bucket(t)
	want := map[string]string{stage.TableFile: table(t, shards, g.BaseRelations)}
	p := stage.Params{BaseRelations: g.BaseRelations, Folder: bucket + "/table"}
	pipelinetest.RunBeam(t, BuildRelationGraph(shards, p))
	pipelinetest.Same(t, pipelinetest.Files(t, p.Folder), want)
}

// TestGoldenRelationGraphs compares with the relation graphs of an independent implementation.
func TestGoldenRelationGraphs(t *testing.T) {
	command.InitBeam()
	paths, err := filepath.Glob("../../../../shared/golden-ultra/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			var c struct {
				Entities      int                   `json:"num_entities"`
				Relations     int                   `json:"num_relations"`
				Facts         [][3]int32            `json:"triples"`
				RelationGraph map[string][][2]int32 `json:"relation_graph"`
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(text, &c); err != nil {
				t.Fatal(err)
			}
			var facts []graph.Fact
			for _, f := range c.Facts {
				facts = append(facts, graph.Fact{Head: f[0], Relation: f[1], Tail: f[2]})
			}
			g := newGraph(t, c.Entities, c.Relations, facts)
			check(t, g)
			var want, got []tables.RelationEdge
			for kind, name := range []string{"hh", "tt", "ht", "th"} {
				for _, e := range c.RelationGraph[name] {
					want = append(want, tables.RelationEdge{Type: uint8(kind), Receiver: e[0], Sender: e[1]})
				}
			}
			url := storage.Join(folder(), stage.TableFile)
			if err := storage.WriteFile(t.Context(), url, []byte(table(t, written(t, g, 2), g.BaseRelations))); err != nil {
				t.Fatal(err)
			}
			err = tables.EachRelationEdge(t.Context(), url, func(int) error { return nil }, func(e tables.RelationEdge) error {
				got = append(got, e)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Errorf("edges (-want +got):\n%s", diff)
			}
		})
	}
}

// TestUnknownRelation reads an edge whose relation the graph does not have.
func TestUnknownRelation(t *testing.T) {
	command.InitBeam()
	worker.Start()
	shards := written(t, newGraph(t, 3, 4, []graph.Fact{{Head: 0, Relation: 3, Tail: 1}}), 1)
	p := stage.Params{BaseRelations: 3, Folder: folder()}
	err := pipelinetest.Environment().RunBeam(context.Background(), BuildRelationGraph(shards, p))
	if err == nil || !strings.Contains(err.Error(), shards[0].URL) || !strings.Contains(err.Error(), "relation 7 of 6") {
		t.Errorf("error %v, want that relation 7 of 6 is in %s", err, shards[0].URL)
	}
}

// slow is storage of the scheme slow://, memory whose files take a while to open. Beam's local runner splits a bundle that takes long.
type slow struct {
	storage.FileSystem
	now, most atomic.Int64 // files that are being opened
}

var opening = &slow{}

func init() { storage.Register("slow", opening) }

func (s *slow) OpenRandom(ctx context.Context, path string) (storage.RandomReader, error) {
	s.most.Store(max(s.most.Load(), s.now.Add(1)))
	defer s.now.Add(-1)
	time.Sleep(250 * time.Millisecond)
	return storage.OpenRandom(ctx, "mem://"+path)
}

// TestBundlesAreMerged reads shards in several bundles, whose pairs cross the barrier and are merged.
func TestBundlesAreMerged(t *testing.T) {
	command.InitBeam()
	random := rand.New(rand.NewPCG(7, 7))
	var facts []graph.Fact
	for range 150 {
		facts = append(facts, graph.Fact{Head: int32(random.IntN(90)), Relation: int32(random.IntN(30)), Tail: int32(random.IntN(90))})
	}
	g := newGraph(t, 90, 30, facts)
	shards := written(t, g, 6)
	want := table(t, shards, g.BaseRelations)
	for i := range shards {
		shards[i].URL = strings.Replace(shards[i].URL, "mem://", "slow://", 1)
	}
	if got := table(t, shards, g.BaseRelations); got != want {
		t.Error("other bytes than from one bundle")
	}
	if n := opening.most.Load(); n < 2 {
		t.Errorf("at most %d shards were read at a time: bundles were not split", n)
	}
}
