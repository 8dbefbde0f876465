package distances

import (
	"fmt"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/tables"
)

// Shard is the sources of one table, in increasing order. It is an element of pipelines.
type Shard struct {
	// Number counts from 0 to Of-1.
	Number, Of int
	// Sources are entity ids.
	Sources []int32
}

func init() { beam.RegisterType(reflect.TypeOf((*Shard)(nil)).Elem()) }

// The size of a shard. maxShardBytes limits the packed rows of a table, so that many workers share
// the work. minSourcesPerShard is what a thread searches at once: with fewer, each shard of a large
// graph would read all of its edges for a few sources.
const (
	maxShardBytes      = 64 << 20
	minSourcesPerShard = 512
)

// SourcesPerShard returns how many sources each shard has, except the last.
func SourcesPerShard(entities int) int {
	return max(minSourcesPerShard, maxShardBytes/max(1, tables.PackedLen(entities)))
}

// Shards splits sources, in increasing order, into shards. Their number depends on the numbers of
// entities and sources only, so that the same graph gives the same files anywhere.
func Shards(sources []int32, entities int) []Shard {
	size := SourcesPerShard(entities)
	of := (len(sources) + size - 1) / size
	shards := make([]Shard, of)
	for i := range shards {
		shards[i] = Shard{Number: i, Of: of, Sources: sources[i*size : min((i+1)*size, len(sources))]}
	}
	return shards
}

// File returns the name of the shard's table.
func (s Shard) File() string { return fmt.Sprintf("distances-%05d-of-%05d.arrow", s.Number, s.Of) }
