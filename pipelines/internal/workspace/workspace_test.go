package workspace

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"tagnet/formats/manifest"
	"tagnet/formats/storage"
	"tagnet/formats/storage/storagetest"
)

type settings struct {
	Layers int               `json:"layers"`
	Files  map[string]string `json:"files"`
}

func stage(w Workspace, name string, layers int, inputs map[string]string) Stage {
	return Stage{
		Workspace: w, Name: name, Folder: name, Configuration: settings{layers, map[string]string{"train": "x"}},
		Inputs: inputs, Command: "go run ./pipelines/" + name,
	}
}

// make writes a stage's folder with one file.
func makeStage(t *testing.T, s Stage, text string) {
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
			_, err := w.Require(ctx, "first", "go run ./pipelines/first")
			wantError(t, err, root, "go run ./pipelines/first --workspace "+root)

			first := stage(w, "first", 6, nil)
			makeStage(t, first, "one")
			if done, err := first.Begin(ctx, false); !done || err != nil {
				t.Fatalf("done %v, %v", done, err)
			}
			m, err := w.Require(ctx, "first", "")
			if err != nil || len(m.Files) != 1 || m.Files[0].Name != "deep/file" || m.Rows["rows"] != 1 {
				t.Fatalf("%+v, %v", m, err)
			}

			_, err = stage(w, "first", 5, nil).Begin(ctx, false)
			wantError(t, err, "layers is 6 there, 5 here", "--workspace", "--force")

			inputs, err := w.Inputs(ctx, "first")
			if err != nil {
				t.Fatal(err)
			}
			second := stage(w, "second", 6, inputs)
			makeStage(t, second, "two")
			if _, err := w.Require(ctx, "second", ""); err != nil {
				t.Fatal(err)
			}

			// The first is remade with other content: the second is stale.
			makeStage(t, first, "another")
			_, err = w.Require(ctx, "second", "go run ./pipelines/second")
			wantError(t, err, "first", "go run ./pipelines/second --workspace "+root+" --force")
			if inputs, err = w.Inputs(ctx, "first"); err != nil {
				t.Fatal(err)
			}
			_, err = stage(w, "second", 6, inputs).Begin(ctx, false)
			wantError(t, err, "first", "--force")

			// Remade as it was, it is not.
			makeStage(t, first, "one")
			if _, err := w.Require(ctx, "second", ""); err != nil {
				t.Fatal(err)
			}

			// A damaged file is noticed by whoever needs it.
			if err := storage.WriteFile(ctx, w.Path("first", "deep", "file"), []byte("onE")); err != nil {
				t.Fatal(err)
			}
			_, err = w.Require(ctx, "first", "go run ./pipelines/first")
			wantError(t, err, "deep/file", "--force")
			_, err = first.Begin(ctx, false)
			wantError(t, err, "deep/file", "--force")
		})
	}
}

// TestInterrupted holds that what a killed run leaves is removed, at whatever moment it ended,
// and that nothing else ever is.
func TestInterrupted(t *testing.T) {
	ctx := context.Background()
	w := New(storagetest.Memory(t))
	s := stage(w, "first", 6, nil)
	if _, err := s.Begin(ctx, false); err != nil {
		t.Fatal(err)
	}
	if err := storage.WriteFile(ctx, w.Path("first", "half"), []byte("x")); err != nil {
		t.Fatal(err)
	}
	if done, err := s.Begin(ctx, false); done || err != nil {
		t.Fatalf("done %v, %v", done, err)
	}
	left, err := storage.List(ctx, w.Path("first"))
	if err != nil || len(left) != 1 || !strings.HasSuffix(left[0], unfinished) {
		t.Errorf("left: %v %v", left, err)
	}
	s.Abandon(false)
	if left, err := storage.List(ctx, w.Path("first")); err != nil || len(left) != 0 {
		t.Errorf("left: %v %v", left, err)
	}

	// A worker elsewhere writes after its job was abandoned: the next run removes that.
	if _, err := s.Begin(ctx, false); err != nil {
		t.Fatal(err)
	}
	for _, late := range []string{"half", "late"} {
		if err := storage.WriteFile(ctx, w.Path("first", late), []byte("x")); err != nil {
			t.Fatal(err)
		}
		if late == "half" {
			s.Abandon(true)
		}
	}
	if done, err := s.Begin(ctx, false); done || err != nil {
		t.Fatalf("done %v, %v", done, err)
	}
	if left, err := storage.List(ctx, w.Path("first")); err != nil || len(left) != 1 || !strings.HasSuffix(left[0], unfinished) {
		t.Errorf("left: %v %v", left, err)
	}

	// Killed between the manifest and the removal of the mark: complete.
	makeStage(t, s, "one")
	if err := storage.WriteFile(ctx, w.Path("first", unfinished), nil); err != nil {
		t.Fatal(err)
	}
	s.Abandon(false) // must not remove what is complete
	if done, err := s.Begin(ctx, false); !done || err != nil {
		t.Fatalf("done %v, %v", done, err)
	}
	if there, err := storage.Exists(ctx, w.Path("first", unfinished)); there || err != nil {
		t.Errorf("the mark is left: %v", err)
	}

	// Somebody else's files are nobody's leftovers.
	if err := storage.WriteFile(ctx, w.Path("second", "notes"), []byte("mine")); err != nil {
		t.Fatal(err)
	}
	for _, force := range []bool{false, true} {
		_, err := stage(w, "second", 6, nil).Begin(ctx, force)
		wantError(t, err, "notes", "--workspace")
	}
	if there, err := storage.Exists(ctx, w.Path("second", "notes")); !there || err != nil {
		t.Errorf("the notes are gone: %v", err)
	}
}

