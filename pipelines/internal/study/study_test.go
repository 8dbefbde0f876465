package study

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/google/go-cmp/cmp"

	"tagnet/formats/storage"
	"tagnet/formats/workspace/counts"
	"tagnet/model/weights/configuration"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/preprocess"
	"tagnet/stages/study"
)

func TestMain(m *testing.M) { os.Exit(pipelinetest.Main(m, Messages())) }

// commands are the commands of the package, with the folder of their output for a split, and the step that makes it.
var commands = []struct {
	pipeline           func() command.Pipeline
	folder, job, plans string
}{
	{Distances, "distances", "/study.searchFn", "step       study.search: "},
	{Messages, "runs/main/messages", "/study.countFn", "step       study.count: "},
}

// TestDryRun checks that --dry_run and --plan print the job and leave the outputs of a complete workspace.
func TestDryRun(t *testing.T) {
	for _, c := range commands {
		t.Run(c.pipeline().Name, func(t *testing.T) { // which ends with Beam's flags as they were
			w := prepared(t, false)
			pipelinetest.Succeed(t, c.pipeline(), "--workspace", w, "--split", "test")
			pipelinetest.DryRun(t, c.pipeline(), w, c.job, "--split", "test")
			pipelinetest.Plan(t, c.pipeline(), w, c.plans, "--split", "test")
		})
	}
}

// TestTakenOver holds that a run that lost its folder to another one writes nothing there.
func TestTakenOver(t *testing.T) {
	for _, c := range commands {
		pipelinetest.TakenOver(t, c.pipeline(), prepared(t, false), c.folder+"/test", "--split", "test")
	}
}

func TestLeastMemory(t *testing.T) {
	w := prepared(t, false)
	for _, c := range commands {
		for _, split := range []string{"test", "train"} {
			pipelinetest.LeastMemory(t, c.pipeline(), filepath.Join(w, c.folder, split), "--workspace", w, "--split", split)
		}
	}
}

func TestGraphs(t *testing.T) {
	command.InitBeam()
	sources := []int32{0, 1, 2}
	for name, p := range map[string]*beam.Pipeline{
		"distances": BuildDistances(sources, 3, study.SearchParams{Params: study.Params{Folder: "mem://distances", Split: "test"}, Hops: 2}),
		"messages":  BuildMessages(sources, 3, study.CountParams{Params: study.Params{Graph: "mem://graph", Split: "test", Folder: "mem://messages"}}),
	} {
		pipelinetest.Golden(t, name, pipelinetest.Graph(t, p))
	}
}

// studied returns a workspace in memory with the graph of a dataset of the paper's: tables of distances are large, and
// slow to write to a disk.
func studied(t *testing.T, dataset string) string {
	t.Helper()
	data := filepath.Join("../../../../shared/data", dataset)
	if _, err := os.Stat(data); err != nil {
		t.Skipf("the dataset is not at %s", data)
	}
	w := "mem://" + t.Name()
	t.Cleanup(func() { _ = storage.RemoveAll(context.Background(), w) })
	pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", w, "--dataset", data)
	return w
}

// messagesOf counts the messages of a split, and returns the summary.
func messagesOf(t *testing.T, w, split string, more ...string) counts.Summary {
	t.Helper()
	pipelinetest.Succeed(t, Messages(), append([]string{"--workspace", w, "--split", split}, more...)...)
	s, err := counts.ReadSummary(t.Context(), w+"/runs/main/messages/"+split)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestRealData holds the distances of the answers to the test queries of WN18RR and FB15k-237, the figures of the
// paper's table, and the counts of their messages at 6 layers.
func TestRealData(t *testing.T) {
	for name, want := range map[string]map[string]int64{
		"wn18rr":    {"1": 2192, "2": 582, "3": 1346, "4": 470, "5": 556, "6": 276, "unreached": 846},
		"fb15k-237": {"0": 182, "1": 0, "2": 30046, "3": 10576, "4": 70, "5": 2, "6": 0, "unreached": 56},
	} {
		t.Run(name, func(t *testing.T) {
			w := studied(t, name)
			pipelinetest.Succeed(t, Distances(), "--workspace", w, "--split", "test")
			d, err := counts.ReadDistribution(t.Context(), w+"/distances/test")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, d.ByDistance); diff != "" {
				t.Errorf("queries by distance (-want +got):\n%s", diff)
			}
			s := messagesOf(t, w, "test")
			if name == "wn18rr" {
				checkWordNet(t, s)
				return
			}
			c := s.Configurations[2]
			fewer, without := fmt.Sprintf("%.2f", 100*c.Decrease), fmt.Sprintf("%.2f", 100*c.DecreaseWithoutEmpty)
			if c.Delta != 2 || fewer != "50.12" || without != "66.76" {
				t.Errorf("delta %d: %s%% fewer, %s%% without kept empties", c.Delta, fewer, without)
			}
		})
	}
}

// checkWordNet checks the counts of WN18RR.
func checkWordNet(t *testing.T, s counts.Summary) {
	t.Helper()
	c := s.Configurations[3]
	c.Decrease, c.DecreaseWithoutEmpty, c.KeptPerQuery, c.NBFNetPerQuery = 0, 0, 0, 0
	want := counts.Configuration{Layers: 6, Delta: 3, Totals: counts.Totals{
		NBFNet: 6531381360, Kept: 503419063, KeptEmpty: 268014235, PrunedEmpty: 6023025425, PrunedRedundant: 4936872,
	}}
	if s.Queries != 6268 || s.Edges != 173670 || c != want {
		t.Errorf("%d queries, %d edges, %+v, want %+v", s.Queries, s.Edges, c, want)
	}
}

// TestTrainingOfThePaper holds what the paper says of its figure of messages while training: on
// WN18RR's datasets "above 90%" are saved at every delta.
func TestTrainingOfThePaper(t *testing.T) {
	w := studied(t, "inductive/WN18RR_v1")
	for _, remove := range []string{configuration.RemoveTriple, configuration.RemoveOneHop} {
		s := messagesOf(t, w, "train", "--remove", remove, "--force")
		if s.Queries != 2*5410 || len(s.Configurations) != 6 {
			t.Errorf("%s: %d queries, %d configurations", remove, s.Queries, len(s.Configurations))
		}
		for _, c := range s.Configurations {
			if c.Decrease <= 0.9 || c.Decrease >= 1 {
				t.Errorf("%s, delta %d: %.4f saved", remove, c.Delta, c.Decrease)
			}
		}
	}
}
