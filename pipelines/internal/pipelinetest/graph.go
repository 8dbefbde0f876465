package pipelinetest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update_golden", false, "rewrite the golden files of testdata")

// Update reports whether -update_golden asks to rewrite expected files.
func Update() bool { return *update }

// Golden compares a text with the golden file testdata/NAME.txt. With -update_golden it writes the file.
func Golden(t testing.TB, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".txt")
	if *update {
		Write(t, path, got)
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v: go test -run %s -update_golden writes it", err, t.Name())
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-want +got), go test -run %s -update_golden rewrites it:\n%s", path, t.Name(), diff)
	}
}

// Graph describes the Beam graph of a pipeline: a line per transform, indented below its composite
// transforms, with the collections it reads and writes and their element types. A collection is
// numbered by the order of the transforms, ! marks the barriers (transforms that regroup all elements
// before the next one starts), and (side) an input that is a side input. It also checks that all can be encoded.
func Graph(t testing.TB, p *beam.Pipeline) string {
	t.Helper()
	edges, _, err := p.Build()
	if err != nil {
		t.Fatal(err)
	}
	checkEncoding(t, edges)
	var text strings.Builder
	var above []string
	numbers := map[int]int{}
	// Collections are numbered as they occur.
	number := func(n *graph.Node) string {
		if _, ok := numbers[n.ID()]; !ok {
			numbers[n.ID()] = len(numbers) + 1
		}
		return fmt.Sprint(numbers[n.ID()])
	}
	for _, edge := range edges {
		// A scope is printed once, above its transforms.
		scopes := composites(edge.Scope())
		shared := 0
		for shared < min(len(above), len(scopes)) && above[shared] == scopes[shared] {
			shared++
		}
		for depth := shared; depth < len(scopes); depth++ {
			fmt.Fprintf(&text, "%s%s\n", strings.Repeat("  ", depth), scopes[depth])
		}
		above = scopes
		var inputs, outputs []string
		for _, in := range edge.Input {
			input := number(in.From)
			if in.Kind != graph.Main {
				input += " (side)"
			}
			inputs = append(inputs, input)
		}
		for _, out := range edge.Output {
			outputs = append(outputs, fmt.Sprintf("%s %v", number(out.To), out.To.Type()))
		}
		fmt.Fprintf(&text, "%s%s: %s -> %s\n", strings.Repeat("  ", len(scopes)), transform(edge), strings.Join(inputs, ", "), strings.Join(outputs, ", "))
	}
	return text.String()
}

// composites returns the labels of a scope and of those above it, from the outermost but the root.
func composites(s *graph.Scope) []string {
	if s == nil || s.Parent == nil {
		return nil
	}
	return append(composites(s.Parent), s.Label)
}

// transform names a transform by its kind and its function.
func transform(edge *graph.MultiEdge) string {
	kind := string(edge.Op)
	switch edge.Op {
	case graph.CoGBK, graph.Reshuffle, graph.Combine:
		kind = "! " + kind
	}
	if name := edge.Name(); name != string(edge.Op) {
		kind += " " + name[strings.LastIndex(name, "/")+1:]
	}
	return kind
}
