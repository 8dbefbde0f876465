package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/storage"
	"tagnet/formats/storage/gcs/gcstest"
	"tagnet/formats/storage/lock"
	"tagnet/formats/storage/storagetest"
	"tagnet/formats/workspace/manifest"
)

type settings struct {
	Layers int               `json:"layers"`
	Files  map[string]string `json:"files"`
}

// inputsOf returns the inputs of an output that is made from a folder.
func inputsOf(t *testing.T, w Workspace, folder string) map[string]string {
	t.Helper()
	checksum, err := w.Checksum(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{folder: checksum}
}

func newOutput(w Workspace, name string, layers int, inputs map[string]string) *Output {
	return &Output{
		Workspace: w, Name: name, Folder: name, Configuration: settings{layers, map[string]string{"train": "x"}},
		Inputs: inputs, Command: w.Command(name),
	}
}

// makeOutput writes an output's folder with one file.
func makeOutput(t *testing.T, s *Output, text string) {
	t.Helper()
	ctx := context.Background()
	done, err := s.Begin(ctx, true)
	if err != nil || done {
		t.Fatalf("done %v, %v", done, err)
	}
	if err := storage.WriteFile(ctx, s.Workspace.Path(s.Folder, "deep", "file"), []byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := s.Publish(ctx, map[string]int64{"rows": 1}); err != nil {
		t.Fatal(err)
	}
}

func wantError(t *testing.T, err error, says ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	for _, part := range says {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
}

func TestStages(t *testing.T) {
	for _, root := range []string{t.TempDir(), storagetest.Memory(t)} {
		t.Run(root[:3], func(t *testing.T) {
			ctx := context.Background()
			w := New(root)
			_, err := w.Require(ctx, "first", w.Command("first"))
			wantError(t, err, w.Path("first")+" does not exist: run go run ./pipelines/first --workspace "+root)
			unfinished := New(storage.Join(root, "unfinished"))
			if err := storage.WriteFile(ctx, storage.Join(unfinished.Path("first"), "file"), nil); err != nil {
				t.Fatal(err)
			}
			_, err = unfinished.Require(ctx, "first", w.Command("first"))
			wantError(t, err, unfinished.Path("first")+" is not complete: run ")

			first := newOutput(w, "first", 6, nil)
			makeOutput(t, first, "one")
			if done, err := first.Begin(ctx, false); !done || err != nil {
				t.Fatalf("done %v, %v", done, err)
			}
			m, err := w.Require(ctx, "first", Command{})
			if err != nil || len(m.Files) != 1 || m.Files[0].Name != "deep/file" || m.Rows["rows"] != 1 {
				t.Fatalf("%+v, %v", m, err)
			}

			_, err = newOutput(w, "first", 5, nil).Begin(ctx, false)
			wantError(t, err, "layers is 6 there, 5 here", "--workspace", "--force")

			second := newOutput(w, "second", 6, inputsOf(t, w, "first"))
			makeOutput(t, second, "two")
			if _, err := w.Require(ctx, "second", Command{}); err != nil {
				t.Fatal(err)
			}

			// The first is remade with other content: the second is stale.
			makeOutput(t, first, "another")
			_, err = w.Require(ctx, "second", w.Command("second"))
			wantError(t, err, "first", "go run ./pipelines/second --workspace "+root+" --force")
			_, err = newOutput(w, "second", 6, inputsOf(t, w, "first")).Begin(ctx, false)
			wantError(t, err, "first", "--force")

			// Remade as it was, it is not.
			makeOutput(t, first, "one")
			if _, err := w.Require(ctx, "second", Command{}); err != nil {
				t.Fatal(err)
			}

			// A damaged file is noticed by whoever needs it.
			if err := storage.WriteFile(ctx, w.Path("first", "deep", "file"), []byte("onE")); err != nil {
				t.Fatal(err)
			}
			_, err = w.Require(ctx, "first", w.Command("first"))
			wantError(t, err, "deep/file", "--force")
			_, err = first.Begin(ctx, false)
			wantError(t, err, "deep/file", "--force")
		})
	}
}

// wantFiles fails unless the folder first holds exactly these files.
func wantFiles(t *testing.T, w Workspace, want ...string) {
	t.Helper()
	left, err := storage.List(context.Background(), w.Path("first"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, url := range left {
		names = append(names, storage.Base(url))
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("files of the folder (-want +got):\n%s", diff)
	}
}

// write writes a file of the folder first.
func write(t *testing.T, w Workspace, name, text string) {
	t.Helper()
	if err := storage.WriteFile(context.Background(), w.Path("first", name), []byte(text)); err != nil {
		t.Fatal(err)
	}
}

// TestInterrupted holds that what a killed run leaves is removed, at whatever moment it ended, and
// that files which no pipeline wrote never are.
func TestInterrupted(t *testing.T) {
	for name, root := range roots(t) {
		t.Run(name, func(t *testing.T) { testInterrupted(t, New(root)) })
	}
}

func testInterrupted(t *testing.T, w Workspace) {
	ctx := t.Context()
	first := newOutput(w, "first", 6, nil)
	begin := func() {
		t.Helper()
		if done, err := first.Begin(ctx, false); done || err != nil {
			t.Fatalf("done %v, %v", done, err)
		}
	}
	// Killed while it wrote: a dead process's lock, a file and a temporary file are left.
	write(t, w, lock.FileName, deadLock(t))
	write(t, w, "half", "x")
	write(t, w, storage.TemporaryPrefix+"half-0123456789abcdef", "x")
	begin()
	wantFiles(t, w, lock.FileName)
	write(t, w, "half", "x")
	first.Abandon(false)
	wantFiles(t, w)

	// A worker elsewhere writes after its job was abandoned.
	begin()
	write(t, w, "half", "x")
	first.Abandon(true)
	write(t, w, "late", "x")
	begin()
	wantFiles(t, w, lock.FileName)
	first.Abandon(false)

	// Killed between the manifest and the removal of the lock: complete.
	makeOutput(t, first, "one")
	write(t, w, lock.FileName, deadLock(t))
	if done, err := first.Begin(ctx, false); !done || err != nil {
		t.Fatalf("done %v, %v", done, err)
	}

	if err := storage.WriteFile(ctx, w.Path("second", "notes"), []byte("mine")); err != nil {
		t.Fatal(err)
	}
	for _, force := range []bool{false, true} {
		_, err := newOutput(w, "second", 6, nil).Begin(ctx, force)
		wantError(t, err, "no pipeline wrote", "notes", "--workspace")
	}
	if there, err := storage.Exists(ctx, w.Path("second", "notes")); !there || err != nil {
		t.Errorf("the notes are gone: %v", err)
	}
}

// deadLock is the content of the lock file of a process that does not exist.
func deadLock(t *testing.T) string {
	t.Helper()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	content, err := json.Marshal(lock.Owner{Host: host, Process: 1 << 30, Started: "1", Command: "first", Token: "dead"})
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// TestForeignWriter requires a folder whose lock was left by a process of another host, of which nobody here knows
// whether it has ended.
func TestForeignWriter(t *testing.T) {
	w := New(storagetest.Memory(t))
	content, err := json.Marshal(lock.Owner{Host: "another", Process: 7, Command: "first --seed 3", Token: "unknown"})
	if err != nil {
		t.Fatal(err)
	}
	write(t, w, lock.FileName, string(content))
	_, err = w.Require(t.Context(), "first", w.Command("first"))
	wantError(t, err, "first is being written by process 7 on host another since", "(first --seed 3)", "or stop it and take over with --force of that command")
}

// roots returns an empty workspace of every kind of storage.
func roots(t *testing.T) map[string]string {
	return map[string]string{"local": t.TempDir(), "memory": storagetest.Memory(t), "gcs": gcstest.Bucket(t) + "/w"}
}

// TestOverlappingRuns holds that a second run of a folder is refused at once, that with force it
// takes the folder over, and that the first then neither completes nor removes what is there.
func TestOverlappingRuns(t *testing.T) {
	ctx := t.Context()
	for name, root := range roots(t) {
		for end, ending := range map[string]func(t *testing.T, first *Output){
			"publish": func(t *testing.T, first *Output) {
				if lost := new(lock.Lost); !errors.As(first.Publish(ctx, nil), &lost) {
					t.Error("the first run completed the second's folder")
				}
			},
			"abandon":           func(_ *testing.T, first *Output) { first.Abandon(false) },
			"abandon elsewhere": func(_ *testing.T, first *Output) { first.Abandon(true) },
			"pause":             func(_ *testing.T, first *Output) { first.Pause() },
		} {
			t.Run(name+" "+end, func(t *testing.T) {
				w := New(storage.Join(root, strings.ReplaceAll(end, " ", "-")))
				first, second := newOutput(w, "first", 6, nil), newOutput(w, "first", 5, nil)
				if _, err := first.Begin(ctx, false); err != nil {
					t.Fatal(err)
				}
				write(t, w, "of-first", "x")
				for what, err := range map[string]error{
					"Begin":     errorOf(second.Begin(ctx, false)),
					"Resume":    second.Resume(ctx, false),
					"CheckFree": second.CheckFree(ctx),
				} {
					if held := new(lock.Held); !errors.As(err, &held) || held.Owner.Process != os.Getpid() {
						t.Errorf("%s: error %v", what, err)
					}
				}
				wantFiles(t, w, lock.FileName, "of-first")
				if done, err := second.Begin(ctx, true); done || err != nil {
					t.Fatal(done, err)
				}
				write(t, w, "file", "of the second")
				ending(t, first)
				wantFiles(t, w, lock.FileName, "file")
				if err := second.Publish(ctx, nil); err != nil {
					t.Fatal(err)
				}
				wantFiles(t, w, "file", "manifest.json")
			})
		}
	}
}

func errorOf(_ bool, err error) error { return err }

// TestOneStarterWins starts many runs of a folder at once, where a run was killed before.
func TestOneStarterWins(t *testing.T) {
	for name, root := range roots(t) {
		t.Run(name, func(t *testing.T) {
			w := New(root)
			write(t, w, lock.FileName, deadLock(t))
			write(t, w, "half", "x")
			var winners atomic.Int64
			var starters sync.WaitGroup
			for range 8 {
				starters.Go(func() {
					_, err := newOutput(w, "first", 6, nil).Begin(context.Background(), false)
					if err == nil {
						winners.Add(1)
					} else if held := new(lock.Held); !errors.As(err, &held) {
						t.Error(err)
					}
				})
			}
			starters.Wait()
			if winners.Load() != 1 {
				t.Errorf("%d runs write the folder", winners.Load())
			}
			wantFiles(t, w, lock.FileName)
		})
	}
}

// TestStartWhileAnotherIsAbandoned starts runs of a folder while another one is abandoned: the lock and
// the files of the run that gets the folder stay. An abandoned folder does not remain.
func TestStartWhileAnotherIsAbandoned(t *testing.T) {
	ctx := t.Context()
	w := New(t.TempDir())
	for round := range 50 {
		first, second := newOutput(w, "first", 6, nil), newOutput(w, "first", 6, nil)
		if _, err := first.Begin(ctx, false); err != nil {
			t.Fatal(err)
		}
		write(t, w, "deep/half", "x")
		var abandoned sync.WaitGroup
		abandoned.Go(func() { first.Abandon(false) })
		for {
			_, err := second.Begin(ctx, false)
			if err == nil {
				break
			}
			if held := new(lock.Held); !errors.As(err, &held) {
				t.Fatalf("round %d: %v", round, err)
			}
		}
		write(t, w, "deep/file", "x")
		abandoned.Wait()
		wantFiles(t, w, lock.FileName, "file")
		if t.Failed() {
			return
		}
		second.Abandon(false)
		if _, err := os.Stat(w.Path("first")); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("round %d: the abandoned folder: %v", round, err)
		}
	}
}

// TestCheap holds that Begin overwrites a cheap folder of another configuration, and a damaged one.
func TestCheap(t *testing.T) {
	ctx := t.Context()
	w := New(storagetest.Memory(t))
	makeOutput(t, newOutput(w, "first", 5, nil), "one")
	first := newOutput(w, "first", 6, nil)
	_, err := first.Begin(ctx, false)
	if mismatch := new(Mismatch); !errors.As(err, &mismatch) || mismatch.Differences[0] != "layers is 5 there, 6 here" {
		t.Errorf("error %v", err)
	}
	first.Cheap = true
	for _, damaged := range []bool{false, true} {
		if done, err := first.Begin(ctx, false); done || err != nil {
			t.Fatalf("done %v, %v", done, err)
		}
		write(t, w, "file", "x")
		if err := first.Publish(ctx, nil); err != nil {
			t.Fatal(err)
		}
		if done, err := first.Begin(ctx, false); !done || err != nil {
			t.Fatalf("done %v, %v", done, err)
		}
		if !damaged {
			write(t, w, "file", "y")
		}
	}
}

// fading is a context that is canceled after so many calls of Err.
type fading struct {
	context.Context
	left int
}

func (f *fading) Err() error {
	if f.left--; f.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestInterruptedAtAnyStep interrupts Begin and Publish between any two of their steps: the folder
// then is complete, locked or empty. A folder that is newly complete is not locked.
func TestInterruptedAtAnyStep(t *testing.T) {
	background := context.Background()
	for steps := 0; ; steps++ {
		w := New(fmt.Sprintf("mem://%s-%d", t.Name(), steps))
		s := newOutput(w, "first", 6, nil)
		makeOutput(t, newOutput(w, "first", 5, nil), "previous")
		ctx := &fading{background, steps}
		_, err := s.Begin(ctx, true)
		if err == nil {
			if err := storage.WriteFile(background, w.Path("first", "file"), []byte("x")); err != nil {
				t.Fatal(err)
			}
			err = s.Publish(ctx, nil)
		}
		locked, _ := storage.Exists(background, w.Path("first", lock.FileName))
		m, missing := manifest.Read(background, w.Path("first"))
		complete := missing == nil
		files, listing := storage.List(background, w.Path("first"))
		switch {
		case complete:
			previous := strings.Contains(string(m.Configuration), `"layers":5`)
			if err := manifest.Verify(background, w.Path("first"), m); err != nil || locked && !previous {
				t.Errorf("after %d steps it is complete, locked %v: %v", steps, locked, err)
			}
		case listing != nil || len(files) > 0 && !locked:
			t.Errorf("after %d steps %q are left, locked %v: %v", steps, files, locked, listing)
		}
		if _, err := s.Begin(background, true); err != nil {
			t.Errorf("after %d steps the next run: %v", steps, err)
		}
		if err == nil {
			if !complete || locked || steps < 10 {
				t.Errorf("after %d steps: complete %v, locked %v", steps, complete, locked)
			}
			return
		}
	}
}

// calling is a context that calls a function when its Err has been called so often.
type calling struct {
	context.Context
	left int
	call func()
}

func (c *calling) Err() error {
	if c.left--; c.left == 0 {
		c.call()
	}
	return nil
}

// TestTakenOverWhilePublished has a second run take the folder over at every step of the first
// one's Publish: the manifest of the first never stands over files of the second.
func TestTakenOverWhilePublished(t *testing.T) {
	ctx := t.Context()
	for steps := 1; ; steps++ {
		w := New(fmt.Sprintf("mem://%s/%d", t.Name(), steps))
		first, second := newOutput(w, "first", 6, nil), newOutput(w, "first", 6, nil)
		if _, err := first.Begin(ctx, true); err != nil {
			t.Fatal(err)
		}
		write(t, w, "a", "of the first")
		write(t, w, "b", "of the first")
		called := false
		published := first.Publish(&calling{ctx, steps, func() {
			called = true
			if _, err := second.Begin(ctx, true); err != nil {
				t.Fatal(err)
			}
		}}, nil)
		if !called {
			if published != nil || steps < 6 {
				t.Errorf("%d steps: %v", steps, published)
			}
			return
		}
		if m, err := w.Require(ctx, "first", Command{}); err == nil {
			t.Errorf("taken over after %d steps, it is complete with %v", steps, m.Files)
		}
		write(t, w, "file", "of the second")
		if err := second.Publish(ctx, nil); err != nil {
			t.Errorf("after %d steps the second run: %v", steps, err)
		}
		wantFiles(t, w, "file", "manifest.json")
	}
}

func TestCommand(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		root  string
		flags []string
		want  string
	}{
		{Default, nil, "go run ./pipelines/score"},
		{"w", nil, "go run ./pipelines/score --workspace w"},
		{"gs://b/w", []string{"--split", "test"}, "go run ./pipelines/score --workspace gs://b/w --split test"},
		{"it's", []string{"--queries", ""}, `go run ./pipelines/score --workspace 'it'\''s' --queries ''`},
	} {
		c := New(test.root).Command("score", test.flags...)
		if got := c.String(); got != test.want {
			t.Errorf("%q: %q, want %q", test.root, got, test.want)
		}
		if got := c.With("--force").String(); got != test.want+" --force" {
			t.Errorf("%q with --force: %q", test.root, got)
		}
	}
}

func TestUnusableNamesWhatCanBeChosen(t *testing.T) {
	t.Parallel()
	mismatch := &Mismatch{Folder: "folder", Differences: []string{"layers is 6 there, 5 here"}}
	for pipeline, want := range map[string]string{
		"train":      "choose another --run, or go run ./pipelines/train --workspace w --force to overwrite it",
		"preprocess": "choose another --workspace, or go run ./pipelines/preprocess --workspace w --force to overwrite it",
		"score":      "go run ./pipelines/score --workspace w --force overwrites it",
	} {
		got := (&Unusable{mismatch, New("w").Command(pipeline)}).Error()
		if want = mismatch.Error() + ": " + want; got != want {
			t.Errorf("%s: %q, want %q", pipeline, got, want)
		}
	}
	want := mismatch.Error() + ": choose another --run, or go run ./pipelines/score --workspace w --model zero --force to overwrite it"
	if got := (&Unusable{mismatch, New("w").Command("score", "--model", "zero")}).Error(); got != want {
		t.Errorf("score --model: %q, want %q", got, want)
	}
}

func TestDifferences(t *testing.T) {
	got, err := Differences(
		json.RawMessage(`{"layers":6,"files":{"train":"0123456789012345678901234567890123456789012345678901234567890123","valid":"b"},"gone":true}`),
		json.RawMessage(`{"layers":5,"files":{"train":"012345678901234567890123456789012345678901234567890123456789012X","valid":"b"},"new":null}`))
	want := `files.train differs; gone is true there, absent here; layers is 6 there, 5 here`
	if err != nil || strings.Join(got, "; ") != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	// Lists of what has a name.
	for _, c := range [][3]string{
		{`[{"name":"a"},{"name":"b"}]`, `[{"name":"b"}]`, "graphs is a, b there, b here"},
		{`[{"name":"a"},{"name":"b"}]`, `[{"name":"b"},{"name":"a"}]`, "graphs is a, b there, b, a here"},
		{`[{"name":"a"}]`, `null`, "graphs is a there, empty here"},
		{`[{"name":"a","facts":1},{"name":"b","facts":1}]`, `[{"name":"a","facts":1},{"name":"b","facts":2}]`, "graphs.b.facts is 1 there, 2 here"},
		{`[{"name":"a"}]`, `[{"name":"a"}]`, ""},
		{`[1]`, `[2]`, "graphs is [1] there, [2] here"},
	} {
		got, err := Differences(json.RawMessage(`{"graphs":`+c[0]+`}`), json.RawMessage(`{"graphs":`+c[1]+`}`))
		if err != nil || strings.Join(got, "; ") != c[2] {
			t.Errorf("%s and %s: %q, %v, want %q", c[0], c[1], got, err, c[2])
		}
	}
}

func TestUnreadableFolderIsNotDamaged(t *testing.T) {
	_, err := New("http://example.org/w").Require(t.Context(), GraphFolder, Command{})
	if err == nil || !strings.Contains(err.Error(), "scheme") || strings.Contains(err.Error(), "--force") {
		t.Errorf("another scheme: %v", err)
	}
}

// TestPartingEnds checks that a run which ends while its storage is out of reach does not wait for it.
func TestPartingEnds(t *testing.T) {
	usual := parting
	parting = 50 * time.Millisecond
	t.Cleanup(func() { parting = usual })
	bucket, proxy := gcstest.FaultyBucket(t, time.Hour)
	for _, end := range []func(s *Output){func(s *Output) { s.Pause() }, func(s *Output) { s.Abandon(false) }} {
		proxy.Set(nil)
		s := newOutput(New(bucket+"/w"), "graph", 2, nil)
		if _, err := s.Begin(t.Context(), true); err != nil {
			t.Fatal(err)
		}
		proxy.Set(gcstest.From(1, gcstest.Unavailable))
		begun := time.Now()
		end(s)
		if took := time.Since(begun); took > 10*time.Second {
			t.Errorf("it took %v", took)
		}
	}
}

// TestListStep overwrites a list that an earlier model has made.
func TestListStep(t *testing.T) {
	w := New(t.TempDir())
	if got := w.ListStep(t.Context()).String(); strings.Contains(got, "--force") {
		t.Errorf("without a list: %s, want no --force", got)
	}
	if err := manifest.Write(t.Context(), w.Path(w.FactsFolder("all")), manifest.Manifest{}); err != nil {
		t.Fatal(err)
	}
	if got := w.ListStep(t.Context()).String(); !strings.HasSuffix(got, "discover --workspace "+w.Root()+" --force") {
		t.Errorf("with a list: %s, want --force", got)
	}
}
