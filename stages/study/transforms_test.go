package study_test

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	gocmp "github.com/google/go-cmp/cmp"

	"tagnet/formats/hop"
	"tagnet/formats/storage"
	"tagnet/formats/storage/storagetest"
	"tagnet/formats/workspace/counts"
	"tagnet/formats/workspace/parquet"
	"tagnet/formats/workspace/tables"
	"tagnet/model/engine/parts"
	"tagnet/model/graph"
	"tagnet/model/graph/kg"
	"tagnet/model/weights/configuration"
	"tagnet/stages/stagetest"
	"tagnet/stages/study"
)

// TestSearch compares every row and the distribution with a search from its source alone; a shard of all sources has
// the rows of several. The bytes do not depend on the threads.
func TestSearch(t *testing.T) {
	folder, k := stagetest.Graph(t, 60, 2)
	for _, split := range kg.Splits {
		g, queries := k.View(split).Graph, queriesOf(t, k, split)
		searcher, want, got := graph.NewSearcher(g), make([]uint8, g.Entities), make([]uint8, g.Entities)
		for _, perShard := range []int{g.Entities, 7} {
			p := study.SearchParams{Params: study.Params{Graph: folder, Split: split, Folder: fmt.Sprintf("%s-%s-%d", folder, split, perShard)}, Hops: 3}
			sources := make([]int32, g.Entities)
			for i := range sources {
				sources[i] = int32(i)
			}
			shards, written := study.Shards(sources, perShard), map[string]string(nil)
			for p.Threads = 1; p.Threads <= 3; p.Threads++ {
				if err := stagetest.Run(t, func(s beam.Scope) { study.Search(s, beam.CreateList(s, shards), p) }); err != nil {
					t.Fatal(err)
				}
				again := storagetest.Files(t, p.Folder)
				if written == nil {
					written = again
				}
				if !maps.Equal(written, again) {
					t.Errorf("%s: the bytes with %d threads differ from those with one", split, p.Threads)
				}
			}
			rows, byDistance := 0, map[string]int64{"1": 0, "2": 0, "3": 0, hop.Key: 0}
			for _, shard := range shards {
				for source, packed := range distances(t, storage.Join(p.Folder, shard.File())) {
					rows++
					tables.Unpack(packed, got)
					searcher.Search(source, p.Hops, graph.Query{}, want)
					if !slices.Equal(got, want) {
						t.Errorf("%s, source %d: %v, want %v", split, source, got, want)
					}
					for _, q := range kg.OfSource(queries, source) {
						at := fmt.Sprint(want[q.Answer])
						if want[q.Answer] == hop.Unreached {
							at = hop.Key
						}
						byDistance[at]++
					}
				}
			}
			d, err := counts.ReadDistribution(t.Context(), p.Folder)
			if diff := gocmp.Diff(byDistance, d.ByDistance); err != nil || diff != "" || rows != g.Entities || d.Queries != int64(len(queries)) {
				t.Errorf("%s: %d rows, %d queries, error %v, distribution (-want +got):\n%s", split, rows, d.Queries, err, diff)
			}
		}
	}
}

