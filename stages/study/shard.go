package study

import (
	"fmt"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/workspace/tables"
)

// Shard is the sources of one table, in increasing order. It is an element of pipelines.
type Shard struct {
	// Number counts from 0 to Of-1.
	Number, Of int
	// Sources are entity ids.
	Sources []int32
}

func init() { beam.RegisterType(reflect.TypeOf((*Shard)(nil)).Elem()) }

// The size of a shard.
const (
	// shardWork is the work of a shard: a source visits each entity and each edge. A shard takes some
	// tenths of a second.
	shardWork = 1 << 27
	// minSourcesPerShard is what a thread searches from at once: with fewer, each shard of a large graph would read all
	// of its edges for a few sources.
	minSourcesPerShard = 512
	// maxShardBytes limits the packed rows of a table.
	maxShardBytes = 64 << 20
)

// SourcesPerShard returns how many sources each shard has, except the last, in a graph with entities and edges. It
// depends on nothing else, so that the same graph gives the same files anywhere.
func SourcesPerShard(entities int, edges int64) int {
	most := max(1, min(shardWork/(int64(entities)+edges+1), maxShardBytes/int64(tables.PackedLen(max(1, entities)))))
	return max(minSourcesPerShard, int(most))
}

// Shards splits sources, in increasing order, into shards of size sources; the last may have fewer.
func Shards(sources []int32, size int) []Shard {
	count := (len(sources) + size - 1) / size
	shards := make([]Shard, count)
	for i := range shards {
		shards[i] = Shard{Number: i, Of: count, Sources: sources[i*size : min((i+1)*size, len(sources))]}
	}
	return shards
}

// File returns the name of the shard's table.
func (s Shard) File() string { return fmt.Sprintf("distances-%05d-of-%05d.arrow", s.Number, s.Of) }
