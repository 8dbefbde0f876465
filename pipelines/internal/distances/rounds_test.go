package distances

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"tagnet/formats/counts"
	"tagnet/formats/reach"
	"tagnet/formats/storage"
	"tagnet/formats/tables"
	modelgraph "tagnet/model/graph"
	"tagnet/model/joinsearch"
	"tagnet/model/kg"
	"tagnet/model/search"
	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/stages/distances"
)

// shapes are facts over a number of entities.
var shapes = map[string]func(random *rand.Rand, entities int32) []modelgraph.Fact{
	"random": func(random *rand.Rand, entities int32) (facts []modelgraph.Fact) {
		for range 2 * entities {
			facts = append(facts, modelgraph.Fact{Head: random.Int32N(entities), Relation: random.Int32N(2), Tail: random.Int32N(entities)})
		}
		return facts
	},
	"hub": func(random *rand.Rand, entities int32) (facts []modelgraph.Fact) {
		hub := random.Int32N(entities)
		for o := range entities {
			facts = append(facts, modelgraph.Fact{Head: hub, Tail: o}, modelgraph.Fact{Head: o, Relation: 1, Tail: hub})
		}
		return facts
	},
	"chain": func(_ *rand.Rand, entities int32) (facts []modelgraph.Fact) {
		for o := range entities - 1 {
			facts = append(facts, modelgraph.Fact{Head: o, Tail: o + 1})
		}
		return facts
	},
	"loops": func(_ *rand.Rand, entities int32) (facts []modelgraph.Fact) {
		for o := int32(0); o < entities; o += 3 { // others have no edge at all
			facts = append(facts, modelgraph.Fact{Head: o, Tail: o}, modelgraph.Fact{Head: o, Relation: 1, Tail: min(entities-1, 2*o)})
		}
		return facts
	},
}

// sample is a graph on disk as a join reads it, and the tables that a search from each source
// alone makes.
type sample struct {
	params  distances.JoinParams
	sources []int32
	want    map[string][]byte // by file
}

// write makes a sample in memory.
func write(t *testing.T, seed uint64, shape string, entities int32, shards, hops int, share float64) sample {
	t.Helper()
	ctx := context.Background()
	random := rand.New(rand.NewPCG(seed, 5))
	g, err := modelgraph.New(int(entities), 2, shapes[shape](random, entities))
	if err != nil {
		t.Fatal(err)
	}
	root := "mem://" + strings.ReplaceAll(t.Name(), "#", "-")
	s := sample{want: map[string][]byte{}}
	s.params = distances.JoinParams{Layout: joinsearch.Layout{Entities: int(entities), PerTable: distances.SourcesPerShard(int(entities), g.Edges()), ChunkBytes: 1 << 20}}
	s.params.Hops, s.params.Split, s.params.Graph, s.params.Folder = hops, "test", root+"/graph", root+"/distances"
	for k := range shards {
		var e tables.Edges
		for o := range entities {
			if int(int64(o)*int64(shards)/int64(entities)) != k {
				continue
			}
			senders, relations := g.In(o)
			for i := range senders {
				e.Tails, e.Relations, e.Heads = append(e.Tails, o), append(e.Relations, relations[i]), append(e.Heads, senders[i])
			}
		}
		url := storage.Join(s.params.Graph, kg.EdgesFile(k, shards))
		if err := writeEdges(ctx, url, e); err != nil {
			t.Fatal(err)
		}
		s.params.Layout.Edges = append(s.params.Layout.Edges, joinsearch.EdgeShard{URL: url, SHA256: fmt.Sprint(t.Name(), k)})
	}
	var queries []tables.Query
	for o := range entities {
		if random.Float64() < share {
			s.sources = append(s.sources, o)
			queries = append(queries, tables.Query{Source: o, Answer: random.Int32N(entities)})
		}
	}
	s.params.Layout.Sources = len(s.sources)
	if err := tables.WriteQueries(ctx, storage.Join(s.params.Graph, kg.QueriesFile("test")), queries); err != nil {
		t.Fatal(err)
	}
	s.search(t, g, queries)
	return s
}

// search makes what is wanted.
func (s *sample) search(t *testing.T, g *modelgraph.Graph, queries []tables.Query) {
	t.Helper()
	ctx := context.Background()
	searcher, row := search.NewSearcher(g), make([]uint8, g.Entities)
	d := counts.Distribution{Split: "test", ByDistance: map[string]int64{"unreached": 0}}
	for hop := 1; hop <= s.params.Hops; hop++ {
		d.ByDistance[strconv.Itoa(hop)] = 0
	}
	for _, shard := range distances.Shards(s.sources, s.params.Layout.PerTable) {
		url := storage.Join(s.params.Graph, "want", shard.File())
		w, err := tables.CreateDistances(ctx, url, g.Entities, s.params.Hops)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Abort()
		for _, source := range shard.Sources {
			searcher.Search(source, s.params.Hops, modelgraph.Removal{}, row)
			if err := w.Write(source, row); err != nil {
				t.Fatal(err)
			}
			for _, q := range tables.QueriesOf(queries, source) {
				at := "unreached"
				if row[q.Answer] != reach.Unreached {
					at = strconv.Itoa(int(row[q.Answer]))
				}
				d.ByDistance[at]++
				d.Queries++
			}
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
		if s.want[shard.File()], err = storage.ReadFile(ctx, url); err != nil {
			t.Fatal(err)
		}
	}
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	s.want[counts.DistributionFile] = append(text, '\n')
}

// check searches by a join and compares every file.
func (s *sample) check(t *testing.T, perPipeline int) {
	t.Helper()
	ctx := context.Background()
	if err := searchByJoin(ctx, pipelinetest.Environment(), s.sources, s.params, perPipeline); err != nil {
		t.Fatal(err)
	}
	urls, err := storage.List(ctx, s.params.Folder)
	if err != nil || len(urls) != len(s.want) {
		t.Errorf("files %v (%v), want %d", urls, err, len(s.want))
	}
	for name, want := range s.want {
		got, err := storage.ReadFile(ctx, storage.Join(s.params.Folder, name))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes differ from %d (%v)", name, len(got), len(want), err)
		}
	}
}

