package distances

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"sort"
	"strconv"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/storage"
	"tagnet/formats/tables"
	"tagnet/model/kg"
	"tagnet/model/multisource"
	"tagnet/stages/counter"
	"tagnet/stages/graph"
)

// DistributionFile is written beside the tables.
const DistributionFile = "distribution.json"

// sourcesSearched counts sources as they are done.
var sourcesSearched = counter.New("distance", "sources_searched")

// SearchParams says what is searched and where the tables go.
type SearchParams struct {
	// Graph is the URL of the graph/ folder, which workers load.
	Graph string
	// Split is the one whose queries are asked: it decides the graph and the distribution.
	Split string
	// Hops is how far is searched, at most tables.MaxHops.
	Hops int
	// Threads bounds the threads that search in a process, which are as many as it has cores at
	// most; 0 is no other bound.
	Threads int
	// PerThread is the most bytes that a thread's searcher may take; see SweepParams.
	PerThread int64
	// Memory is the budget of a worker process in bytes, for its garbage collector; 0 is none.
	Memory int64
	// Folder is the URL of the folder that takes the tables.
	Folder string
	// Kernel names the variant of the kernels; see kernel.Named. It changes no result.
	Kernel string
}

// Found is a table that is written, and what its sources' queries have to do with it.
type Found struct {
	File string
	// Rows is how many sources the table has.
	Rows int64
	// ByDistance counts the split's queries by the distance from their source to their answer,
	// 0 to Hops, and last those whose answer is unreached.
	ByDistance []int64
}

// Search searches from every source and writes the tables and the distribution. Input: shards
// as Shard.Encode makes them. Output: the URL of distribution.json, the last file written. A
// worker holds the graph and who adjoins whom in it, for each of its threads what SweepMemory
// says (for 512 sources 712 V bytes), and as many packed rows again that wait to be written, V/2
// bytes each.
func Search(s beam.Scope, shards beam.PCollection, p SearchParams) beam.PCollection {
	s = s.Scope("distance.Search")
	found := beam.ParDo(s, &searchFn{Params: p}, beam.Reshuffle(s, shards))
	return beam.ParDo(s, &distributionFn{Params: p}, beam.GroupByKey(s, beam.AddFixedKey(s, found)))
}

func init() {
	beam.RegisterDoFn(&searchFn{})
	beam.RegisterDoFn(&distributionFn{})
	beam.RegisterType(reflect.TypeOf((*Found)(nil)).Elem())
}

type searchFn struct {
	Params SearchParams

	view    *kg.View
	queries []tables.Query // sorted by source
}

// Setup loads the graph, once per process.
func (f *searchFn) Setup(ctx context.Context) error {
	limitMemory(f.Params.Memory)
	loaded, err := graph.Load(f.Params.Graph)
	if err != nil {
		return err
	}
	f.view = loaded.Of(f.Params.Split)
	f.queries, err = loaded.Queries(ctx, f.Params.Split)
	return err
}

// ProcessElement searches from the sources of a shard and writes their table.
func (f *searchFn) ProcessElement(ctx context.Context, element []byte, emit func(Found)) error {
	var shard Shard
	if err := shard.Decode(element); err != nil {
		return err
	}
	found := Found{File: shard.File(), Rows: int64(len(shard.Sources)), ByDistance: make([]int64, f.Params.Hops+2)}
	w, err := tables.CreateDistances(ctx, storage.Join(f.Params.Folder, shard.File()), f.view.Graph.Entities, f.Params.Hops)
	if err != nil {
		return err
	}
	defer w.Abort()
	pack := func(s *Searched) (searched, error) {
		row := searched{packed: bytes.Clone(s.Packed)}
		for _, q := range QueriesOf(f.queries, s.Source) {
			row.answers = append(row.answers, min(tables.PackedAt(s.Packed, q.Answer), uint8(f.Params.Hops+1)))
		}
		return row, nil
	}
	params := SweepParams{
		Graph: f.view.Graph, Sources: shard.Sources, Hops: f.Params.Hops, Kernel: f.Params.Kernel,
		Gather: multisource.Gather{Distances: true}, Threads: f.Params.Threads, PerThread: f.Params.PerThread,
	}
	if f.view.Graph.Edges() <= mostNeighbours {
		params.Neighbours = f.view.Neighbours()
	}
	err = Sweep(ctx, params, pack, func(source int32, row searched) error {
		for _, distance := range row.answers {
			found.ByDistance[distance]++
		}
		sourcesSearched.Inc(ctx, 1)
		return w.WriteRow(tables.DistanceRow{Source: source, Packed: row.packed})
	})
	if err != nil {
		return err
	}
	if err := w.Commit(); err != nil {
		return err
	}
	emit(found)
	return nil
}

// searched is what is kept of a source: its packed row, and how far its queries' answers are.
type searched struct{ packed, answers []uint8 }

// QueriesOf is the run of queries that share a source; queries are sorted by source.
func QueriesOf(queries []tables.Query, source int32) []tables.Query {
	from := sort.Search(len(queries), func(i int) bool { return queries[i].Source >= source })
	to := from
	for to < len(queries) && queries[to].Source == source {
		to++
	}
	return queries[from:to]
}

// Sources are the distinct sources of queries that are sorted by source, in order.
func Sources(queries []tables.Query) []int32 {
	var sources []int32
	for i, q := range queries {
		if i == 0 || queries[i-1].Source != q.Source {
			sources = append(sources, q.Source)
		}
	}
	return sources
}

// Distribution is distribution.json: how far the answers of a split's queries are.
type Distribution struct {
	Split   string `json:"split"`
	Queries int64  `json:"queries"`
	// ByDistance has the number of queries at each distance: "1", "2", ..., "unreached", and
	// "0" where an answer is its own source.
	ByDistance map[string]int64 `json:"by_distance"`
}

type distributionFn struct{ Params SearchParams }

// ProcessElement adds up the shards and writes the distribution.
func (f *distributionFn) ProcessElement(ctx context.Context, _ int, shards func(*Found) bool, emit func(string)) error {
	d := Distribution{Split: f.Params.Split, ByDistance: map[string]int64{}}
	var found Found
	sum := make([]int64, f.Params.Hops+2)
	for shards(&found) {
		if len(found.ByDistance) != len(sum) {
			return fmt.Errorf("%s counts %d distances: want %d", found.File, len(found.ByDistance), len(sum))
		}
		for i, n := range found.ByDistance {
			sum[i] += n
		}
	}
	for i, n := range sum {
		d.Queries += n
		switch {
		case i == f.Params.Hops+1:
			d.ByDistance["unreached"] = n
		case i > 0 || n > 0:
			d.ByDistance[strconv.Itoa(i)] = n
		}
	}
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the distribution: %w", err)
	}
	url := storage.Join(f.Params.Folder, DistributionFile)
	if err := storage.WriteFile(ctx, url, append(text, '\n')); err != nil {
		return err
	}
	emit(url)
	return nil
}

// ReadDistribution reads distribution.json of a distances/SPLIT folder.
func ReadDistribution(ctx context.Context, folder string) (Distribution, error) {
	var d Distribution
	url := storage.Join(folder, DistributionFile)
	text, err := storage.ReadFile(ctx, url)
	if err != nil {
		return d, err
	}
	if err := json.Unmarshal(text, &d); err != nil {
		return d, fmt.Errorf("reading %s: %w", url, err)
	}
	return d, nil
}
