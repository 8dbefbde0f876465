package results

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"tagnet/formats/workspace/metrics"
)

// FormatVersion is the version of the files that this package writes and reads.
const FormatVersion = 1

// TestProtocol is the protocol of the paper's tables: the facts of the test split, both directions, ranked among all entities of the
// graph that they belong to, known answers left out.
const TestProtocol = string(metrics.Test)

// Result is one training and its evaluations.
type Result struct {
	// FormatVersion is set by Write.
	FormatVersion int `json:"format_version"`
	// Dataset names the dataset, and Inference its inference graph, empty if test queries use the training graph.
	Dataset   string `json:"dataset"`
	Inference string `json:"inference,omitempty"`
	// Experiment is the name of the experiment that the training belongs to, and Varied the flags of train in which its runs
	// differ, with the values as they are written on a command line: "delta": "0".
	Experiment string            `json:"experiment"`
	Varied     map[string]string `json:"varied,omitempty"`
	Seed       int64             `json:"seed"`
	// Configuration holds all hyperparameters: an object that configuration.Configuration reads.
	Configuration json.RawMessage `json:"configuration"`
	// Validation says how often the training was validated, and on how many queries.
	Validation metrics.Validation `json:"validation"`
	// Graph is the checksum of the manifest of the graph.
	Graph string `json:"graph"`
	// Commit is the commit of the program that trained, empty if it is not known. Modified reports that the program was built from
	// a working tree with changes that are not in the commit.
	Commit   string `json:"commit"`
	Modified bool   `json:"modified"`
	// Commands repeat the result with that program: preprocess, train, and score once a protocol. Their --workspace is the dataset's name, below the
	// current folder.
	Commands []string `json:"commands"`
	// Machine describes the machine that trained.
	Machine Machine `json:"machine"`
	// Kernels are the variants of the kernels that computed the epochs, in the order of their first epoch. Results
	// of equal commits, configurations, seeds and kernels are equal; with several kernels also the epochs have to agree.
	Kernels []string `json:"kernels"`
	// Training describes the epochs.
	Training Training `json:"training"`
	// Weights is the SHA-256 of the best checkpoint's weights.
	Weights string `json:"weights"`
	// Evaluation holds the metrics of the best checkpoint by the name of the protocol.
	Evaluation map[string]Evaluation `json:"evaluation"`
}

// Machine describes the hardware of a training.
type Machine struct {
	// Processor is the model of the CPU, and Device the model of the CUDA device, empty without one.
	Processor string `json:"processor"`
	Device    string `json:"device,omitempty"`
	// Cores is the number of cores of the machine, and Threads the number that the training used.
	Cores   int    `json:"cores"`
	Threads int    `json:"threads,omitempty"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

// Training summarizes the epochs of a training.
type Training struct {
	Epochs int `json:"epochs"`
	// BestEpoch is the epoch of the checkpoint with the best pessimistic MRR on the validation split.
	BestEpoch int `json:"best_epoch"`
	// Steps is the number of steps of the optimizer.
	Steps int64 `json:"steps"`
	// Seconds is the time of all epochs with their validations; a machine that does other work at the same time needs longer.
	Seconds float64 `json:"seconds"`
	// CPUSeconds is the processor time of the training's processes; 0 if it is not known.
	CPUSeconds float64 `json:"cpu_seconds,omitempty"`
	// Messages is the number of messages that the forward passes of all steps sent.
	Messages int64 `json:"messages"`
	// Curve has all epochs in their order.
	Curve []Epoch `json:"curve"`
}

// Epoch is one epoch of a training.
type Epoch struct {
	Epoch        int     `json:"epoch"`
	Loss         float64 `json:"loss"`
	LearningRate float64 `json:"learning_rate"`
	Seconds      float64 `json:"seconds"`
	Messages     int64   `json:"messages"`
	Kernel       string  `json:"kernel"`
	// Valid holds the pessimistic metrics on the validation split, nil without a validation.
	Valid *metrics.Metrics `json:"valid,omitempty"`
}

// Evaluation is the metrics of one protocol.
type Evaluation struct {
	Split string `json:"split"`
	// Queries counts both directions, and Distinct the pairs of source and relation, each of which is propagated once.
	Queries  int64 `json:"queries"`
	Distinct int64 `json:"distinct"`
	// Candidates is the number of candidates of a query where the protocol draws them, 0 where all entities are ranked.
	Candidates int64 `json:"candidates,omitempty"`
	// Unreached is the number of queries whose answer no message reaches.
	Unreached int64 `json:"unreached"`
	metrics.Ranks
	// ByDistance divides the queries by the edges from source to answer, "1" and so on, or "unreached". Only the results of
	// TestProtocol have it, and of these the earliest do not.
	ByDistance map[string]Distance `json:"by_distance,omitempty"`
	// Messages is the number of messages that the distinct queries sent, and NBFNetMessages what NBFNet sends for them: distinct queries x
	// layers x edges of the graph, inverse ones included.
	Messages       int64 `json:"messages"`
	NBFNetMessages int64 `json:"nbfnet_messages"`
	// Seconds is the time of the whole command; 0 if it is not known.
	Seconds float64 `json:"seconds,omitempty"`
}

// Distance has the metrics of the queries whose answer is so many edges away.
type Distance struct {
	Queries     int64           `json:"queries"`
	Pessimistic metrics.Metrics `json:"pessimistic"`
}

// Run returns the name of the run, as RunName.
func (r Result) Run() string { return RunName(r.Experiment, r.Varied, r.Seed) }

// RunName returns the name of a training: the experiment, the varied flags sorted by name with their values, and the seed, as in
// fixed-delta-0-seed-1. Characters that the name of a run cannot have are left out.
func RunName(experiment string, varied map[string]string, seed int64) string {
	words := []string{experiment}
	for _, flag := range slices.Sorted(maps.Keys(varied)) {
		words = append(words, flag, varied[flag])
	}
	words = append(words, "seed", strconv.FormatInt(seed, 10))
	return notInNames.ReplaceAllString(strings.Join(words, "-"), "")
}

var notInNames = regexp.MustCompile(`[^A-Za-z0-9._-]`)

// Configure decodes the hyperparameters of the result into a configuration, such as a configuration.Configuration.
func (r Result) Configure(configuration any) error {
	return json.Unmarshal(r.Configuration, configuration)
}
