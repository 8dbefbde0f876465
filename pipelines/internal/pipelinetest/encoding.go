package pipelinetest

import (
	"context"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/coder"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/graphx"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/typex"
)

// checkEncoding checks that a cluster gets the transforms and elements of a pipeline as they are: the runner of the
// tests, in this process, encodes neither. What is decoded has the functions and types of before, and no value has a
// field that the encoding leaves out.
func checkEncoding(t testing.TB, edges []*graph.MultiEdge) {
	t.Helper()
	environment, err := graphx.CreateEnvironment(t.Context(), "beam:env:docker:v1", func(context.Context) string { return "image" })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := graphx.Marshal(edges, &graphx.Options{Environment: environment}); err != nil {
		t.Errorf("the pipeline cannot be encoded: %v", err)
	}
	for _, edge := range edges {
		if edge.DoFn != nil {
			checkReceiver(t, edge.Name(), edge.DoFn.Recv)
		}
		if edge.CombineFn != nil {
			checkReceiver(t, edge.Name(), edge.CombineFn.Recv)
		}
		for _, out := range edge.Output {
			checkElement(t, edge.Name(), out.To.Type())
		}
		checkDecoded(t, edge)
	}
}

// checkDecoded compares a transform that is encoded and decoded again with the original.
func checkDecoded(t testing.TB, edge *graph.MultiEdge) {
	t.Helper()
	encoded, err := graphx.EncodeMultiEdge(edge)
	if err != nil {
		t.Errorf("%s cannot be encoded: %v", edge.Name(), err)
		return
	}
	_, fn, _, inputs, outputs, err := graphx.DecodeMultiEdge(encoded)
	if err != nil {
		t.Errorf("%s cannot be decoded: %v", edge.Name(), err)
		return
	}
	for i, in := range inputs {
		if !typex.IsEqual(in.Type, edge.Input[i].Type) {
			t.Errorf("%s: an input of type %v is decoded as %v", edge.Name(), edge.Input[i].Type, in.Type)
		}
	}
	for i, out := range outputs {
		if !typex.IsEqual(out.Type, edge.Output[i].Type) {
			t.Errorf("%s: an output of type %v is decoded as %v", edge.Name(), edge.Output[i].Type, out.Type)
		}
	}
	if edge.DoFn == nil || edge.DoFn.Recv == nil {
		return
	}
	if got, want := fmt.Sprintf("%+v", fn.Recv), fmt.Sprintf("%+v", edge.DoFn.Recv); got != want {
		t.Errorf("%s is decoded as %s, want %s", edge.Name(), got, want)
	}
}

// checkReceiver checks the fields of a DoFn or CombineFn. Those that are not exported are its own, of one process.
func checkReceiver(t testing.TB, name string, receiver any) {
	t.Helper()
	if receiver == nil {
		return
	}
	of := reflect.TypeOf(receiver)
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	for i := range of.NumField() {
		if f := of.Field(i); f.IsExported() {
			checkFields(t, name+"."+f.Name, f.Type, map[reflect.Type]bool{})
		}
	}
}

// checkElement checks the fields of an element, unless its type has a coder of its own.
func checkElement(t testing.TB, name string, of typex.FullType) {
	t.Helper()
	for _, component := range of.Components() {
		checkElement(t, name, component)
	}
	if coder.LookupCustomCoder(of.Type()) == nil {
		checkFields(t, name, of.Type(), map[reflect.Type]bool{})
	}
}

// encodesItself are the types of values that have an encoding of their own.
var encodesItself = []reflect.Type{reflect.TypeFor[json.Marshaler](), reflect.TypeFor[encoding.TextMarshaler]()}

// checkFields reports fields of structs that are not exported, which encodings leave out.
func checkFields(t testing.TB, name string, of reflect.Type, seen map[reflect.Type]bool) {
	t.Helper()
	if seen[of] {
		return
	}
	seen[of] = true
	for _, itself := range encodesItself {
		if of.Implements(itself) || reflect.PointerTo(of).Implements(itself) {
			return
		}
	}
	switch of.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		checkFields(t, name, of.Elem(), seen)
	case reflect.Struct:
		for i := range of.NumField() {
			f := of.Field(i)
			if !f.IsExported() {
				t.Errorf("%s: %v has a field %s that is not exported, and so not encoded", name, of, f.Name)
			}
			checkFields(t, name+"."+f.Name, f.Type, seen)
		}
	}
}