// TestRoundsEqualSearches compares rounds of a join with a search from each source alone,
// whatever the graph's shape, the hops, and how edges, entities and sources are cut.
func TestRoundsEqualSearches(t *testing.T) {
	command.InitBeam()
	for i, test := range []struct {
		shape                              string
		entities                           int32
		share                              float64
		hops                               int
		shards, ranges, words, perPipeline int
		run                                int64
	}{
		{"random", 300, .7, 1, 1, 1, 1, 1, 1 << 20},
		{"random", 301, .9, 2, 2, 5, 2, 2, 1 << 20},
		{"random", 150, .9, 3, 7, 3, 8, 1, 900},
		{"random", 150, .1, 4, 3, 7, 1, 9, 700},
		{"random", 150, 1, 14, 2, 2, 2, 1, 1},
		{"hub", 400, 1, 5, 1, 2, 4, 1, 1},
		{"hub", 333, .3, 6, 4, 3, 1, 3, 500},
		{"chain", 77, 1, 7, 3, 4, 1, 1, 1 << 20},
		{"chain", 90, .2, 13, 1, 5, 1, 1, 300},
		{"chain", 40, 1, 14, 5, 3, 1, 1, 1 << 20},
		{"loops", 200, 1, 8, 3, 2, 4, 1, 1 << 20},
		{"loops", 64, .4, 9, 1, 64, 1, 1, 1},
		{"loops", 5, 1, 10, 5, 1, 1, 1, 1 << 20},
		{"hub", 1, 1, 11, 1, 1, 1, 1, 1 << 20},
		{"loops", 1, 1, 12, 1, 1, 8, 1, 1},
	} {
		t.Run(fmt.Sprintf("%+v", test), func(t *testing.T) {
			s := write(t, uint64(i), test.shape, test.entities, test.shards, test.hops, test.share)
			if len(s.sources) == 0 {
				t.Fatal("no sources")
			}
			s.params.Layout.Ranges, s.params.Layout.Words, s.params.Layout.ChunkBytes, s.params.Layout.CacheBytes = test.ranges, test.words, test.run, 1<<20
			s.check(t, test.perPipeline)
		})
	}
}

func TestJoinWithoutSources(t *testing.T) {
	if _, err := BuildTables(nil, distances.JoinParams{Layout: joinsearch.Layout{Entities: 5}}); err == nil {
		t.Error("tables of nothing are made")
	}
	if _, err := Build(nil, 5, distances.SearchParams{}); err == nil {
		t.Error("nothing is searched")
	}
}

// TestJoinOfDamagedEdges holds that an error names the file and what is wrong with it.
func TestJoinOfDamagedEdges(t *testing.T) {
	command.InitBeam()
	ctx := context.Background()
	for name, test := range map[string]struct {
		damage func(url string) error
		says   string
	}{
		"missing": {func(url string) error { return storage.Remove(ctx, url) }, "exist"},
		"cut short": {func(url string) error {
			data, err := storage.ReadFile(ctx, url)
			if err != nil {
				return err
			}
			return storage.WriteFile(ctx, url, data[:len(data)/2])
		}, "cut short or damaged"},
		"another's range": {func(url string) error {
			return writeEdges(ctx, url, tables.Edges{Tails: []int32{30, 60}, Relations: []int32{0, 0}, Heads: []int32{1, 1}})
		}, "an edge to entity 30 is out of the file's range 50 to 99"},
		"behind its range": {func(url string) error {
			return writeEdges(ctx, url, tables.Edges{Tails: []int32{60, 130}, Relations: []int32{0, 0}, Heads: []int32{1, 1}})
		}, "an edge to entity 130 is out of the file's range 50 to 99"},
		"from nowhere": {func(url string) error {
			return writeEdges(ctx, url, tables.Edges{Tails: []int32{60}, Relations: []int32{0}, Heads: []int32{100}})
		}, "from entity 100, the graph has 100"},
	} {
		t.Run(name, func(t *testing.T) {
			s := write(t, 3, "random", 100, 2, 3, .5)
			s.params.Layout.Ranges, s.params.Layout.Words = 3, 1
			url := s.params.Layout.Edges[1].URL
			if err := test.damage(url); err != nil {
				t.Fatal(err)
			}
			err := searchByJoin(ctx, pipelinetest.Environment(), s.sources, s.params, 1)
			if err == nil || !strings.Contains(err.Error(), url) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("the error is %v, want %s and %q", err, url, test.says)
			}
			if there, _ := storage.Exists(ctx, storage.Join(s.params.Folder, counts.DistributionFile)); there {
				t.Error("a distribution is written")
			}
		})
	}
}

// writeEdges writes edges as preprocess does.
func writeEdges(ctx context.Context, url string, e tables.Edges) error {
	w, err := tables.CreateEdges(ctx, url)
	if err != nil {
		return err
	}
	defer w.Abort()
	for i, tail := range e.Tails {
		if err := w.Write(tail, e.Relations[i], e.Heads[i]); err != nil {
			return err
		}
	}
	return w.Commit()
}
