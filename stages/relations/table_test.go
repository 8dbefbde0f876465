package relations

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"tagnet/formats/workspace/tables"
	"tagnet/model/engine/relations"
)

// edgesOf returns the edges of the relation graph in which 0 and 1 of two base relations leave one entity, and both enter another.
func edgesOf(t *testing.T) (edges []tables.RelationEdge) {
	t.Helper()
	m := relations.NewMeetings(2)
	for _, leaving := range [][]int32{{0, 1}, {2, 3}} {
		if err := m.Add(leaving); err != nil {
			t.Fatal(err)
		}
	}
	for e := range m.Graph().All {
		edges = append(edges, tables.RelationEdge(e))
	}
	return edges
}

func write(ctx context.Context, url string, relations int, edges []tables.RelationEdge) error {
	w, err := tables.CreateRelationGraph(ctx, url, relations)
	if err != nil {
		return err
	}
	defer w.Abort()
	for _, e := range edges {
		if err := w.Write(e); err != nil {
			return err
		}
	}
	return w.Commit()
}

// TestReadNamesFileAndRow reads tables that are in order, and whose checksums are right, but that are of no relation graph.
func TestReadNamesFileAndRow(t *testing.T) {
	t.Parallel()
	edges := edgesOf(t)
	if len(edges) != 4*8 {
		t.Fatalf("%d edges", len(edges))
	}
	without := func(i int) []tables.RelationEdge { return slices.Delete(slices.Clone(edges), i, i+1) }
	for _, c := range []struct {
		what      string
		relations int
		edges     []tables.RelationEdge
		says      string
	}{
		{"whole", 4, edges, ""},
		{"a hh edge is missing", 4, without(1), "row 1: there is a hh edge from relation 0 to 1, but none from 1 to 0"},
		{"a th edge is missing", 4, without(30), "row 30: the th edge from relation 1 to 3 is not the th edge from relation 0 to 3"},
		{"the last edge is missing", 4, without(31), "row 31: the th edge from relation 1 to 3 is missing"},
		{"a tt edge is another", 4, slices.Replace(slices.Clone(edges), 15, 16, tables.RelationEdge{Type: 2, Receiver: 0, Sender: 1}), "row 15: "},
		{"other relations", 6, edges, "it is about 6 relations, the graph has 4"},
		{"nothing", 4, nil, ""}, // of a graph without facts
	} {
		url := "mem://" + t.Name() + "/" + strings.ReplaceAll(c.what, " ", "-")
		if err := write(t.Context(), url, c.relations, c.edges); err != nil {
			t.Fatal(err)
		}
		g, err := Read(t.Context(), url, 2)
		switch {
		case c.says == "" && (err != nil || g.Edges() != int64(len(c.edges))):
			t.Errorf("%s: error %v", c.what, err)
		case c.says != "" && (err == nil || !strings.Contains(err.Error(), url) || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%s: error %v, want one that names the file and says %q", c.what, err, c.says)
		}
	}
	if _, err := Read(t.Context(), "mem://"+t.Name()+"/absent", 2); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent: error %v", err)
	}
}
