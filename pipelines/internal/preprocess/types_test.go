package preprocess

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/model/graph/kg"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/stages/encode"
)

// typesOf returns the entities of each type of a split's graph by name.
func typesOf(t *testing.T, l *kg.KG, split string) map[string][]string {
	t.Helper()
	view, found := l.View(split), map[string][]string{}
	list, err := view.Types(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range list {
		entities, err := view.OfType(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range entities {
			found[name] = append(found[name], view.Entities[id])
		}
	}
	return found
}

// TestTypes reads types from a file and from a relation. A fact of the test split gives no type: it is to be predicted.
func TestTypes(t *testing.T) {
	files := small()
	files["train.txt"] += "anna\tis_a\tpoet\nbert\tis_a\tperson\n"
	files["test.txt"] += "cora\tis_a\tpoet\n"
	folder, w := pipelinetest.Dataset(t, files), t.TempDir()
	list := filepath.Join(folder, "kinds.tsv")
	pipelinetest.Write(t, list, "cora\tperson\ncora\tperson\nanna\tcity\nnobody\tcity\ndora\tnews\nanna\tperson\n")
	inference := pipelinetest.Dataset(t, map[string]string{"train.txt": "x\tis_a\trobot\nanna\tparent\tx\n", "test.txt": "x\tparent\tanna\n"})
	for _, c := range []struct {
		name        string
		flags       []string
		train, test map[string][]string
		says        string
		unknown     string // the lines about entities that a graph does not have
	}{
		{"file", []string{"--types", list}, map[string][]string{"city": {"anna"}, "news": {"dora"}, "person": {"anna", "cora"}}, nil,
			"entities with a type                   3", "  --types: the graph does not have the entities of 1 of 6 lines (16.7%), such as \"nobody\"\n"},
		{"relation", []string{"--type_relation", "is_a"}, map[string][]string{"person": {"bert"}, "poet": {"anna"}}, nil,
			"types                                  2", ""},
		{"both, inductive", []string{"--types", list, "--type_relation", "is_a", "--inference", inference},
			map[string][]string{"city": {"anna"}, "news": {"dora"}, "person": {"anna", "bert", "cora"}, "poet": {"anna"}},
			map[string][]string{"city": {"anna"}, "person": {"anna"}, "robot": {"x"}}, "entities with a type                   4                 2",
			"  --types: the training graph does not have the entities of 1 of 6 lines (16.7%), such as \"nobody\"\n  --types: the inference graph does not " +
				"have the entities of 4 of 6 lines (66.7%), such as \"cora\", \"nobody\", \"dora\"\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.test == nil {
				c.test = c.train
			}
			out := pipelinetest.Succeed(t, Pipeline(), append(c.flags, "--dataset", folder, "--workspace", w, "--force")...)
			if !strings.Contains(out, c.says) {
				t.Errorf("%s: want %q", out, c.says)
			}
			if !strings.Contains(out, c.unknown) || c.unknown == "" && strings.Contains(out, "does not have the entities") {
				t.Errorf("%s: want %q", out, c.unknown)
			}
			l, err := encode.Load(t.Context(), filepath.Join(w, "graph"))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.train, typesOf(t, l, "train")); diff != "" {
				t.Errorf("training graph (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.test, typesOf(t, l, "test")); diff != "" {
				t.Errorf("graph of test (-want +got):\n%s", diff)
			}
			_, err = l.Train.OfType(t.Context(), "persn")
			unknown := new(kg.UnknownNameError)
			if !errors.As(err, &unknown) || unknown.Kind != "type" || unknown.Closest[0] != "person" {
				t.Errorf("an unknown type: %v", err)
			}
			if again := pipelinetest.Succeed(t, Pipeline(), append(c.flags, "--dataset", folder, "--workspace", w)...); !strings.Contains(again,
				"is complete") {
				t.Errorf("a second run: %s", again)
			}
		})
	}
	pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: command.ExitFailure, Says: []string{"type_relation"}}, "--dataset", folder, "--workspace", w)
}

