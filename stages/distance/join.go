package distance

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"tagnet/formats/storage"
	"tagnet/formats/tables"
	"tagnet/stages/graph"
)

// JoinParams says what Join needs beside SearchParams, since no worker loads the graph.
type JoinParams struct {
	SearchParams
	// Entities is the number V of entities.
	Entities int
	// Edges are the shards of the graph's edges, in order: shard k has those that lead to the
	// k-th of equal ranges of entities.
	Edges []EdgeShard
	// Files is how many tables are written, PerFile how many sources each has, as Cut says.
	Files, PerFile int
}

// EdgeShard is a file of edges with the hash of its content.
type EdgeShard struct{ URL, SHA256 string }

// sourcesPerBlock bounds what is searched together: a block's rows of one range of entities
// are one element of the join.
const sourcesPerBlock = 64

// Join is Search for a graph that no worker holds: rounds of a join between the pairs of
// source and entity that a hop reaches and the edges that lead on from there. A worker holds
// one shard of edges (8 bytes an edge) and the distances of a block of 64 sources to the
// shard's range of entities; for a table at the end PerFile V bytes. The tables have the same
// bytes as those of Search. Input and output are those of Search.
//
// Each of the Hops + 1 rounds joins, by block and range: (1) the pairs that the last hop
// reached, keyed by where they lead, and (2) the distances found so far; it gives (3) the
// pairs that the new ones reach next, and (4) the distances with the new ones.
func Join(s beam.Scope, shards beam.PCollection, p JoinParams) beam.PCollection {
	s = s.Scope("distance.Join")
	reached, state := beam.ParDo2(s, &seedFn{Params: p}, shards)
	for hop := range p.Hops + 1 {
		r := s.Scope(fmt.Sprintf("round-%02d", hop))
		reached, state = beam.ParDo2(r, &roundFn{Params: p, Hop: hop}, beam.CoGroupByKey(r, reached, state))
	}
	pieces := beam.ParDo(s, &pieceFn{Params: p}, state)
	found := beam.ParDo(s, &assembleFn{Params: p}, beam.GroupByKey(s, pieces))
	return beam.ParDo(s, &distributionFn{Params: p.SearchParams}, beam.GroupByKey(s, beam.AddFixedKey(s, found)))
}

func init() {
	register.DoFn3x1[[]byte, func(int, []byte), func(int, []byte), error](&seedFn{})
	register.DoFn6x1[context.Context, int, func(*[]byte) bool, func(*[]byte) bool, func(int, []byte), func(int, []byte), error](&roundFn{})
	register.DoFn3x0[int, []byte, func(int, Piece)](&pieceFn{})
	register.DoFn4x1[context.Context, int, func(*Piece) bool, func(Found), error](&assembleFn{})
	register.Emitter2[int, []byte]()
	register.Emitter2[int, Piece]()
	register.Iter1[[]byte]()
	register.Iter1[Piece]()
	beam.RegisterType(reflect.TypeOf((*Piece)(nil)).Elem())
}

// Range is the entities from..to-1 of shard k of the edges.
func (p JoinParams) Range(k int) (from, to int32) {
	v, n := int64(p.Entities), int64(len(p.Edges))
	first := func(k int64) int32 { return int32((k*v + n - 1) / n) }
	return first(int64(k)), first(int64(k) + 1)
}

// shardOf is the shard of the edges that lead to an entity.
func (p JoinParams) shardOf(entity int32) int {
	return int(int64(entity) * int64(len(p.Edges)) / int64(p.Entities))
}

// blocksPerFile is how many blocks share a table.
func (p JoinParams) blocksPerFile() int { return (p.PerFile + sourcesPerBlock - 1) / sourcesPerBlock }

// key is that of a block and a range; block and range of a key are its quotient and remainder.
func (p JoinParams) key(block, shard int) int { return block*len(p.Edges) + shard }

// pairs are entities with the source they are reached from.
type pairs struct{ sources, entities []int32 }