// TestTwoRunsAtOnce holds that of two runs that make a folder at once the first does not complete
// what the second has begun anew, nor remove it; and that the second completes it only if both do
// the same work, or none writes what is not its own.
func TestTwoRunsAtOnce(t *testing.T) {
	ctx := context.Background()
	here := process
	defer func() { process = here }()
	as := func(who string) { process = who }
	for name, c := range map[string]struct {
		layers  int // of the second run; the first has 6
		end     func(t *testing.T, first Stage)
		publish bool // the second may
	}{
		"same work, first publishes": {6, func(t *testing.T, first Stage) {
			wantError(t, first.Publish(ctx, nil), "another run", "first --workspace")
		}, true},
		"same work, first gives up":   {6, func(_ *testing.T, first Stage) { first.Abandon(false) }, true},
		"other work, first publishes": {5, func(t *testing.T, first Stage) { wantError(t, first.Publish(ctx, nil), "another run") }, false},
		"other work, guarded": {5, func(t *testing.T, first Stage) {
			first.Guarded = true
			wantError(t, first.Publish(ctx, nil), "another run")
		}, true},
		"other work, first gives up":    {5, func(_ *testing.T, first Stage) { first.Abandon(false) }, false},
		"other work, first goes on yet": {5, func(*testing.T, Stage) {}, true},
		"the mark is gone": {6, func(t *testing.T, first Stage) {
			if err := storage.Remove(ctx, first.Workspace.Path("first", unfinished)); err != nil {
				t.Fatal(err)
			}
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := New(storagetest.Memory(t))
			first, second := stage(w, "first", 6, nil), stage(w, "first", c.layers, nil)
			as("one")
			if _, err := first.Begin(ctx, false); err != nil {
				t.Fatal(err)
			}
			as("two")
			if done, err := second.Begin(ctx, false); done || err != nil {
				t.Fatal(done, err)
			}
			file := w.Path("first", "file")
			if err := storage.WriteFile(ctx, file, []byte("of the second")); err != nil {
				t.Fatal(err)
			}
			as("one")
			c.end(t, first)
			if there, err := storage.Exists(ctx, file); !there || err != nil {
				t.Errorf("the second run's file is gone: %v", err)
			}
			as("two")
			err := second.Publish(ctx, nil)
			if (err == nil) != c.publish {
				t.Errorf("the second run: %v", err)
			}
			if _, err := w.Require(ctx, "first", ""); (err == nil) != c.publish {
				t.Errorf("whether it is complete: %v", err)
			}
			// The next run takes it from there.
			as("three")
			if done, err := second.Begin(ctx, false); done != c.publish || err != nil {
				t.Errorf("done %v, %v", done, err)
			}
		})
	}
}

// fading is a context that is cancelled when it has been looked at so often.
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
// then is complete, marked or empty. When it is newly complete it is not marked.
func TestInterruptedAtAnyStep(t *testing.T) {
	background := context.Background()
	for steps := 0; ; steps++ {
		w := New(fmt.Sprintf("mem://%s-%d", t.Name(), steps))
		s := stage(w, "first", 6, nil)
		makeStage(t, stage(w, "first", 5, nil), "of before")
		ctx := &fading{background, steps}
		_, err := s.Begin(ctx, true)
		if err == nil {
			if err := storage.WriteFile(background, w.Path("first", "file"), []byte("x")); err != nil {
				t.Fatal(err)
			}
			err = s.Publish(ctx, nil)
		}
		marked, _ := storage.Exists(background, w.Path("first", unfinished))
		m, missing := manifest.Read(background, w.Path("first"))
		complete := missing == nil
		files, listing := storage.List(background, w.Path("first"))
		switch {
		case complete:
			ofBefore := strings.Contains(string(m.Configuration), `"layers":5`)
			if err := manifest.Verify(background, w.Path("first"), m); err != nil || marked && !ofBefore {
				t.Errorf("after %d steps it is complete, marked %v: %v", steps, marked, err)
			}
		case listing != nil || len(files) > 0 && !marked:
			t.Errorf("after %d steps %q are left, marked %v: %v", steps, files, marked, listing)
		}
		if _, err := s.Begin(background, true); err != nil {
			t.Errorf("after %d steps the next run: %v", steps, err)
		}
		if err == nil {
			if !complete || marked || steps < 10 {
				t.Errorf("after %d steps: complete %v, marked %v", steps, complete, marked)
			}
			return
		}
	}
}