func TestNoTypes(t *testing.T) {
	w := t.TempDir()
	pipelinetest.Succeed(t, Pipeline(), "--dataset", pipelinetest.Dataset(t, small()), "--workspace", w)
	l, err := encode.Load(t.Context(), filepath.Join(w, "graph"))
	if err != nil {
		t.Fatal(err)
	}
	if list, err := l.Train.Types(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("types %v, %v", list, err)
	}
	if _, err := l.Train.OfType(t.Context(), "person"); !errors.Is(err, kg.ErrNoTypes) {
		t.Errorf("error %v", err)
	}
}

func TestBadTypes(t *testing.T) {
	folder := pipelinetest.Dataset(t, small())
	bad := filepath.Join(folder, "bad.tsv")
	pipelinetest.Write(t, bad, "anna\tperson\nbert person\n")
	other := filepath.Join(folder, "other.tsv")
	pipelinetest.Write(t, other, "nobody\tperson\n")
	headed := filepath.Join(folder, "headed.tsv")
	pipelinetest.Write(t, headed, "name\tid\ttype\nanna\tx1\tperson\n")
	for name, c := range map[string]struct {
		flags []string
		want  pipelinetest.Failure
	}{
		"bad line": {[]string{"--types", bad},
			pipelinetest.Failure{Code: command.ExitFailure,
				Begin: bad + ":2: 1 field instead of 2; give every line two fields, or skip such lines with --on_bad_line reject"}},
		"no file": {[]string{"--types", bad + "x"}, pipelinetest.Failure{Code: command.ExitFailure, Begin: "--types: "}},
		"a pipe":  {[]string{"--types", pipe(t)}, pipelinetest.Failure{Code: command.ExitFailure, Begin: "--types: ", Says: []string{"is a pipe"}}},
		"no entity of it": {[]string{"--types", other}, pipelinetest.Failure{Code: command.ExitFailure,
			Begin: other + ": none of its entities is in the graph; its first column has to"}},
		"no entity of its column": {[]string{"--types", headed}, pipelinetest.Failure{Code: command.ExitFailure,
			Begin: headed + `: none of its entities is in the graph; its column "id" has to`}},
		"no id of its column": {[]string{"--entity_names", headed}, pipelinetest.Failure{Code: command.ExitFailure,
			Begin: headed + `: none of its ids is in the facts; its column "id" has to`}},
		"unknown relation": {[]string{"--type_relation", "lik"},
			pipelinetest.Failure{Code: command.ExitFailure,
				Says: []string{`no training fact has the relation "lik"`, `give another --type_relation: closest is "likes"`}}},
	} {
		t.Run(name, func(t *testing.T) {
			w := t.TempDir()
			pipelinetest.Fail(t, Pipeline(), c.want, append(c.flags, "--dataset", folder, "--workspace", w)...)
			if left := pipelinetest.Files(t, w); len(left) != 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

// TestRejectedTypes reads CSV with a bad line.
func TestRejectedTypes(t *testing.T) {
	folder, w := pipelinetest.Dataset(t, small()), t.TempDir()
	list := filepath.Join(folder, "kinds.csv")
	pipelinetest.Write(t, list, "anna,person\nbert\n\"cora\",\"a, b\"\n")
	out := pipelinetest.Succeed(t, Pipeline(), "--dataset", folder, "--workspace", w, "--types", list, "--on_bad_line", "reject")
	if !strings.Contains(out, "left out: 1 rejected line") || strings.Contains(out, "not read") {
		t.Errorf("%s", out)
	}
	if text := pipelinetest.Files(t, filepath.Join(w, "graph"))["rejects.tsv"]; !strings.HasSuffix(text, list+"\t2\t1 field instead of 2\tbert\n") {
		t.Errorf("rejects.tsv: %q", text)
	}
	l, err := encode.Load(t.Context(), filepath.Join(w, "graph"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string][]string{"a, b": {"cora"}, "person": {"anna"}}, typesOf(t, l, "train")); diff != "" {
		t.Errorf("types (-want +got):\n%s", diff)
	}
}
