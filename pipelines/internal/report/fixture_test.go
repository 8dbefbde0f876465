package report

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"tagnet/formats/storage"
	"tagnet/formats/workspace/counts"
	"tagnet/formats/workspace/metrics"
	"tagnet/formats/workspace/parquet"
	"tagnet/model/weights/checkpoint"
	"tagnet/model/weights/configuration"
	"tagnet/pipelines/internal/cli/workspace"
)

// hostile is a name that would become part of the page if it were not escaped.
const hostile = `</svg><script>alert("x")</script> & 'co'`

// fixture is a workspace of hand-made outputs, as large as a user's may be.
type fixture struct {
	t         testing.TB
	workspace workspace.Workspace
	relations int
	queries   int
}

func (f fixture) write(name string, value any) {
	f.t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		f.t.Fatal(err)
	}
	f.writeText(name, string(text))
}

// record writes the record of a checkpoint.
func (f fixture) record(r checkpoint.Record) {
	f.t.Helper()
	r.Weights.Name, r.Optimizer.Name = r.Name()+".safetensors", r.Name()+".optimizer.safetensors"
	r.FormatVersion = checkpoint.FormatVersion
	text, err := json.Marshal(struct {
		checkpoint.Record
		Checksum string `json:"checksum"`
	}{r, storage.BlankChecksum})
	if err == nil {
		err = storage.SetChecksum(text, "checksum")
	}
	if err != nil {
		f.t.Fatal(err)
	}
	f.writeText(f.workspace.CheckpointsFolder()+"/"+r.Name()+".json", string(text))
}

func (f fixture) writeText(name, text string) {
	f.t.Helper()
	if err := storage.WriteFile(context.Background(), f.workspace.Path(name), []byte(text)); err != nil {
		f.t.Fatal(err)
	}
}

func (f fixture) relation(i int) string {
	switch {
	case i == 0:
		return hostile
	case i%7 == 3:
		return fmt.Sprintf("/film/film/release_date_s./film/film_regional_release_date/film_release_region_%d", i)
	}
	return fmt.Sprintf("/people/person/relation_%d", i)
}

func summaryOf(n int64, mrr float64) metrics.Summary {
	m := func(mrr float64) metrics.Metrics {
		return metrics.Metrics{MRR: mrr, Hits1: mrr * mrr, Hits3: math.Sqrt(mrr) * 0.9, Hits10: math.Sqrt(mrr), MeanRank: 1 / mrr}
	}
	return metrics.Summary{Queries: n, Ranks: metrics.Ranks{Tied: 0.01, Pessimistic: m(mrr), Mean: m(mrr * 1.01), Optimistic: m(math.Min(1, mrr*1.02))}}
}

// ofGraph returns the inputs of a folder that is made from the graph.
func ofGraph(t testing.TB, w workspace.Workspace) map[string]string {
	t.Helper()
	checksum, err := w.Checksum(t.Context(), workspace.GraphFolder)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{workspace.GraphFolder: checksum}
}

// complete gives every folder the manifest that the pipelines write last.
func complete(t testing.TB, w workspace.Workspace) {
	t.Helper()
	folders := []string{"graph"}
	for _, stage := range []string{"distances", "runs/main/evaluation", "runs/main/messages"} {
		for _, split := range newEvidence(w, 0).splitsIn(context.Background(), stage) {
			folders = append(folders, stage+"/"+split)
		}
	}
	for _, protocol := range metrics.Protocols[1:] {
		folders = append(folders, w.EvaluationFolder(protocol))
	}
	folders = append(folders, w.CheckpointsFolder())
	var inputs map[string]string
	for i, folder := range folders {
		stage := workspace.Output{Workspace: w, Name: "test", Folder: folder, Inputs: inputs}
		if urls, err := storage.List(context.Background(), w.Path(folder)); err != nil {
			t.Fatal(err)
		} else if len(urls) == 0 {
			continue
		}
		if err := errors.Join(stage.Resume(context.Background(), false), stage.Publish(context.Background(), nil)); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			inputs = ofGraph(t, w)
		}
	}
}

// all writes everything.
func (f fixture) all() {
	f.graph()
	f.training()
	f.evaluation("test")
	f.ranks("test")
	f.messages()
	f.splits()
}

// splits writes the distances and messages of the other splits.
func (f fixture) splits() {
	for split, queries := range map[string]int64{"valid": 35070, "train": 544230} {
		f.write("distances/"+split+"/distribution.json", counts.Distribution{Split: split, Queries: queries,
			ByDistance: map[string]int64{"1": queries / 4, "2": queries - queries/4, "unreached": 0}})
		f.write("runs/main/messages/"+split+"/summary.json",
			counts.Summary{Split: split, Queries: queries, Edges: 544230, Configurations: []counts.Configuration{
				{Layers: 6, Delta: 2, Totals: counts.Totals{NBFNet: 100, Kept: 40, KeptEmpty: 10, PrunedEmpty: 45, PrunedRedundant: 15}, Decrease: 0.6,
					DecreaseWithoutEmpty: 0.7}}})
	}
}

