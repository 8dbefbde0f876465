package relations

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/storage"
	"tagnet/formats/workspace/manifest"
	"tagnet/formats/workspace/tables"
	"tagnet/model/graph/kg"
	"tagnet/stages/worker"
)

// EdgesCounter is the name of the counter of edges that are done.
const EdgesCounter = "edges_related"

var edgesRelated = worker.NewCounter("relationgraph", EdgesCounter)

// Shard is a file of edges, which has all edges that enter an entity or none of them. It is an element of pipelines.
type Shard struct {
	// Number counts from 0.
	Number int
	URL    string
}

func init() { beam.RegisterType(reflect.TypeFor[Shard]()) }

// Shards returns the shards of the graph that a split's queries are about. folder is graph/, m its manifest.
func Shards(folder string, m manifest.Manifest, split string) []Shard {
	var shards []Shard
	for i, f := range kg.EdgeFiles(m, split) {
		shards = append(shards, Shard{Number: i, URL: storage.Join(folder, f.Name)})
	}
	return shards
}

// eachEntity calls each with the relations that leave an entity, ascending, for every entity of the shard that has edges.
func (s Shard) eachEntity(ctx context.Context, baseRelations int, each func(leaving []int32) error) error {
	base, entity := int32(baseRelations), int32(-1)
	var leaving []int32
	seen := make([]bool, 2*baseRelations)
	// end passes the relations of one entity on and resets seen for the next.
	end := func() error {
		if len(leaving) == 0 {
			return nil
		}
		slices.Sort(leaving)
		for _, r := range leaving {
			seen[r] = false
		}
		defer func() { leaving = leaving[:0] }()
		return each(leaving)
	}
	// Edges are in the order of the entities that they enter.
	err := tables.EachEdges(ctx, s.URL, func(e tables.Edges) error {
		for i, r := range e.Relations {
			if e.Tails[i] != entity {
				if err := end(); err != nil {
					return err
				}
				entity = e.Tails[i]
			}
			if r >= 2*base {
				return fmt.Errorf("an edge to entity %d has relation %d of %d", entity, r, 2*base)
			}
			if r < base {
				r += base // the inverse of an edge that enters leaves
			} else {
				r -= base
			}
			if !seen[r] {
				seen[r] = true
				leaving = append(leaving, r)
			}
		}
		edgesRelated.Inc(ctx, int64(e.Len()))
		return nil
	})
	if err != nil {
		return err
	}
	return end()
}
