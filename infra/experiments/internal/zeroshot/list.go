package zeroshot

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"

	"tagnet/formats/storage"
	"tagnet/formats/storage/check"
	"tagnet/formats/strict"
	"tagnet/formats/workspace/metrics"
	"tagnet/model/weights/checkpoint"
	"tagnet/model/weights/pretrained"
)

// ListFile is the name of the list in the folder of experiments.
const ListFile = "zeroshot.json"

// List is the content of the list: which models are measured on which graphs.
type List struct {
	// Protocol says for readers how, and what the keys mean.
	Protocol []string `json:"protocol"`
	Models   []Model  `json:"models"`
	Graphs   []Graph  `json:"graphs"`
}

// Model is a model of any graph.
type Model struct {
	Name string `json:"name"`
	// File holds the weights, below the folder of the data, and SHA256 is its checksum; or Model is the name of a model that tagnet
	// comes with.
	File   string `json:"file"`
	SHA256 string `json:"sha256"`
	Model  string `json:"model"`
	// TrainedAs names a model of published weights that was trained on the same graphs.
	TrainedAs string `json:"trained_as"`
	// Epochs is the length of a fine-tuning, EpochsAlone that on a graph without a folder Training; 0 is Epochs.
	Epochs      int `json:"epochs"`
	EpochsAlone int `json:"epochs_alone"`
}

// epochsOn returns the epochs of a fine-tuning for a graph.
func (m Model) epochsOn(g Graph) int {
	if g.Training == "" && m.EpochsAlone > 0 {
		return m.EpochsAlone
	}
	return m.Epochs
}

// Graph is a graph that models are measured on.
type Graph struct {
	Name string `json:"name"`
	// Folder holds the graph and its facts that are queried. A fine-tuning trains on the folder Training, or on Folder if that is empty. Both are
	// below the folder of the data.
	Folder   string `json:"folder"`
	Training string `json:"training"`
	// Protocol is that of score, "" for the test facts.
	Protocol metrics.Protocol `json:"protocol"`
	// FactsOf has the shares of the test facts that are training facts of other graphs, by their names.
	FactsOf map[string]float64 `json:"facts_of"`
	// Apart leaves the graph out of the means.
	Apart bool `json:"apart"`
	// Tuned lets models be measured after a fine-tuning, too.
	Tuned bool `json:"tuned"`
}

// ReadList reads a list. Errors about the file begin with its name, the line and the column.
func ReadList(ctx context.Context, path string) (List, error) {
	var l List
	text, err := storage.ReadFile(ctx, path)
	if err != nil {
		return l, err
	}
	if err := strict.Decode(path, text, &l); err != nil {
		return l, err
	}
	for i, m := range l.Models {
		if err := l.checkModel(i); err != nil {
			return l, strict.Mistake(path, text, fmt.Sprintf("model %q: %v", m.Name, err), "models", fmt.Sprint(i))
		}
	}
	for i, g := range l.Graphs {
		if err := l.checkGraph(i); err != nil {
			return l, strict.Mistake(path, text, fmt.Sprintf("graph %q: %v", g.Name, err), "graphs", fmt.Sprint(i))
		}
	}
	return l, nil
}

// Name matches what a graph or a model may be called: it becomes the name of a folder or a file.
var Name = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

func (l List) checkModel(i int) error {
	m := l.Models[i]
	same := func(name string) func(Model) bool { return func(other Model) bool { return other.Name == name } }
	switch {
	case !Name.MatchString(m.Name):
		return fmt.Errorf("name has letters, digits, dots and hyphens only")
	case slices.ContainsFunc(l.Models[:i], same(m.Name)):
		return fmt.Errorf("the name stands twice")
	case (m.File == "") == (m.Model == ""):
		return fmt.Errorf("either file or model is needed")
	case (m.File == "") != (m.SHA256 == ""):
		return fmt.Errorf("file and sha256 belong together")
	case m.File != "" && !filepath.IsLocal(m.File):
		return fmt.Errorf("file %q is not below the folder of the data", m.File)
	case m.TrainedAs != "" && !slices.ContainsFunc(l.Models, same(m.TrainedAs)):
		return fmt.Errorf("trained_as names no model: %q", m.TrainedAs)
	case m.Epochs < 1:
		return fmt.Errorf("epochs is %d, want 1 or more", m.Epochs)
	case m.EpochsAlone < 0:
		return fmt.Errorf("epochs_alone is %d, want 0 or more", m.EpochsAlone)
	}
	return nil
}

func (l List) checkGraph(i int) error {
	g := l.Graphs[i]
	switch {
	case !Name.MatchString(g.Name):
		return fmt.Errorf("name has letters, digits, dots and hyphens only")
	case slices.ContainsFunc(l.Graphs[:i], func(other Graph) bool { return other.Name == g.Name }):
		return fmt.Errorf("the name stands twice")
	case !filepath.IsLocal(g.Folder):
		return fmt.Errorf("folder %q is not below the folder of the data", g.Folder)
	case g.Training != "" && !filepath.IsLocal(g.Training):
		return fmt.Errorf("training %q is not below the folder of the data", g.Training)
	case g.Protocol != "" && g.Protocol != metrics.ValidAndTest:
		return fmt.Errorf("protocol is %q, want %s or none", g.Protocol, metrics.ValidAndTest)
	case g.Protocol != "" && g.Training == "":
		return fmt.Errorf("protocol %s needs training, the graph that belongs to folder", g.Protocol)
	}
	for _, of := range slices.Sorted(maps.Keys(g.FactsOf)) {
		if err := check.Share("facts_of "+of, g.FactsOf[of]); err != nil {
			return err
		}
	}
	return nil
}

// Seen reports whether a model was trained on facts of a graph, or on the graph that most of its facts are of, as far as that is known.
func (l List) Seen(m Model, g Graph) bool {
	origin := checkpoint.Origin{SHA256: m.SHA256, Model: m.Model}
	for _, as := range l.Models {
		if as.Name == m.TrainedAs {
			origin = checkpoint.Origin{SHA256: as.SHA256, Model: as.Model}
		}
	}
	if pretrained.Seen(origin, g.Name) {
		return true
	}
	for of := range g.FactsOf {
		if pretrained.Seen(origin, of) {
			return true
		}
	}
	return false
}