func (p *pairs) add(source, entity int32) {
	p.sources, p.entities = append(p.sources, source), append(p.entities, entity)
}

var pairsSchema = arrow.NewSchema([]arrow.Field{
	{Name: "source", Type: arrow.PrimitiveTypes.Int32}, {Name: "entity", Type: arrow.PrimitiveTypes.Int32},
}, nil)

func (p *pairs) encode() ([]byte, error) {
	b := array.NewRecordBuilder(memory.DefaultAllocator, pairsSchema)
	defer b.Release()
	b.Field(0).(*array.Int32Builder).AppendValues(p.sources, nil)
	b.Field(1).(*array.Int32Builder).AppendValues(p.entities, nil)
	record := b.NewRecord()
	defer record.Release()
	return tables.EncodeBatch(record)
}

func decodePairs(element []byte) (pairs, error) {
	record, err := tables.DecodeBatch(element)
	if err != nil {
		return pairs{}, fmt.Errorf("decoding pairs: %w", err)
	}
	if !record.Schema().Equal(pairsSchema) {
		return pairs{}, fmt.Errorf("decoding pairs: %s", record.Schema())
	}
	return pairs{record.Column(0).(*array.Int32).Int32Values(), record.Column(1).(*array.Int32).Int32Values()}, nil
}

// seedFn starts every search at its source.
type seedFn struct{ Params JoinParams }

// ProcessElement seeds the blocks of a shard of sources. The second output stays empty: before
// the first round nothing is found.
func (f *seedFn) ProcessElement(element []byte, emit, _ func(int, []byte)) error {
	var shard Shard
	if err := shard.Decode(element); err != nil {
		return err
	}
	for from := 0; from < len(shard.Sources); from += sourcesPerBlock {
		block := shard.Number*f.Params.blocksPerFile() + from/sourcesPerBlock
		seeds := make([]pairs, len(f.Params.Edges))
		for _, source := range shard.Sources[from:min(from+sourcesPerBlock, len(shard.Sources))] {
			seeds[f.Params.shardOf(source)].add(source, source)
		}
		if err := f.Params.emit(block, seeds, emit); err != nil {
			return err
		}
	}
	return nil
}

// emit sends the pairs of each range to where they are joined.
func (p JoinParams) emit(block int, byShard []pairs, emit func(int, []byte)) error {
	for shard := range byShard {
		if len(byShard[shard].sources) == 0 {
			continue
		}
		element, err := byShard[shard].encode()
		if err != nil {
			return err
		}
		emit(p.key(block, shard), element)
	}
	return nil
}

// roundFn is one round of the join, for one block of sources and one range of entities.
type roundFn struct {
	Params JoinParams
	Hop    int
}

// ProcessElement notes what is reached for the first time, and where that leads.
func (f *roundFn) ProcessElement(ctx context.Context, key int, reached, states func(*[]byte) bool, emit, emitState func(int, []byte)) error {
	shard := key % len(f.Params.Edges)
	from, to := f.Params.Range(shard)
	found, err := f.state(states, int(to-from))
	if err != nil {
		return err
	}
	var fresh pairs
	var element []byte
	for reached(&element) {
		p, err := decodePairs(element)
		if err != nil {
			return err
		}
		for i, source := range p.sources {
			row := found[source]
			if row == nil {
				row = slices.Repeat([]uint8{tables.Unreached}, int(to-from))
				found[source] = row
			}
			if at := p.entities[i] - from; row[at] == tables.Unreached {
				row[at] = uint8(f.Hop)
				fresh.add(source, p.entities[i])
			}
		}
	}
	if f.Hop < f.Params.Hops && len(fresh.sources) > 0 {
		if err := f.lead(ctx, key, fresh, emit); err != nil {
			return err
		}
	}
	rows := make([]tables.DistanceRow, 0, len(found))
	for _, source := range sortedKeys(found) {
		rows = append(rows, tables.DistanceRow{Source: source, Packed: tables.Pack(found[source])})
	}
	out, err := tables.EncodeDistances(int(to-from), rows)
	if err != nil {
		return err
	}
	emitState(key, out)
	return nil
}

