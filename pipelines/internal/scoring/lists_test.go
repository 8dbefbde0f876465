//go:build unix

package scoring_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tagnet/model/graph/kg"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/scoring"
)

// TestRelationsWithSpaces asks relations whose names begin or end with a space, alone and beside another.
func TestRelationsWithSpaces(t *testing.T) {
	a := &scoring.Asking{Run: &scoring.Run{View: &kg.View{}, Loaded: &kg.KG{Train: &kg.View{}, Relations: []string{" a", "b", "c, d "}}}}
	for relation, want := range map[string][]int32{" a": {0}, "~ a": {3}, "c, d ": {2}, "b ": {1}, " ~b , b": {1, 4}} {
		got, _, err := a.Relations(t.Context(), relation, "")
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%q: %v (-want +got):\n%s", relation, err, diff)
		}
	}
}

// TestRelationsLeftOut checks which relations a - leaves out, and that all is without the relation of types
// unless that is named.
func TestRelationsLeftOut(t *testing.T) {
	a := &scoring.Asking{Run: &scoring.Run{View: &kg.View{}, Loaded: &kg.KG{Train: &kg.View{}, Relations: []string{"-x", "owns", "rdf:type"}}}}
	for _, c := range []struct {
		relation, unlisted, says string
		want                     []int32
	}{
		{"all", "", "", []int32{0, 1, 2}},
		{"all", "is_a", "", []int32{0, 1, 2}}, // the model does not know it
		{"all", "rdf:type", "facts of rdf:type, the relation of types, are not listed unless --relation names it, as all,rdf:type\n", []int32{0, 1}},
		{"all, rdf:type", "rdf:type", "", []int32{0, 1, 2}},
		{"rdf:type", "rdf:type", "", []int32{2}},
		{"all,-rdf:type", "rdf:type", "", []int32{0, 1}},
		{"-owns, all,~all, -~-x", "", "", []int32{2, 5}},
		{"-x", "", "", []int32{0}}, // a name
		{"all,--x", "", "", []int32{1, 2}},
	} {
		var out strings.Builder
		a.E = &command.Environment{Out: &out}
		got, _, err := a.Relations(t.Context(), c.relation, c.unlisted)
		if diff := cmp.Diff(c.want, got); err != nil || diff != "" || out.String() != c.says {
			t.Errorf("%q without %q: says %q, error %v (-want +got):\n%s", c.relation, c.unlisted, out.String(), err, diff)
		}
	}
	for relation, want := range map[string]string{
		"all,-rdf:typ": `--relation: unknown relation "rdf:typ"; closest: "rdf:type"`,
		"owns,-owns":   "--relation owns,-owns leaves no relation: give some, or all, and with a - those to leave out",
	} {
		if _, _, err := a.Relations(t.Context(), relation, ""); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: error %v", relation, err)
		}
	}
}

// TestNames checks the folders of answers: names that a folder's name holds are kept, and other relations have digits
// of their own.
func TestNames(t *testing.T) {
	long := "/film/film/release_date_s./film/film_regional_"
	relations := []string{"=", "+", "..", "\u0301", "\u200d", "(a)", "Born", "a", "b-c", "born", "c", "inverse-c", "x, y", "/people/person/nationality", "b",
		long + "release", long + "runtime"}
	slices.Sort(relations)
	a := &scoring.Asking{Run: &scoring.Run{Loaded: &kg.KG{Relations: relations}}, AskFlags: &scoring.AskFlags{}}
	for relation, want := range map[string]string{
		"all": "all", "b": "b", "x, y": "x-y", "~b,b": "inverse-b-b", "/people/person/nationality": "people-person-nationality", "..": "5ec1f7e7",
		"~..": "inverse-5f77ca1b", "all, -b": "all-without-b",
	} {
		if got := a.Name("relation", relation, "known"); got != "relation-"+want+"-known" {
			t.Errorf("%q has the name %q, want relation-%s-known", relation, got, want)
		}
	}
	of := map[string]string{}
	for _, value := range append([]string{"all", "~=", "~+", "b,c", "~c", "=,+", "=,..", "~" + long + "release", "~" + long + "runtime", long + "release,b",
		long + "release,c"}, relations...) {
		name := a.Name("", value, "")
		if other, taken := of[strings.ToLower(name)]; taken || name == "" || strings.Trim(name, ".-") != name {
			t.Errorf("%q and %q have the name %q", value, other, name)
		}
		of[strings.ToLower(name)] = value
	}
}

// TestInterruptedPipe checks that an interrupt ends the wait for a pipe without a writer.
func TestInterruptedPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	// Whoever waits for a writer is let go in the end.
	defer os.OpenFile(pipe, os.O_RDWR, 0)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	if _, err := scoring.ReadOnce(ctx, "queries", pipe, func(string, io.Reader) (int, error) { return 0, nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
