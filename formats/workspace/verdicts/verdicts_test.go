package verdicts

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/storage"
)

func fact(h, r, t string) Fact { return Fact{Head: h, Relation: r, Tail: t} }

// areTrue returns whether each judged fact is true.
func areTrue(j Judged) map[Fact]bool {
	is := map[Fact]bool{}
	for f, v := range j.Of {
		is[f] = v.Judgment == True
	}
	return is
}

// TestRead has files as people write them, and what counts.
func TestRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file, text string
		want       map[Fact]bool
		err        string
	}{
		"by hand":      {"v.tsv", "a\tr\tb\ttrue\nc\tr\td\tFALSE\tnow\tAda\n", map[Fact]bool{fact("a", "r", "b"): true, fact("c", "r", "d"): false}, ""},
		"the last one": {"v.tsv", "a\tr\tb\ttrue\na\tr\tb\tfalse\n", map[Fact]bool{fact("a", "r", "b"): false}, ""},
		"undone":       {"v.tsv", "a\tr\tb\ttrue\na\tr\tb\tundo\n", map[Fact]bool{}, ""},
		"a list, half judged": {"v.tsv", "verdict\tprobability\ttail\trelation\thead\ntrue\t.9\tb, c\tr\ta\n\t.8\td\tr\ta\n",
			map[Fact]bool{fact("a", "r", "b, c"): true}, ""},
		"names as written": {"v.tsv", heading + "\"\\\"a\\\"\"\tr\tb\tfalse\t\t\t\n", map[Fact]bool{fact(`"a"`, "r", "b"): false}, ""},
		"another word":     {"v.tsv", "a\tr\tb\tyes\n", nil, `v.tsv:1: the verdict is "yes"; write true, false or undo`},
		"no verdict":       {"v.tsv", "a\tr\tb\n", nil, `v.tsv:1: the verdict is ""`},
		"no column": {"v.tsv", "head\trelation\ttail\tp\na\tr\tb\ttrue\n", nil,
			"v.tsv:1: no column is named verdict: there are head, relation, tail, p"},
		"two fields": {"v.tsv", "a\tr\n", nil, "v.tsv:1: 2 fields instead of 4"},
		"an inverse": {"v.tsv", "a\t~r\tb\ttrue\n", nil, "v.tsv:1: relation \"~r\" begins with ~"},
	} {
		url := "mem://" + t.Name() + strings.ReplaceAll(name, " ", "") + "/" + c.file
		if err := storage.WriteFile(t.Context(), url, []byte(c.text)); err != nil {
			t.Fatal(err)
		}
		j, err := Read(t.Context(), url)
		switch {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: error %v, want %s", name, err, c.err)
			}
		case err != nil || cmp.Diff(c.want, areTrue(j)) != "" || j.SHA256 == "":
			t.Errorf("%s: %+v, %v; want %v", name, j, err, c.want)
		}
	}
	if j, err := Read(t.Context(), "mem://"+t.Name()+"/absent"); err != nil || len(j.Of) > 0 || j.SHA256 != "" {
		t.Errorf("without a file: %+v, %v", j, err)
	}
}

// TestAppend adds to what is there, and not to a file of another form.
func TestAppend(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	odd := Verdict{Fact: fact(`"a"`, "r s", "b\x1b"), Judgment: True, Time: "2026-01-02T03:04:05Z", Who: "Ada\tB"}
	for _, v := range []Verdict{odd, {Fact: fact("c", "r", "d"), Judgment: False}, {Fact: odd.Fact, Judgment: Undo}, odd} {
		if err := Append(t.Context(), root, "test", v); err != nil {
			t.Fatal(err)
		}
	}
	j, err := Read(t.Context(), storage.Join(root, File))
	want := map[Fact]bool{odd.Fact: true, fact("c", "r", "d"): false}
	if diff := cmp.Diff(want, areTrue(j)); diff != "" || err != nil || bytes.Count(j.Text, []byte("\n")) != 5 {
		t.Errorf("%v, the file %q (-want +got):\n%s", err, j.Text, diff)
	}
	if given := j.Of[fact("c", "r", "d")]; j.Of[odd.Fact].Time != odd.Time || given.Time == "" || given.Line != 3 {
		t.Errorf("given %+v, and later %+v", given, j.Of[odd.Fact])
	}
	if err := storage.WriteFile(t.Context(), storage.Join(root, File), []byte("a\tr\tb\ttrue\n")); err != nil {
		t.Fatal(err)
	}
	if err := Append(t.Context(), root, "test", odd); err == nil || !strings.Contains(err.Error(), `its first line is "a\tr\tb\ttrue"`) {
		t.Errorf("a file without a heading: error %v", err)
	}
}

// TestWritersAtOnce has writers of which some are killed while they write: no verdict that one was told of is lost.
func TestWritersAtOnce(t *testing.T) {
	if root := os.Getenv("TAGNET_TEST_VERDICTS"); root != "" {
		for i := range 1000 {
			v := Verdict{Fact: fact(os.Getenv("TAGNET_TEST_WRITER"), "r", fmt.Sprint(i)), Judgment: True}
			if err := Append(context.Background(), root, "test", v); err != nil {
				t.Fatal(err)
			}
			fmt.Println("wrote", i)
		}
		return
	}
	root := t.TempDir()
	var done sync.WaitGroup
	for w := range 3 {
		done.Go(func() {
			program := exec.Command(os.Args[0], "-test.run", "^TestWritersAtOnce$")
			program.Env = append(os.Environ(), "TAGNET_TEST_VERDICTS="+root, "TAGNET_TEST_WRITER="+fmt.Sprint(w))
			out, err := program.StdoutPipe()
			if err != nil || program.Start() != nil {
				t.Error(err)
				return
			}
			told := -1
			for told < 20+7*w {
				if _, err := fmt.Fscanf(out, "wrote %d\n", &told); err != nil {
					t.Error(err)
					break
				}
			}
			program.Process.Kill()
			program.Wait()
			j, err := Read(t.Context(), storage.Join(root, File))
			for i := range told + 1 {
				if v := j.Of[fact(fmt.Sprint(w), "r", fmt.Sprint(i))]; err != nil || v.Judgment != True {
					t.Errorf("writer %d lost verdict %d, %v", w, i, err)
				}
			}
		})
	}
	done.Wait()
}
