package zoo

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"tagnet/formats/workspace/metrics"
	"tagnet/formats/workspace/safetensors"
	"tagnet/model/weights/checkpoint"
)

//go:embed models
var models embed.FS

// Names lists the models, in alphabetical order.
var Names = []string{"fb237_v1", "wn18rr", "wn18rr_v1", Zero}

// Zero is the name of the foundation model, which answers without training.
const Zero = "zero"

// ErrUnknown is the error of a name that is none of Names.
var ErrUnknown = errors.New("there is no such model")

// Card says where a model comes from and what it scores.
type Card struct {
	// Dataset and Inference are names of the catalog of package datasets; Inference is empty without an inference
	// graph. A model of any graph has no Dataset: its record lists what it was trained on.
	Dataset   string `json:"dataset,omitempty"`
	Inference string `json:"inference,omitempty"`
	// Seen begin the names of datasets with facts that a foundation model was trained on, as letters and
	// digits in lower case.
	Seen []string `json:"seen,omitempty"`
	// Data is the origin and the license of the data.
	Data Data `json:"data"`
	// Checkpoint is the name of the files of the checkpoint, without endings.
	Checkpoint string   `json:"checkpoint"`
	Training   Training `json:"training"`
	// Evaluation is left out for a foundation model.
	Evaluation Evaluation `json:"evaluation,omitzero"`
}

// Data is the origin of a dataset.
type Data struct {
	Source  string `json:"source"`
	License string `json:"license"`
}

// Training says how a model was trained.
type Training struct {
	Commands []string `json:"commands"`
	// Commit is the program's commit, Kernel the variant of the kernels, or cuda.
	Commit  string  `json:"commit"`
	Kernel  string  `json:"kernel"`
	Machine string  `json:"machine"`
	Seconds float64 `json:"seconds"`
}

// Evaluation has the metrics of a model on the test queries, filtered, among all entities.
type Evaluation struct {
	Commands []string `json:"commands"`
	// Commit is the program's commit, Kernel the variant of the kernels whose rounding the scores have.
	Commit      string          `json:"commit"`
	Kernel      string          `json:"kernel"`
	Queries     int64           `json:"queries"`
	Pessimistic metrics.Metrics `json:"pessimistic"`
	Mean        metrics.Metrics `json:"mean"`
	Optimistic  metrics.Metrics `json:"optimistic"`
}

// Model is a model with its weights.
type Model struct {
	// Name is one of Names.
	Name    string
	Card    Card
	Record  checkpoint.Record
	Weights []safetensors.Tensor[float32]
}

// Open returns the model of a name, in upper or lower case. The error wraps ErrUnknown, or is a
// *checkpoint.DamagedError if the files are not those that train wrote.
func Open(name string) (Model, error) {
	for _, known := range Names {
		if strings.EqualFold(known, name) {
			return read(known, models.ReadFile)
		}
	}
	return Model{}, fmt.Errorf("%w: %q is none of %s", ErrUnknown, name, strings.Join(Names, ", "))
}

func read(name string, file func(path string) ([]byte, error)) (Model, error) {
	m := Model{Name: name}
	folder := "models/" + name + "/"
	card, err := file(folder + "card.json")
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(card, &m.Card); err != nil {
		return m, fmt.Errorf("%scard.json: %w", folder, err)
	}
	path := folder + m.Card.Checkpoint
	record, err := file(path + ".json")
	if err != nil {
		return m, err
	}
	weights, err := file(path + ".safetensors")
	if err != nil {
		return m, err
	}
	m.Record, m.Weights, err = checkpoint.Decode(path+".json", record, weights)
	return m, err
}