// state reads the distances found before this round.
func (f *roundFn) state(states func(*[]byte) bool, entities int) (map[int32][]uint8, error) {
	found := map[int32][]uint8{}
	var element []byte
	for states(&element) {
		rows, err := tables.DecodeDistances(element, entities)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			found[row.Source] = make([]uint8, entities)
			tables.Unpack(row.Packed, found[row.Source])
		}
	}
	return found, nil
}

// lead emits the pairs that fresh ones lead to, each once.
func (f *roundFn) lead(ctx context.Context, key int, fresh pairs, emit func(int, []byte)) error {
	shard := key % len(f.Params.Edges)
	edges, err := loadEdges(ctx, f.Params, shard)
	if err != nil {
		return err
	}
	from, _ := f.Params.Range(shard)
	next := make([]pairs, len(f.Params.Edges))
	seen := map[int64]struct{}{}
	for i, source := range fresh.sources {
		for _, o := range edges.neighbours(fresh.entities[i] - from) {
			pair := int64(source)<<32 | int64(o)
			if _, known := seen[pair]; !known {
				seen[pair] = struct{}{}
				next[f.Params.shardOf(o)].add(source, o)
			}
		}
	}
	return f.Params.emit(key/len(f.Params.Edges), next, emit)
}

func sortedKeys[V any](m map[int32]V) []int32 {
	keys := make([]int32, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// Piece is the distances of a block of sources to one range of entities.
type Piece struct {
	// Shard numbers the range, Rows is a batch as tables.EncodeDistances makes it.
	Shard int
	Rows  []byte
}

// pieceFn sends what was found to the table that it belongs in.
type pieceFn struct{ Params JoinParams }

// ProcessElement keys a piece by its table.
func (f *pieceFn) ProcessElement(key int, rows []byte, emit func(int, Piece)) {
	emit(key/len(f.Params.Edges)/f.Params.blocksPerFile(), Piece{Shard: key % len(f.Params.Edges), Rows: rows})
}

// assembleFn joins the ranges of a table's rows and writes it.
type assembleFn struct {
	Params JoinParams

	queries []tables.Query
}

// ProcessElement writes one table.
func (f *assembleFn) ProcessElement(ctx context.Context, number int, pieces func(*Piece) bool, emit func(Found)) error {
	whole := map[int32][]uint8{}
	var piece Piece
	for pieces(&piece) {
		from, to := f.Params.Range(piece.Shard)
		rows, err := tables.DecodeDistances(piece.Rows, int(to-from))
		if err != nil {
			return err
		}
		for _, row := range rows {
			if whole[row.Source] == nil {
				whole[row.Source] = slices.Repeat([]uint8{tables.Unreached}, f.Params.Entities)
			}
			tables.Unpack(row.Packed, whole[row.Source][from:to])
		}
	}
	if f.queries == nil {
		var err error
		if f.queries, err = tables.ReadQueryTable(ctx, storage.Join(f.Params.Graph, graph.QueriesFile(f.Params.Split))); err != nil {
			return err
		}
	}
	shard := Shard{Number: number, Of: f.Params.Files}
	found := Found{File: shard.File(), Rows: int64(len(whole)), ByDistance: make([]int64, f.Params.Hops+2)}
	w, err := tables.CreateDistances(ctx, storage.Join(f.Params.Folder, shard.File()), f.Params.Entities, f.Params.Hops)
	if err != nil {
		return err
	}
	defer w.Abort()
	for _, source := range sortedKeys(whole) {
		for _, q := range QueriesOf(f.queries, source) {
			found.ByDistance[min(int(whole[source][q.Answer]), f.Params.Hops+1)]++
		}
		if err := w.Write(source, whole[source]); err != nil {
			return err
		}
		sourcesSearched.Inc(ctx, 1)
	}
	if err := w.Commit(); err != nil {
		return err
	}
	emit(found)
	return nil
}