// meeting is a context in which something happens when it has been looked at so often.
type meeting struct {
	context.Context
	left   int
	happen func()
}

func (m *meeting) Err() error {
	if m.left--; m.left == 0 {
		m.happen()
	}
	return nil
}

// TestBegunWhilePublished has a second run begin the folder at every step of the first one's
// Publish: the manifest of the first never stands over files of the second, and whatever is left
// is complete or taken up by the next run.
func TestBegunWhilePublished(t *testing.T) {
	ctx := t.Context()
	here := process
	defer func() { process = here }()
	for steps := 1; ; steps++ {
		w := New(fmt.Sprintf("mem://%s/%d", t.Name(), steps))
		first, second := stage(w, "first", 6, nil), stage(w, "first", 6, nil)
		process = "one"
		if _, err := first.Begin(ctx, true); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"a", "b"} {
			if err := storage.WriteFile(ctx, w.Path("first", name), []byte("of the first")); err != nil {
				t.Fatal(err)
			}
		}
		met := false
		published := first.Publish(&meeting{ctx, steps, func() {
			met = true
			process = "two"
			if _, err := second.Begin(ctx, true); err != nil {
				t.Fatal(err)
			}
			process = "one"
		}}, nil)
		if !met {
			if published != nil || steps < 7 {
				t.Errorf("%d steps: %v", steps, published)
			}
			return
		}
		if m, err := w.Require(ctx, "first", ""); err == nil {
			t.Errorf("after %d steps it is complete with %v, though the second has begun", steps, m.Files)
		}
		if err := storage.WriteFile(ctx, w.Path("first", "file"), []byte("of the second")); err != nil {
			t.Fatal(err)
		}
		process = "two"
		completed := second.Publish(ctx, nil)
		if _, err := w.Require(ctx, "first", ""); (err == nil) != (completed == nil) {
			t.Errorf("after %d steps the second run: %v, whether it is complete: %v", steps, completed, err)
		}
		process = "three"
		if done, err := second.Begin(ctx, false); done != (completed == nil) || err != nil {
			t.Errorf("after %d steps the next run: done %v, %v", steps, done, err)
		}
	}
}

// TestClearedWhileWritten has another run write files all the time: whatever Begin says, what is
// left counts as leftovers.
func TestClearedWhileWritten(t *testing.T) {
	ctx := t.Context()
	w := New(t.TempDir())
	s := stage(w, "first", 6, nil)
	if _, err := s.Begin(ctx, false); err != nil {
		t.Fatal(err)
	}
	var stop atomic.Bool
	var writing sync.WaitGroup
	defer writing.Wait()
	defer stop.Store(true)
	writing.Go(func() {
		for i := 0; !stop.Load(); i++ { // where the folder is gone this does nothing
			_ = os.WriteFile(filepath.Join(w.Path("first"), fmt.Sprint("late-", i)), nil, 0o666)
		}
	})
	failed := 0
	for try := 0; try < 200 && failed < 5; try++ {
		if _, err := s.Begin(ctx, true); err == nil {
			continue
		}
		failed++
		if marked, err := storage.Exists(ctx, w.Path("first", unfinished)); !marked || err != nil {
			t.Fatalf("try %d failed and left no mark: %v", try, err)
		}
	}
	t.Logf("%d failed", failed)
}

func TestCommand(t *testing.T) {
	for _, test := range []struct{ root, command, want string }{
		{Default, "go run ./pipelines/train", "go run ./pipelines/train"},
		{"w", "go run ./pipelines/train", "go run ./pipelines/train --workspace w"},
		{"gs://b/w", "go run ./pipelines/score --split test", "go run ./pipelines/score --workspace gs://b/w --split test"},
		{"it's", "go run ./pipelines/train", `go run ./pipelines/train --workspace 'it'\''s'`},
		{"w", "make test", "make test"},
	} {
		if got := New(test.root).Command(test.command); got != test.want {
			t.Errorf("%q: %q, want %q", test.root, got, test.want)
		}
	}
}

func TestDifferences(t *testing.T) {
	got, err := Differences(
		[]byte(`{"layers":6,"files":{"train":"0123456789012345678901234567890123456789012345678901234567890123","valid":"b"},"gone":true}`),
		[]byte(`{"layers":5,"files":{"train":"012345678901234567890123456789012345678901234567890123456789012X","valid":"b"},"new":null}`))
	want := `files.train differs; gone is true there, absent here; layers is 6 there, 5 here`
	if err != nil || strings.Join(got, "; ") != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
}

func TestOnlyDamageIsMadeAnew(t *testing.T) {
	_, err := New("http://example.org/w").Require(t.Context(), GraphFolder, "go run ./pipelines/preprocess")
	if err == nil || !strings.Contains(err.Error(), "scheme") || strings.Contains(err.Error(), "--force") {
		t.Errorf("another scheme: %v", err)
	}
}
