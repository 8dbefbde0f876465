package lists

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"tagnet/formats/workspace/metrics"
	"tagnet/infra/internal/engine"
	"tagnet/model/pretrained"
	"tagnet/model/weights/checkpoint"
	"tagnet/model/zoo"
)

// ZeroshotResults is the folder of the results of foundation models, beside their list.
const ZeroshotResults = "zeroshot/results"

// The commands in the results of foundation models, and of a part of the graph.
const (
	ScoreCommand = "score"
	TrainCommand = "train"
)

// Zeroshot lists foundation models, and the graphs that they are measured on. Protocol says for readers how, and what
// the keys mean.
type Zeroshot struct {
	Protocol []string `json:"protocol"`
	Models   []Model  `json:"models"`
	Graphs   []Target `json:"graphs"`
}

// Model is a foundation model.
type Model struct {
	Name string `json:"name"`
	// File holds the weights, below the folder of the data, and SHA256 is its checksum; or Model is the name of a model
	// that tagnet comes with.
	File   string `json:"file"`
	SHA256 string `json:"sha256"`
	Model  string `json:"model"`
	// Tuned also measures the model after a fine-tuning of Epochs, on a graph without a folder Training of EpochsAlone,
	// if that is not 0.
	Tuned       bool `json:"tuned"`
	Epochs      int  `json:"epochs"`
	EpochsAlone int  `json:"epochs_alone"`
}

// Target is a graph that models are measured on.
type Target struct {
	Name string `json:"name"`
	// Folder holds the graph and its facts that are queried. A fine-tuning trains on the folder Training, or on Folder
	// if that is empty. Both are below the folder of the data.
	Folder   string `json:"folder"`
	Training string `json:"training"`
	// Protocol is that of score, "" for the test facts.
	Protocol metrics.Protocol `json:"protocol"`
	// FactsOf has the shares of the test facts that are training facts of other graphs, by their names.
	FactsOf map[string]float64 `json:"facts_of"`
	// Apart leaves the graph out of the means, Tuned measures models on it after a fine-tuning, too.
	Apart bool `json:"apart"`
	Tuned bool `json:"tuned"`
}

// RunName returns the name of the result of a model on a graph, without or after a fine-tuning.
func (g Target) RunName(m Model, tuned bool) string {
	if tuned {
		return g.Name + "/" + m.Name + "-tuned"
	}
	return g.Name + "/" + m.Name
}

// Runs returns the runs of all graphs and models.
func (l Zeroshot) Runs(int) (runs []engine.Run, err error) {
	for _, g := range l.Graphs {
		for _, m := range l.Models {
			weights := m.SHA256
			if m.Model != "" {
				known, err := zoo.Open(m.Model)
				if err != nil {
					return nil, fmt.Errorf("model %s: %w", m.Name, err)
				}
				weights = known.Record.Weights.SHA256
			}
			if runs = append(runs, g.run(m, weights, false)); m.Tuned && g.Tuned {
				runs = append(runs, g.run(m, weights, true))
			}
		}
	}
	return runs, nil
}

// run returns the run of a model on a graph. It has workspaces of its own, so that each model pays for the
// graph between relations.
func (g Target) run(m Model, sha256 string, tuned bool) engine.Run {
	workspace := g.RunName(m, tuned)
	training := workspace + "-training"
	r := engine.Run{Name: workspace, Inputs: map[string]string{"protocol": string(g.Protocol), "weights": sha256}, Clean: []string{workspace, training}}
	dataset, inference, protocol := below(g.Folder), "", string(metrics.Test)
	if g.Protocol != "" {
		dataset, inference, protocol = below(g.Training), below(g.Folder), string(g.Protocol)
	}
	weights := cmp.Or(m.Model, below(m.File))
	r.Commands = []engine.Command{preprocess(workspace, dataset, inference)}
	if m.File != "" {
		r.Commands[0].Words = verified(r.Commands[0].Words, m.File, m.SHA256)
	}
	scoring := []string{"--model", weights}
	if tuned {
		epochs := m.Epochs
		if g.Training == "" && m.EpochsAlone > 0 {
			epochs = m.EpochsAlone
		}
		r.Inputs["epochs"] = strconv.Itoa(epochs)
		r.Commands = append(r.Commands, preprocess(training, below(cmp.Or(g.Training, g.Folder)), ""),
			train(TrainCommand, training, "main", slices.Concat([]string{"--from", weights, "--epochs", strconv.Itoa(epochs)}, oneThread)...))
		scoring = []string{"--model", training + "/runs/main/checkpoints/best"}
	}
	r.Commands = append(r.Commands, score(ScoreCommand, workspace, "main", protocol, slices.Concat(scoring, []string{"--top_k", "0"}, oneThread)...))
	return r
}

// Seen reports whether a model was trained on facts of a graph, on its training half, or on a graph that has some of
// its facts, as far as that is known.
func (l Zeroshot) Seen(m Model, g Target) bool {
	origin := checkpoint.Origin{SHA256: m.SHA256, Model: m.Model}
	return slices.ContainsFunc(append(slices.Collect(maps.Keys(g.FactsOf)), g.Name), func(graph string) bool { return pretrained.Seen(origin, graph) })
}
