package messages

import (
	"context"
	"flag"
	"fmt"
	"strconv"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/storage"
	"tagnet/model/configuration"
	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/workspace"
	"tagnet/stages/distance"
	"tagnet/stages/graph"
	"tagnet/stages/messages"
)

// mostDelta bounds --deltas: beyond the number of layers a delta changes nothing.
const mostDelta = 100

type flags struct {
	split, layers, deltas, remove string
	layerList, deltaList          []int
}

// Pipeline is go run ./pipelines/messages.
func Pipeline() command.Pipeline {
	f := &flags{}
	return command.Pipeline{
		Name:    "messages",
		Summary: "Counts the messages that propagation sends for a split's queries, and how many truncation saves. Needs no model.",
		Flags: func(set *flag.FlagSet) {
			set.StringVar(&f.split, "split", "test", "`train|valid|test`: whose queries are asked")
			set.StringVar(&f.layers, "layers", "6", "`list` of numbers of layers, such as 5,6; each 1 to 14")
			set.StringVar(&f.deltas, "deltas", "0,1,2,3,4,5", "`list` of deltas, each 0 or more")
			set.StringVar(&f.remove, "remove", "", "`triple|one_hop|none`: what leaves the graph of a training query; default triple for --split train, none else")
		},
		Run: f.run,
	}
}

// settings decides the content of messages/SPLIT.
type settings struct {
	Split  string `json:"split"`
	Layers []int  `json:"layers"`
	Deltas []int  `json:"deltas"`
	Remove string `json:"remove"`
}

func (f *flags) check() error {
	if err := command.OneOf("split", f.split, workspace.Splits...); err != nil {
		return err
	}
	if f.remove == "" {
		f.remove = configuration.RemoveNone
		if f.split == "train" {
			f.remove = configuration.RemoveTriple
		}
	}
	if err := command.OneOf("remove", f.remove, configuration.RemoveTriple, configuration.RemoveOneHop, configuration.RemoveNone); err != nil {
		return err
	}
	if f.remove != configuration.RemoveNone && f.split != "train" {
		return command.FlagError("remove", f.remove, "none, unless --split is train: nothing is removed at evaluation")
	}
	var err error
	if f.layerList, err = list("layers", f.layers, 1, configuration.MaxLayers); err != nil {
		return err
	}
	f.deltaList, err = list("deltas", f.deltas, 0, mostDelta)
	return err
}

// list parses a flag's comma-separated numbers.
func list(name, text string, least, most int) ([]int, error) {
	var numbers []int
	for word := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || n < least || n > most {
			return nil, command.FlagError(name, fmt.Sprintf("%q", text), fmt.Sprintf("numbers from %d to %d, separated by commas", least, most))
		}
		for _, before := range numbers {
			if before == n {
				return nil, command.FlagError(name, fmt.Sprintf("%q", text), fmt.Sprintf("each number once, but %d stands twice", n))
			}
		}
		numbers = append(numbers, n)
	}
	return numbers, nil
}

func (f *flags) run(ctx context.Context, e *command.Environment) error {
	if err := f.check(); err != nil {
		return err
	}
	w := e.Workspace
	if _, err := w.Require(ctx, workspace.GraphFolder, "go run ./pipelines/preprocess"); err != nil {
		return err
	}
	inputs, err := w.Inputs(ctx, workspace.GraphFolder)
	if err != nil {
		return err
	}
	loaded, err := graph.Load(w.Graph())
	if err != nil {
		return err
	}
	queries, err := loaded.Queries(ctx, f.split)
	if err != nil {
		return err
	}
	if len(queries) == 0 {
		return fmt.Errorf("--split %s has no queries: %s is empty; put facts into the dataset's %s.txt and preprocess again", f.split, storage.Join(w.Graph(), graph.QueriesFile(f.split)), f.split)
	}
	stage := workspace.Stage{
		Workspace: w, Name: "messages", Folder: workspace.MessagesFolder(f.split),
		Configuration: settings{f.split, f.layerList, f.deltaList, f.remove}, Inputs: inputs, Vocabulary: loaded.Vocabulary,
		Command: fmt.Sprintf("go run ./pipelines/messages --split %s --layers %s --deltas %s", f.split, f.layers, f.deltas),
	}
	done, err := stage.Begin(ctx, e.Force)
	if err != nil {
		return err
	}
	if done {
		e.Say("%s is complete with the same configuration; --force makes it anew", w.Messages(f.split))
		return f.finish(ctx, e)
	}
	sources := distance.Sources(queries)
	if err := f.count(ctx, e, sources, loaded.Of(f.split).Graph.Entities); err != nil {
		stage.Abandon()
		return err
	}
	if err := stage.Publish(ctx, map[string]int64{"sources": int64(len(sources)), "queries": int64(len(queries))}); err != nil {
		return err
	}
	return f.finish(ctx, e)
}

// count runs the Beam pipeline.
func (f *flags) count(ctx context.Context, e *command.Environment, sources []int32, entities int) error {
	p, err := Build(sources, entities, messages.CountParams{
		Graph: e.Workspace.Graph(), Split: f.split, Layers: f.layerList, Deltas: f.deltaList,
		Remove: f.remove, Folder: e.Workspace.Messages(f.split),
	})
	if err != nil {
		return err
	}
	bar := e.Progress.Begin("messages", int64(len(sources)), "sources")
	defer bar.End()
	defer bar.Follow(ctx, "sources_counted")()
	if _, err := e.RunBeam(ctx, p); err != nil {
		return err
	}
	bar.Set(int64(len(sources)))
	return nil
}

// Build makes the Beam pipeline that counts for sources in increasing order.
func Build(sources []int32, entities int, p messages.CountParams) (*beam.Pipeline, error) {
	elements, err := distance.EncodeShards(distance.Cut(sources, entities))
	if err != nil {
		return nil, err
	}
	pipeline, s := beam.NewPipelineWithRoot()
	messages.Count(s, beam.CreateList(s, elements), p)
	return pipeline, nil
}
