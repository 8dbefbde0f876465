package pipelinetest_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"tagnet/formats/storage"
	"tagnet/formats/storage/gcs/gcstest"
	"tagnet/formats/storage/lock"
	"tagnet/formats/workspace/manifest"
	"tagnet/pipelines/internal/ask"
	"tagnet/pipelines/internal/bundle"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/preprocess"
	"tagnet/pipelines/internal/report"
	"tagnet/pipelines/internal/score"
	"tagnet/pipelines/internal/study"
	"tagnet/pipelines/internal/train"
)

// TestMain makes this program every pipeline, by the name under which a test starts it.
func TestMain(m *testing.M) {
	started := preprocess.Pipeline()
	for _, of := range []func() command.Pipeline{study.Distances, train.Pipeline, score.Pipeline, ask.Pipeline, study.Messages, bundle.Pipeline} {
		if p := of(); filepath.Base(os.Args[0]) == p.Name {
			started = p
		}
	}
	os.Exit(pipelinetest.Main(m, started))
}

// step is a run of a pipeline on a small graph.
type step struct {
	pipeline  func() command.Pipeline
	arguments []string
}

func (s step) run(t *testing.T, workspace string) (code int, stderr string) {
	t.Helper()
	code, _, stderr = pipelinetest.Run(t, s.pipeline(), append([]string{"--workspace", workspace}, s.arguments...)...)
	return code, stderr
}

// steps returns a run of every pipeline, each of which reads what those before it write.
func steps(t *testing.T) []step {
	dataset := pipelinetest.Dataset(t, pipelinetest.Ring("e", 30))
	return []step{
		{preprocess.Pipeline, []string{"--dataset", dataset}},
		{study.Distances, []string{"--split", "test", "--max_hops", "3"}},
		{train.Pipeline, []string{"--dim", "4", "--layers", "2", "--negatives", "4", "--batch_size", "32", "--epochs", "2"}},
		{score.Pipeline, nil},
		{study.Messages, []string{"--layers", "2", "--deltas", "0,1"}},
		{report.Pipeline, nil},
		{bundle.Pipeline, []string{"--split", "test", "--reach", "8", "--layers", "2"}},
	}
}

// folder is the workspace of all runs in a bucket: the report and the errors name it.
const folder = "/folder"

// reference runs all steps without faults and returns the files of the workspace before the first step
// and after each one.
func reference(t *testing.T, workspace string, steps []step) []map[string]string {
	t.Helper()
	states := []map[string]string{{}}
	for _, s := range steps {
		if code, stderr := s.run(t, workspace); code != command.ExitOK {
			t.Fatalf("%s without faults: exit code %d: %s", s.pipeline().Name, code, stderr)
		}
		states = append(states, pipelinetest.Files(t, workspace))
	}
	return states
}

// timings matches what differs between two trainings, in the log and on the page that shows it.
var timings = regexp.MustCompile(`"seconds":[^,]*|\b[0-9.]+ m?s\b`)

func untimed(files map[string]string) map[string]string {
	same := maps.Clone(files)
	for name, text := range same {
		if strings.HasSuffix(name, "/training.jsonl") || strings.HasSuffix(name, "report/index.html") {
			same[name] = timings.ReplaceAllString(text, "")
		}
	}
	return same
}

