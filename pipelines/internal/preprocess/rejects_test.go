package preprocess

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"tagnet/formats/workspace/counts"
	"tagnet/formats/workspace/manifest"
	"tagnet/model/graph/kg"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/pipelinetest"
)

// never is the reason that rejects.tsv gives for a relation.
func never(relation string) string {
	return fmt.Sprintf("relation %q is in no training fact, so nothing can be learned about it", relation)
}

// TestUnknownRelations checks that lines whose relation is in no training fact are rejected in the
// order of files and lines, whatever is wrong with others, and that the rest is kept. Without
// --on_bad_line reject they are errors.
func TestUnknownRelations(t *testing.T) {
	for name, test := range map[string]struct {
		change    map[string]string // files; an empty one is removed
		inference map[string]string
		rejects   []string // FILE:LINE: REASON: TEXT; FILE is below DIR, or INFERENCE
		says      string   // what the run dropped
		kept      string   // queries of train, valid and test, entities
		strict    string   // how the error begins; empty where there is one in each of several files
	}{
		"in test": {
			map[string]string{"test.txt": "dora\tlikes\temil\r\nbert\thates\tanna\r\nbert\tlikes\tanna\r\n"}, nil,
			[]string{"DIR/test.txt:2: " + never("hates") + ": " + `bert\thates\tanna`},
			"left out: 1 rejected line (rejects.tsv has the reasons)\n", "10 2 4 5",
			`DIR/test.txt:2: relation "hates" is in no training fact, so nothing can be learned about it; add training facts with ` +
				`it, or skip such lines with --on_bad_line reject`,
		},
		"the same in valid and test": {
			map[string]string{"valid.txt": "anna\thates\tcora\nanna\tlikes\tcora\n", "test.txt": "dora\tlikes\temil\nbert\thates\tanna\n"}, nil,
			[]string{"DIR/test.txt:2: " + never("hates") + ": " + `bert\thates\tanna`, "DIR/valid.txt:1: " + never("hates") + ": " + `anna\thates\tcora`},
			"left out: 2 rejected lines (rejects.tsv has the reasons)\n", "10 2 2 5", "",
		},
		"all of test": {
			map[string]string{"test.txt": "fred\thates\tgina\ngina\town\tfred\n"}, nil,
			[]string{"DIR/test.txt:1: " + never("hates") + ": " + `fred\thates\tgina`, "DIR/test.txt:2: " + never("own") + ": " + `gina\town\tfred`},
			"left out: 2 rejected lines", "10 2 0 6", "DIR/test.txt:1: ", // fred and gina are entities
		},
		"among lines that are no facts": {
			map[string]string{"test.txt": "1\nanna\thates\tbert\n3\n4\nanna\thates\tbert\nanna\tlikes\tdora\n7\nanna\t~likes\tbert\n",
				"train.txt": small()["train.txt"] + "anna parent bert\n"}, nil,
			[]string{
				"DIR/test.txt:1: 1 field instead of 3: 1", "DIR/test.txt:2: " + never("hates") + ": " + `anna\thates\tbert`,
				"DIR/test.txt:3: 1 field instead of 3: 3",
				"DIR/test.txt:4: 1 field instead of 3: 4", "DIR/test.txt:5: " + never("hates") + ": " + `anna\thates\tbert`,
				"DIR/test.txt:7: 1 field instead of 3: 7",
				`DIR/test.txt:8: relation "~likes" begins with ~, which queries use for the inverse of a relation: ` + `anna\t~likes\tbert`,
				"DIR/train.txt:6: spaces where tabs belong: anna parent bert",
			},
			"left out: 8 rejected lines", "10 2 2 4", "",
		},
		"packed": {
			map[string]string{"test.txt": "", "test.txt.gz": packed(t, "bad\nbert\thates\tanna\nbad\nbert\tlikes\tanna\n")}, nil,
			[]string{"DIR/test.txt.gz:1: 1 field instead of 3: bad", "DIR/test.txt.gz:2: " + never("hates") + ": " + `bert\thates\tanna`,
				"DIR/test.txt.gz:3: 1 field instead of 3: bad"},
			"left out: 3 rejected lines", "10 2 2 4", "DIR/test.txt.gz:1: ",
		},
		"what is no fact": {
			map[string]string{"train.txt": "anna\tparent\tbert\nanna parent bert\na\tr\tb\tc\n\xff\tr\tb\nbert\tlikes\tanna\nanna\tparent\tbert\n",
				"valid.txt": "nobody\n"}, nil,
			[]string{"DIR/train.txt:2: spaces where tabs belong: anna parent bert", `DIR/train.txt:3: 4 fields instead of 3: a\tr\tb\tc`,
				`DIR/train.txt:4: invalid UTF-8 at byte 1: \xff\tr\tb`, "DIR/valid.txt:1: 1 field instead of 3: nobody"},
			"1 repeated fact in train.txt, 4 rejected lines (rejects.tsv has the reasons)", "4 0 4 4", "",
		},
		"the edges of the inference graph": {
			nil, map[string]string{"train.txt": "x\tparent\ty\ny\town\tz\n", "test.txt": "x\tparent\tz\n"},
			[]string{"INFERENCE/train.txt:2: " + never("own") + ": " + `y\town\tz`}, "left out: 1 rejected line", "10 2 2 3",
			`INFERENCE/train.txt:2: relation "own"`,
		},
		"the inference graph": {
			map[string]string{"test.txt": ""},
			map[string]string{"train.txt": "xena\tparent\tyves\nyves\town\tzoe\n", "valid.txt": "xena\town\tyves\n",
				"test.txt": "xena\tlikes\tyves\nxena\town\tzoe\n"},
			[]string{"INFERENCE/test.txt:2: " + never("own") + ": " + `xena\town\tzoe`, "INFERENCE/train.txt:2: " + never("own") + ": " + `yves\town\tzoe`,
				"INFERENCE/valid.txt:1: " + never("own") + ": " + `xena\town\tyves`},
			"left out: 3 rejected lines", "10 2 2 3", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			files, workspace := small(), t.TempDir()
			for name, text := range test.change {
				files[name] = text
				if text == "" {
					delete(files, name)
				}
			}
			folder, inference := pipelinetest.Dataset(t, files), ""
			arguments := []string{"--dataset", folder, "--workspace", workspace}
			if test.inference != nil {
				inference = pipelinetest.Dataset(t, test.inference)
				arguments = append(arguments, "--inference", inference)
			}
			place := func(text string) string {
				return strings.NewReplacer("DIR", folder, "INFERENCE", inference).Replace(text)
			}
			code, _, stderr := pipelinetest.Run(t, Pipeline(), arguments...)
			if code != command.ExitFailure || !strings.HasPrefix(stderr, place(test.strict)) || strings.Count(stderr, "\n") != 1 {
				t.Errorf("strict: exit %d, %q; want it to begin %q", code, stderr, place(test.strict))
			}
			if left := pipelinetest.Files(t, workspace); len(left) != 0 {
				t.Errorf("left: %v", left)
			}
			code, out, stderr := pipelinetest.Run(t, Pipeline(), append(arguments, "--on_bad_line", "reject")...)
			if code != 0 || !strings.Contains(out, test.says) || !strings.Contains(out, filepath.Join(workspace, "graph", kg.RejectsFile)) {
				t.Fatalf("exit %d, %s%s, want it to say %q", code, out, stderr, test.says)
			}
			checkRejects(t, workspace, place(strings.Join(test.rejects, "\n")), test.kept)
		})
	}
}

