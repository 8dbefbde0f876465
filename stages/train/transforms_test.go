package train_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/google/go-cmp/cmp"

	"tagnet/formats/storage"
	"tagnet/formats/storage/storagetest"
	"tagnet/model/learn"
	"tagnet/model/weights/configuration"
	"tagnet/stages/stagetest"
	"tagnet/stages/train"
)

// params returns the parameters of a training of a graph into a folder.
func params(graph, folder string, workers, threads int) train.Params {
	p := train.Params{Graph: graph, Run: learn.Run{Checkpoints: folder + "/checkpoints", History: folder + "/training.jsonl",
		Configuration: configuration.Default(), Threads: threads}}
	c := &p.Run.Configuration
	c.Layers, c.Dim, c.Negatives, c.Epochs, c.BatchSize = 2, 4, 2, 2, 8
	if workers > 1 {
		p.Run.Rounds = configuration.Rounds{Workers: workers, LocalSteps: 2}
	}
	return p
}

// rounds runs a training by several workers in jobs of so many tasks, the first of them twice, as a runner may that
// loses its result.
func rounds(t *testing.T, p train.Params, perJob int) map[string]string {
	t.Helper()
	data, err := p.ReadData(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	at, err := train.Open(t.Context(), p, true)
	if err != nil {
		t.Fatal(err)
	}
	for jobs := 0; ; jobs++ {
		tasks := learn.Tasks(p.Run, data.Train.Keys(p.Run.Configuration), at, perJob)
		if len(tasks) == 0 {
			break
		}
		for range max(1, 2-jobs) {
			if err := stagetest.Run(t, func(s beam.Scope) { train.Rounds(s, p, tasks) }); err != nil {
				t.Fatal(err)
			}
		}
		at = tasks[len(tasks)-1].To()
	}
	if err := learn.RemoveRounds(t.Context(), p.Run); err != nil {
		t.Fatal(err)
	}
	files := storagetest.Files(t, p.Run.Checkpoints)
	maps.DeleteFunc(files, func(name, _ string) bool { return strings.HasPrefix(name, "rounds/") })
	return files
}

// TestRounds holds that neither threads, nor jobs, nor a job that runs twice change a byte of a training by two
// workers, and that a third worker does.
func TestRounds(t *testing.T) {
	graph, _ := stagetest.Graph(t, 20, 1)
	folder := storagetest.Memory(t)
	want := rounds(t, params(graph, folder+"/one-job", 2, 1), 100)
	if len(want) < 2*2 || want["epoch-002.safetensors"] == "" {
		t.Fatalf("%d files", len(want))
	}
	if diff := cmp.Diff(want, rounds(t, params(graph, folder+"/jobs", 2, 3), 4)); diff != "" {
		t.Errorf("in several jobs (-one job +several):\n%.2000s", diff)
	}
	if other := rounds(t, params(graph, folder+"/three", 3, 1), 100); other["epoch-002.safetensors"] == want["epoch-002.safetensors"] {
		t.Error("three workers make the weights of two")
	}
}

// TestLearn trains in one element, reports each epoch to the process that started the pipeline, and
// stops with a checkpoint.
func TestLearn(t *testing.T) {
	graph, _ := stagetest.Graph(t, 20, 1)
	p, epochs := params(graph, storagetest.Memory(t), 1, 2), map[int]bool{}
	session := train.NewSession(func(progress learn.Progress) { epochs[progress.Epoch] = true })
	defer session.Close()
	p.Session = session.ID
	if err := stagetest.Run(t, func(s beam.Scope) { train.Learn(s, p) }); err != nil || session.Err() != nil || !epochs[1] || !epochs[2] {
		t.Errorf("error %v, of the session %v, epochs %v", err, session.Err(), epochs)
	}
	session.Stop()
	p.Run.Checkpoints += "-stopped"
	if err := stagetest.Run(t, func(s beam.Scope) { train.Learn(s, p) }); err == nil || session.Err() == nil {
		t.Errorf("stopped: error %v, of the session %v", err, session.Err())
	}
	if there, err := storage.Exists(t.Context(), storage.Join(p.Run.Checkpoints, "epoch-002.json")); there || err != nil {
		t.Errorf("it trained all epochs, error %v", err)
	}
}
