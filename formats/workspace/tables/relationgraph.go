package tables

import (
	"context"
	"fmt"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

const (
	relationGraphName = "relationgraph"
	relationsKey      = "tagnet.relations"
	// RelationEdgeTypes is the number of types of edges between relations.
	RelationEdgeTypes = 4
)

// RelationEdge is an edge of a relation graph, from the relation Sender to Receiver. Type is 0 (hh), 1 (tt), 2 (ht) or 3 (th):
// heads or tails of the receiver, then of the sender, that they share.
type RelationEdge struct {
	Type             uint8
	Receiver, Sender int32
}

func relationGraphSchema(relations int) *arrow.Schema {
	return newSchema(relationGraphName, []arrow.Field{
		{Name: "type", Type: arrow.PrimitiveTypes.Uint8}, int32Field("receiver"), int32Field("sender"),
	}, relationsKey, strconv.Itoa(relations))
}

// relationEdgeOrder checks what readers of a relation graph rely on: ids in range, and edges sorted by type, receiver and sender
// without repetitions.
type relationEdgeOrder struct {
	relations int
	rows      keyOrder
}

// next checks that an edge is between relations of the graph and follows the one before.
func (o *relationEdgeOrder) next(e RelationEdge) error {
	n := int32(o.relations)
	if e.Type >= RelationEdgeTypes || e.Receiver < 0 || e.Receiver >= n || e.Sender < 0 || e.Sender >= n {
		return fmt.Errorf("row %d (type %d, receiver %d, sender %d) is not an edge between %d relations", o.rows.count, e.Type, e.Receiver, e.Sender, n)
	}
	if at := o.rows.count; o.rows.next([3]int32{int32(e.Type), e.Receiver, e.Sender}) <= 0 {
		return fmt.Errorf("row %d (type %d, receiver %d, sender %d) is out of order or a repetition", at, e.Type, e.Receiver, e.Sender)
	}
	return nil
}

// RelationGraphWriter writes the edges of a relation graph in their order.
type RelationGraphWriter struct {
	*tableWriter
	types              []uint8 // of the pending batch, as the receivers and senders
	receivers, senders []int32
	order              relationEdgeOrder
}

// CreateRelationGraph begins a file of edges between relations; relations is their number with inverse ones.
func CreateRelationGraph(ctx context.Context, url string, relations int) (*RelationGraphWriter, error) {
	if relations < 0 || relations%2 != 0 {
		return nil, fmt.Errorf("writing %s: %d relations do not all have an inverse", url, relations)
	}
	w := &RelationGraphWriter{order: relationEdgeOrder{relations: relations}}
	var err error
	w.tableWriter, err = createTable(ctx, url, relationGraphSchema(relations), func() []arrow.Array {
		columns := []arrow.Array{uint8s(w.types), int32s(w.receivers), int32s(w.senders)}
		w.types, w.receivers, w.senders = w.types[:0], w.receivers[:0], w.senders[:0] // Arrow has encoded them before the next one is added
		return columns
	})
	return w, err
}

// Write appends an edge. Edges out of order are an error.
func (w *RelationGraphWriter) Write(e RelationEdge) error {
	if err := w.order.next(e); err != nil {
		return w.refuse("%v", err)
	}
	w.types, w.receivers, w.senders = append(w.types, e.Type), append(w.receivers, e.Receiver), append(w.senders, e.Sender)
	return w.count(0)
}

// EachRelationEdge calls each for every edge of a relation graph, in order, and verifies ids and order. It calls start first, with the
// number of relations.
func EachRelationEdge(ctx context.Context, url string, start func(relations int) error, each func(e RelationEdge) error) error {
	var order relationEdgeOrder
	check := func(schema *arrow.Schema) (err error) {
		if order.relations, err = relationCount(schema); err != nil {
			return err
		}
		if err := sameTable(schema, relationGraphSchema(order.relations)); err != nil {
			return err
		}
		return start(order.relations)
	}
	return eachBatch(ctx, url, check, nil, func(rows arrow.Record) error {
		types, receivers, senders := rows.Column(0).(*array.Uint8).Uint8Values(), int32Values(rows, 1), int32Values(rows, 2)
		for i, kind := range types {
			e := RelationEdge{kind, receivers[i], senders[i]}
			if err := order.next(e); err != nil {
				return err
			}
			if err := each(e); err != nil {
				return err
			}
		}
		return nil
	})
}

// relationCount returns the number of relations in the metadata.
func relationCount(schema *arrow.Schema) (int, error) {
	metadata := schema.Metadata()
	if name, _ := metadata.GetValue(schemaKey); name != relationGraphName {
		return 0, fmt.Errorf("it holds a table of %q, not of %q", name, relationGraphName)
	}
	text, _ := metadata.GetValue(relationsKey)
	relations, err := strconv.ParseInt(text, 10, 32)
	if err != nil || relations < 0 || relations%2 != 0 {
		return 0, damaged("it is about %q relations", text)
	}
	return int(relations), nil
}

// uint8s returns a slice as a column without copying it.
func uint8s(values []uint8) arrow.Array {
	buffers := []*memory.Buffer{nil, memory.NewBufferBytes(values)}
	return array.NewUint8Data(array.NewData(arrow.PrimitiveTypes.Uint8, len(values), buffers, nil, 0, 0))
}