func (f fixture) graph() {
	f.write("graph/summary.json", counts.Dataset{Dataset: "fb15k-237", Entities: 14541, Relations: int64(f.relations), Facts: 272115, Edges: 544230,
		MeanDegree: 18.7,
		Queries:    map[string]int64{"train": 544230, "valid": 35070, "test": 40932},
		Distinct:   map[string]int64{"train": 149689, "valid": 21000, "test": 22850}})
	f.write("distances/test/distribution.json", counts.Distribution{Split: "test", Queries: 40932,
		ByDistance: map[string]int64{"1": 40, "2": 29911, "3": 10871, "4": 100, "10": 1, "unreached": 9}})
}

func (f fixture) training() {
	var log string
	for i := 1; i <= 12; i++ {
		v := summaryOf(35070, 0.2+0.2*(1-math.Exp(-float64(i)/3)))
		valid := metrics.Valid{Queries: v.Queries, Ranks: v.Ranks}
		line, err := json.Marshal(metrics.Epoch{Epoch: i, Loss: 0.3 + math.Exp(-float64(i)/2), Valid: &valid, LearningRate: 0.005 * math.Pow(0.9, float64(i-1)),
			Seconds: 612.5, Messages: 41234567890})
		if err != nil {
			f.t.Fatal(err)
		}
		log += string(line) + "\n"
	}
	f.writeText("runs/main/training.jsonl", log)
	f.writeText("runs/main/checkpoints/best", "epoch-012\n")
	c := configuration.Default()
	f.record(checkpoint.Record{Configuration: c, Seed: 1, Epoch: 12, Step: 204087})
}

func (f fixture) evaluation(split string) {
	m := metrics.Evaluation{Split: split, Checkpoint: "epoch-012", Summary: summaryOf(int64(f.queries), 0.421), Distinct: 22850,
		ByDirection: map[string]metrics.Summary{"tail": summaryOf(20466, 0.51), "head": summaryOf(20466, 0.33)},
		ByDistance: map[string]metrics.Summary{"1": summaryOf(40, 0.7), "2": summaryOf(29911, 0.47), "3": summaryOf(10871, 0.28), "4": summaryOf(100, 0.05),
			"unreached": summaryOf(10, 0.0001)},
		ByRelation: map[string]metrics.Summary{}}
	m.Unreached = 10
	for i := range f.relations {
		m.ByRelation[f.relation(i)] = summaryOf(int64(1+(i*37)%900), 0.05+0.9*math.Mod(float64(i)*0.618, 1))
	}
	m.ByLinks = map[string]metrics.Summary{"both": summaryOf(30000, 0.5), "head": summaryOf(9000, 0.2), "tail": summaryOf(1900, 0.1),
		"neither": summaryOf(32, 0.01)}
	popularity := metrics.Baseline{Ranks: summaryOf(1, 0.2).Ranks, ByRelation: map[string]metrics.Ranks{f.relation(0): summaryOf(1, 0.9).Ranks}}
	m.Baselines = &metrics.Baselines{Popularity: popularity, Rules: metrics.Baseline{Ranks: summaryOf(1, 0.1).Ranks}}
	f.write("runs/main/evaluation/"+split+"/metrics.json", m)
}

func (f fixture) messages() {
	m := counts.Summary{Split: "test", Queries: 40932, Edges: 544230}
	for delta, saved := range []float64{0.88, 0.72, 0.5012, 0.34, 0.21, 0.1} {
		whole := int64(6) * 544230 * 40932
		kept := int64(float64(whole) * (1 - saved))
		empty := kept / 3
		pruned := whole - kept
		m.Configurations = append(m.Configurations, counts.Configuration{Layers: 6, Delta: delta,
			Totals:   counts.Totals{NBFNet: whole, Kept: kept, KeptEmpty: empty, PrunedEmpty: pruned / 2, PrunedRedundant: pruned - pruned/2},
			Decrease: saved, DecreaseWithoutEmpty: 1 - float64(kept-empty)/float64(whole)})
	}
	for layer := range int64(6) {
		m.ByLayer = append(m.ByLayer, counts.LayerSum{Layers: 6, Delta: 2, Layer: int(layer) + 1,
			Totals: counts.Totals{NBFNet: 1000, Kept: 100 * layer, KeptEmpty: 10 * layer, PrunedEmpty: 800 - 100*layer, PrunedRedundant: 200}})
	}
	f.write("runs/main/messages/test/summary.json", m)
}

// ranks writes the ranks of all queries, in parts.
func (f fixture) ranks(split string) {
	f.t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	const parts = 3
	var rankings [parts][]parquet.Ranking
	for i := range f.queries {
		rank := int64(1)
		for random.Float64() < 0.55 && rank < 7000 {
			rank = 2*rank + random.Int64N(3)
		}
		r := parquet.Ranking{Query: int64(i), Direction: []string{"tail", "head"}[i%2], Source: fmt.Sprintf("Entity %d", i%5000),
			Relation: f.relation(i % f.relations),
			Answer:   fmt.Sprintf("Answer %d", i), RankPessimistic: rank, RankMean: float64(rank), RankOptimistic: max(1, rank*9/10), Candidates: 14541,
			Distance: int32(i%5) - 1}
		part := i % 5000 % parts // that of the source
		rankings[part] = append(rankings[part], r)
	}
	folder := f.workspace.Evaluation(split) + "/rankings"
	for i := range parts {
		if err := parquet.Write(context.Background(), parquet.PartFile(folder, i, parts), rankings[i]); err != nil {
			f.t.Fatal(err)
		}
	}
}