// checkRejects compares rejects.tsv, with ":" and ": " for its tabs, the number of its lines wherever
// that stands, and what was kept.
func checkRejects(t *testing.T, workspace, want, kept string) {
	t.Helper()
	files := pipelinetest.Files(t, filepath.Join(workspace, "graph"))
	heading, got, _ := strings.Cut(strings.TrimSuffix(files[kg.RejectsFile], "\n"), "\n")
	fields := strings.Split(got, "\n")
	for i, line := range fields {
		line = strings.Replace(line, "\t", ":", 1)
		fields[i] = strings.ReplaceAll(line, "\t", ": ")
	}
	if got := strings.Join(fields, "\n"); heading != "file\tline\treason\ttext" || got != want {
		t.Errorf("rejects.tsv: %s\n%s\nwant\n%s", heading, got, want)
	}
	n := int64(strings.Count(want, "\n") + 1)
	s, err := counts.ReadDataset(t.Context(), filepath.Join(workspace, "graph"))
	if err != nil || s.Rejected != n {
		t.Errorf("the summary has %d rejected lines, want %d; %v", s.Rejected, n, err)
	}
	var m manifest.Manifest
	if err := json.Unmarshal([]byte(files["manifest.json"]), &m); err != nil || m.Rows["rejected"] != n {
		t.Errorf("the manifest has %d rejected lines, want %d; %v", m.Rows["rejected"], n, err)
	}
	entities := s.Entities
	if s.InferenceGraph != nil {
		entities = s.InferenceGraph.Entities
	}
	if got := fmt.Sprint(s.Queries["train"], s.Queries["valid"], s.Queries["test"], entities); got != kept {
		t.Errorf("queries of train, valid and test, and entities: %s, want %s", got, kept)
	}
	if left, err := filepath.Glob(filepath.Join(workspace, "graph", spillFolder)); err != nil || len(left) > 0 {
		t.Errorf("left over: %v %v", left, err)
	}
}

// TestOnlyUnknownRelationsAreLeft checks which errors --on_bad_line reject does not avoid.
func TestOnlyUnknownRelationsAreLeft(t *testing.T) {
	bad := small()
	bad["train.txt"] = "nothing\n"
	other := pipelinetest.Dataset(t, map[string]string{"train.txt": "x\town\ty\n", "test.txt": "x\tlikes\ty\n"})
	for name, test := range map[string]struct {
		arguments []string
		says      string
	}{
		"no training fact": {[]string{"--dataset", pipelinetest.Dataset(t, bad)}, "the dataset has no training facts"},
		"no fact of the inference graph": {[]string{"--dataset", pipelinetest.Dataset(t, small()), "--inference", other},
			"the train.txt of the inference graph has no facts (1 lines were rejected)"},
	} {
		t.Run(name, func(t *testing.T) {
			workspace := t.TempDir()
			pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: command.ExitFailure, Says: []string{test.says}},
				append(test.arguments, "--workspace", workspace, "--on_bad_line", "reject")...)
			if left := pipelinetest.Files(t, workspace); len(left) != 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}