// distances returns the packed rows of a table by their sources.
func distances(t *testing.T, url string) map[int32][]byte {
	t.Helper()
	data, err := storage.ReadFile(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	table, err := ipc.NewFileReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[int32][]byte{}
	for batch := range table.NumRecords() {
		record, err := table.RecordAt(batch)
		if err != nil {
			t.Fatal(err)
		}
		for i, source := range record.Column(0).(*array.Int32).Int32Values() {
			rows[source] = record.Column(1).(*array.FixedSizeBinary).Value(i)
		}
	}
	return rows
}

// queriesOf returns the queries of a split.
func queriesOf(t *testing.T, k *kg.KG, split string) []graph.Query {
	t.Helper()
	queries, err := k.Queries(t.Context(), split)
	if err != nil {
		t.Fatal(err)
	}
	return queries
}

// TestCount compares sums with those that are counted edge by edge, for every removal, in the whole graph and in
// parts of it, and rows with sums. Shards and threads change no sum and no row; a shard that is counted twice
// gives the same part.
func TestCount(t *testing.T) {
	folder, k := stagetest.Graph(t, 40, 1)
	for _, c := range []struct {
		split, remove string
		reach         int
	}{
		{"test", configuration.RemoveNone, 0}, {"valid", configuration.RemoveNone, 9}, {"train", configuration.RemoveNone, 0},
		{"train", configuration.RemoveOneHop, 0}, {"train", configuration.RemoveTriple, 0}, {"train", configuration.RemoveTriple, 2},
		{"train", configuration.RemoveOneHop, 9},
	} {
		sources, err := kg.SourcesOf(t.Context(), folder, c.split)
		if err != nil {
			t.Fatal(err)
		}
		count := func(to string, perShard, threads int) map[string]string {
			p := study.CountParams{
				Params: study.Params{Graph: folder, Split: c.split, Folder: to, Threads: threads},
				Layers: []int{4, 2}, Deltas: []int{0, 1, 6}, Remove: c.remove, Reach: c.reach,
			}
			if err := stagetest.Run(t, func(s beam.Scope) { study.Count(s, beam.CreateList(s, study.Shards(sources, perShard)), p) }); err != nil {
				t.Fatal(err)
			}
			return storagetest.Files(t, to)
		}
		whole, cut := storagetest.Memory(t)+"/whole", storagetest.Memory(t)+"/cut"
		summary, parts := count(whole, len(sources), 1)[counts.SummaryFile], count(cut, 7, 2)
		checkSums(t, k, whole, c.split, c.remove, c.reach)
		if diff := gocmp.Diff(ordered(t, whole), ordered(t, cut)); diff != "" || parts[counts.SummaryFile] != summary {
			t.Errorf("%+v: in shards the summary is %s, want %s, rows (-whole +shards):\n%s", c, parts[counts.SummaryFile], summary, diff)
		}
		if err := storage.WriteFile(t.Context(), parquet.PartFile(cut+"/"+counts.CountsTable, 1, len(parts)-1),
			[]byte("what a killed worker left")); err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(parts, count(cut, 7, 1)); diff != "" {
			t.Errorf("%+v: again (-first +second):\n%s", c, diff)
		}
		if err := storage.RemoveAll(t.Context(), storagetest.Memory(t)); err != nil {
			t.Fatal(err)
		}
	}
}

// ordered returns the rows of counts in an order that shards do not change.
func ordered(t *testing.T, folder string) []parquet.MessageCount {
	t.Helper()
	rows := stagetest.Rows[parquet.MessageCount](t, folder+"/"+counts.CountsTable)
	slices.SortStableFunc(rows, func(a, b parquet.MessageCount) int {
		return cmp.Or(cmp.Compare(a.Layers, b.Layers), cmp.Compare(a.Delta, b.Delta), cmp.Compare(a.Source, b.Source))
	})
	return rows
}

// checkSums compares the summary of a folder, and the sums of its rows, with counting edge by edge.
func checkSums(t *testing.T, k *kg.KG, folder, split, remove string, reach int) {
	t.Helper()
	s, err := counts.ReadSummary(t.Context(), folder)
	queries := queriesOf(t, k, split)
	if err != nil || s.Queries != int64(len(queries)) || s.Edges != k.View(split).Graph.Edges() || s.Remove != remove || s.Reach != reach ||
		len(s.Configurations) != 6 {
		t.Fatalf("%s: summary %+v, error %v", split, s, err)
	}
	sums := map[[2]int]counts.Totals{}
	for _, r := range stagetest.Rows[parquet.MessageCount](t, folder+"/"+counts.CountsTable) {
		if remove != configuration.RemoveNone {
			r.Queries = 1 // the row is a sum over its queries
		}
		sum := sums[[2]int{int(r.Layers), int(r.Delta)}]
		sums[[2]int{int(r.Layers), int(r.Delta)}] = counts.Totals{
			NBFNet: sum.NBFNet + r.Queries*r.Edges, Kept: sum.Kept + r.Queries*r.Kept, KeptEmpty: sum.KeptEmpty + r.Queries*r.KeptEmpty,
			PrunedEmpty: sum.PrunedEmpty + r.Queries*r.PrunedEmpty, PrunedRedundant: sum.PrunedRedundant + r.Queries*r.PrunedRedundant,
		}
	}
	for _, got := range s.Configurations {
		want := counted(k.View(split).Graph, queries, got.Layers, got.Delta, cmp.Or(reach, k.View(split).Graph.Entities), remove)
		if sum := sums[[2]int{got.Layers, got.Delta}]; got.Totals != want || sum != want {
			t.Errorf("%s without %s, a reach of %d, %d layers, delta %d: %+v, rows %+v, want %+v", split, remove, reach, got.Layers, got.Delta, got.Totals, sum,
				want)
		}
	}
}

// counted counts edge by edge, query by query, each in its part of at most reach entities.
func counted(g *graph.Graph, queries []graph.Query, layers, delta, reach int, remove string) (c counts.Totals) {
	for _, q := range queries {
		q.Removal = configuration.Removal(remove)
		distances := within(g, q, layers, reach)
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
func within(g *graph.Graph, q graph.Query, hops, reach int) []int {
	var part parts.Subgraph
	parts.NewFinder(g, reach, hops).Find(q, &part)
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
