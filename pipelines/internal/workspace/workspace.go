package workspace

import (
	"strings"

	"tagnet/formats/storage"
	"tagnet/model/checkpoint"
	"tagnet/model/kg"
)

// Default is where a pipeline works unless --workspace says otherwise.
const Default = "./workspace"

// Splits are the names that --split takes, in the order of training.
var Splits = []string{"train", "valid", "test"}

// Workspace is a local folder or a gs:// prefix below which every pipeline reads and writes.
type Workspace struct{ root string }

// New is the workspace at a path or URL.
func New(root string) Workspace { return Workspace{root} }

// Root is the path or URL as the user gave it.
func (w Workspace) Root() string { return w.root }

// Path is the URL of a folder or file, given by its path below the workspace.
func (w Workspace) Path(elements ...string) string { return storage.Join(w.root, elements...) }

// Graph holds the tables that preprocess writes.
func (w Workspace) Graph() string { return w.Path(GraphFolder) }

// Distances holds the search tables of a split.
func (w Workspace) Distances(split string) string { return w.Path(DistancesFolder(split)) }

// Checkpoints holds what train saves.
func (w Workspace) Checkpoints() string { return w.Path(checkpoint.FolderName) }

// TrainingLog is the file with a line per epoch.
func (w Workspace) TrainingLog() string { return w.Path("training.jsonl") }

// Evaluation holds ranks and predictions of a split.
func (w Workspace) Evaluation(split string) string { return w.Path(EvaluationFolder(split)) }

// Messages holds the message counts of a split.
func (w Workspace) Messages(split string) string { return w.Path(MessagesFolder(split)) }

// Analysis holds what analyze says about the data set.
func (w Workspace) Analysis() string { return w.Path(AnalysisFolder) }

// Report holds the page.
func (w Workspace) Report() string { return w.Path("report") }

// GraphFolder is the graph's folder below the workspace, the key of Manifest.Inputs.
const GraphFolder = kg.Folder

// AnalysisFolder is the analysis of the data set below the workspace.
const AnalysisFolder = "analysis"

// DistancesFolder is a split's search tables below the workspace.
func DistancesFolder(split string) string { return "distances/" + split }

// EvaluationFolder is a split's evaluation below the workspace.
func EvaluationFolder(split string) string { return "evaluation/" + split }

// MessagesFolder is a split's message counts below the workspace.
func MessagesFolder(split string) string { return "messages/" + split }

// Command returns a command line, go run ./pipelines/NAME with flags, as the user would type it:
// with the program that this process belongs to, and with --workspace unless it is the default.
func (w Workspace) Command(command string) string {
	rest, found := strings.CutPrefix(command, "go run ./pipelines/")
	if !found {
		return command
	}
	name, flags, _ := strings.Cut(rest, " ")
	line := program(startedAs, name)
	if w.root != Default && !strings.Contains(command, "--workspace") {
		line += " --workspace " + Quote(w.root)
	}
	if flags != "" {
		line += " " + flags
	}
	return line
}

// Quote returns a text as one word for a shell.
func Quote(text string) string {
	if text == "" || strings.ContainsAny(text, " \t\n'\"$&;()<>|*?[]{}#~\\`!") {
		return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
	}
	return text
}