// restore makes the workspace hold these files and no other.
func restore(t *testing.T, workspace string, files map[string]string) {
	t.Helper()
	ctx := context.Background()
	there := pipelinetest.Files(t, workspace)
	for name := range there {
		if _, stays := files[name]; !stays {
			if err := storage.Remove(ctx, storage.Join(workspace, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, text := range files {
		if there[name] == text {
			continue
		}
		if err := storage.WriteFile(ctx, storage.Join(workspace, name), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTemporaryFaults runs every pipeline in a bucket while one in eight requests fails in some temporary way: each
// ends with the bytes of a run in a local folder.
func TestTemporaryFaults(t *testing.T) {
	bucket, proxy := gcstest.FaultyBucket(t, 10*time.Second)
	workspace, steps := bucket+folder, steps(t)
	want := reference(t, t.TempDir()+folder, steps)
	for i, s := range steps {
		restore(t, workspace, want[i])
		proxy.Set(gcstest.Sometimes(1, 8, gcstest.Temporary...))
		code, stderr := s.run(t, workspace)
		injected := proxy.Injected()
		proxy.Set(nil)
		if code != command.ExitOK {
			t.Errorf("%s: exit code %d: %s", s.pipeline().Name, code, stderr)
			continue
		}
		if len(injected) < 4 {
			t.Errorf("%s: injected %v", s.pipeline().Name, injected)
		}
		pipelinetest.Same(t, untimed(pipelinetest.Files(t, workspace)), untimed(want[i+1]))
	}
}

// TestTemporaryFaultsInRounds is TestTemporaryFaults for a training by several workers.
func TestTemporaryFaultsInRounds(t *testing.T) {
	bucket, proxy := gcstest.FaultyBucket(t, 10*time.Second)
	workspace, local, all := bucket+folder, t.TempDir()+folder, steps(t)
	graph := reference(t, local, all[:1])[1]
	rounds := all[2]
	rounds.arguments = append(slices.Clone(rounds.arguments), "--workers", "2", "--local_steps", "2")
	want := reference(t, local, []step{rounds})[1]
	restore(t, workspace, graph)
	proxy.Set(gcstest.Sometimes(1, 8, gcstest.Temporary...))
	code, stderr := rounds.run(t, workspace)
	proxy.Set(nil)
	if code != command.ExitOK {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	pipelinetest.Same(t, untimed(pipelinetest.Files(t, workspace)), untimed(want))
}

// TestRequestFails lets single requests of every pipeline fail for good: each ends with the bytes of a run
// without faults, or with an error and nothing that looks whole.
func TestRequestFails(t *testing.T) {
	bucket, proxy := gcstest.FaultyBucket(t, 10*time.Second)
	testFailures(t, bucket+folder, proxy, 4, func(number int) gcstest.Rule {
		return gcstest.At(number, []gcstest.Fault{gcstest.Forbidden, gcstest.Precondition, gcstest.Short}[number%3])
	})
}

// TestOutage lets the storage fail from some request of every pipeline on.
func TestOutage(t *testing.T) {
	bucket, proxy := gcstest.FaultyBucket(t, 50*time.Millisecond)
	testFailures(t, bucket+folder, proxy, 3, func(number int) gcstest.Rule {
		return gcstest.From(number, []gcstest.Fault{gcstest.Unavailable, gcstest.Reset, gcstest.Truncated}[number%3])
	})
}

// TestMissingBucket checks that a command names a bucket that does not exist, whether it reads or writes.
func TestMissingBucket(t *testing.T) {
	gcstest.Bucket(t)
	for _, p := range []command.Pipeline{preprocess.Pipeline(), study.Distances(), train.Pipeline(), score.Pipeline(), study.Messages(), report.Pipeline(),
		bundle.Pipeline()} {
		arguments := []string{"--workspace", "gs://missing/workspace"}
		if p.Name == "bundle" {
			arguments = append(arguments, "--reach", "8") // which it wants before it looks for the workspace
		}
		want := pipelinetest.Failure{Code: command.ExitFailure,
			Says: []string{"the bucket gs://missing does not exist", "gcloud storage buckets create gs://missing"}}
		pipelinetest.Fail(t, p, want, arguments...)
	}
}

// testFailures runs every pipeline without faults, and then under a rule for so many of its requests, spread evenly.
func testFailures(t *testing.T, workspace string, proxy *gcstest.Faulty, points int, rule func(number int) gcstest.Rule) {
	before := map[string]string{}
	for _, s := range steps(t) {
		name := s.pipeline().Name
		restore(t, workspace, before)
		proxy.Set(nil)
		if code, stderr := s.run(t, workspace); code != command.ExitOK {
			t.Fatalf("%s without faults: exit code %d: %s", name, code, stderr)
		}
		requests, want := proxy.Requests(), pipelinetest.Files(t, workspace)
		failed := 0
		for point := range points {
			number := 1 + (2*point+1)*requests/(2*points)
			restore(t, workspace, before)
			proxy.Set(rule(number))
			code, stderr := s.run(t, workspace)
			proxy.Set(nil)
			t.Logf("%s, request %d of %d: exit code %d, %s", name, number, requests, code, stderr)
			checkEnd(t, workspace, code, stderr, want)
			if code == command.ExitOK {
				continue
			}
			failed++
			endProcess(t, workspace)
			again := s
			if name == "train" && len(pipelinetest.Files(t, workspace+"/runs/main/checkpoints")) > 0 {
				again.arguments = append(slices.Clone(s.arguments), "--resume")
			}
			if code, stderr := again.run(t, workspace); code != command.ExitOK {
				t.Errorf("%s after the failure of request %d: exit code %d: %s", name, number, code, stderr)
				continue
			}
			got := pipelinetest.Files(t, workspace)
			maps.DeleteFunc(got, func(name, _ string) bool { return storage.Base(name) == lock.FileName }) // of a folder that was whole
			pipelinetest.Same(t, untimed(got), untimed(want))
		}
		if failed == 0 {
			t.Errorf("%s never failed", name)
		}
		before = want
	}
}

// checkEnd checks how a run under faults ended.
func checkEnd(t *testing.T, workspace string, code int, stderr string, want map[string]string) {
	t.Helper()
	got := untimed(pipelinetest.Files(t, workspace))
	want = untimed(want)
	if code == command.ExitOK {
		pipelinetest.Same(t, got, want)
		return
	}
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	if message := lines[len(lines)-1]; code != command.ExitFailure || !strings.Contains(message, workspace) || strings.Contains(stderr, "goroutine") ||
		strings.Contains(message, "--force") {
		t.Errorf("exit code %d, %q", code, stderr)
	}
	for name, text := range got {
		switch storage.Base(name) {
		case lock.FileName:
			// It stays if its removal failed.
		case "best": // of an earlier epoch
		case "training.jsonl":
			if !strings.HasPrefix(want[name], text) {
				pipelinetest.SameText(t, name, text, want[name])
			}
		case manifest.FileName:
			pipelinetest.SameText(t, name, text, want[name])
			url := storage.Join(workspace, strings.TrimSuffix(name, manifest.FileName))
			m, err := manifest.Read(t.Context(), url)
			if err == nil {
				err = manifest.Verify(t.Context(), url, m)
			}
			if err != nil {
				t.Errorf("a folder looks whole: %v", err)
			}
		default:
			below := strings.TrimPrefix(name, "runs/main/")
			folder := name[:len(name)-len(below)+strings.Index(below, "/")+1] // such as runs/main/messages/
			if _, whole := want[name]; !whole && got[folder+manifest.FileName] == "" && locked(got, folder) {
				continue // a leftover, which the next run removes
			}
			pipelinetest.SameText(t, name, text, want[name])
		}
	}
}

// locked reports whether there is a lock file in a folder or below it.
func locked(files map[string]string, folder string) bool {
	for name := range files {
		if strings.HasPrefix(name, folder) && storage.Base(name) == lock.FileName {
			return true
		}
	}
	return false
}

// endProcess makes the locks of this process look like those of one that has ended.
func endProcess(t *testing.T, workspace string) {
	t.Helper()
	process := fmt.Sprintf(`"process":%d`, os.Getpid())
	for name, text := range pipelinetest.Files(t, workspace) {
		if storage.Base(name) != lock.FileName {
			continue
		}
		text = strings.Replace(text, process, `"process":1073741824`, 1)
		if err := storage.WriteFile(t.Context(), storage.Join(workspace, name), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
}
