package study

import (
	"context"
	"flag"
	"fmt"
	"runtime"
	"strconv"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/names"
	"tagnet/formats/storage/lock"
	"tagnet/formats/workspace/counts"
	"tagnet/model/budget"
	"tagnet/model/graph/kg"
	"tagnet/model/pretrained"
	"tagnet/model/weights/configuration"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/workspace"
	"tagnet/stages/encode"
	"tagnet/stages/study"
)

// mostDelta is the largest delta of --deltas. A delta above the number of layers changes nothing.
const mostDelta = 100

type messagesFlags struct {
	split, layers, deltas, remove, model, kernel string
	layerList, deltaList                         []int
	reach                                        int
	memory                                       int64
}

// Messages is go run ./pipelines/messages.
func Messages() command.Pipeline {
	f := &messagesFlags{}
	return command.Pipeline{
		Name:    "messages",
		Summary: "Counts the messages that propagation sends for a split's queries, and how many truncation saves. Needs no model.",
		First:   "workspace run split model layers deltas reach force memory plan",
		Flags: func(set *flag.FlagSet) {
			command.Choice(set, &f.split, "split", "test", kg.Splits, "the split whose queries are counted")
			set.StringVar(&f.layers, "layers", "6", "`list` of numbers of layers, such as 5,6; each 1 to 14")
			set.StringVar(&f.deltas, "deltas", "0,1,2,3,4,5", "`list` of deltas, each 0 or more")
			command.Choice(set, &f.remove, "remove", "", []string{configuration.RemoveTriple, configuration.RemoveOneHop, configuration.RemoveNone},
				"edges to remove from the graph of a training query; default triple for --split train, else none")
			set.IntVar(&f.reach, "reach", 0, "most entities that a query propagates through, as that of train and score; edges with an end at another "+
				"entity count as empty; 0 or more, where 0 is all")
			set.StringVar(&f.model, "model", "", "best, last, an epoch's number, or the `path` of a checkpoint of A*Net (policy astar or window+astar), "+
				"whose choices are counted too")
			command.Kernel(set, &f.kernel, "kernels of the search, and of the model of --model")
			command.Memory(set, &f.memory)
		},
		Run: f.run,
	}
}

// settings are the flags that decide the content of messages/SPLIT.
type settings struct {
	Split  string `json:"split"`
	Layers []int  `json:"layers"`
	Deltas []int  `json:"deltas"`
	Remove string `json:"remove"`
	Reach  int    `json:"reach,omitempty"`
	// Checkpoint is the model's name, Weights the SHA-256 of its weights.
	Checkpoint string `json:"checkpoint,omitempty"`
	Weights    string `json:"weights,omitempty"`
}

// check returns an error of use for flags that refuse each other, and sets the default of --remove.
func (f *messagesFlags) check() error {
	if f.model != "" && f.split == "train" {
		return command.Usage("--split is train with --model: a model's choices are counted as at evaluation; give --split valid or test")
	}
	if f.reach < 0 {
		return command.FlagError("reach", f.reach, "0 or more")
	}
	if f.reach > 0 && f.model != "" {
		return command.Usage("--reach is not for A*Net, whose choices --model counts: leave one of them out")
	}
	// In training a query's own facts are removed by default.
	if f.remove == "" {
		f.remove = configuration.RemoveNone
		if f.split == "train" {
			f.remove = configuration.RemoveTriple
		}
	}
	if f.remove != configuration.RemoveNone && f.split != "train" {
		return command.FlagError("remove", f.remove, "none, unless --split is train: nothing is removed at evaluation")
	}
	if err := command.CheckKernel(f.kernel); err != nil {
		return err
	}
	var err error
	if f.layerList, err = command.Numbers("layers", f.layers, 1, configuration.MaxLayers); err != nil {
		return err
	}
	if f.deltaList, err = command.Numbers("deltas", f.deltas, 0, mostDelta); err != nil {
		return err
	}
	return command.CheckMemory(f.memory)
}

// run counts the messages of a split's queries and writes the table and summary.json.
func (f *messagesFlags) run(ctx context.Context, e *command.Environment) error {
	if err := f.check(); err != nil {
		return err
	}
	if err := e.NotEmpty("best, last, an epoch's number, or a path", "model"); err != nil {
		return err
	}
	w := e.Workspace
	loaded, inputs, err := w.OpenGraph(ctx)
	if err != nil {
		return err
	}
	queries, err := loaded.Queries(ctx, f.split)
	if err != nil {
		return err
	}
	if len(queries) == 0 {
		return command.NoQueries(f.split, "choose another --split")
	}
	// What decides the content; a checkpoint adds a table.
	decided := settings{Split: f.split, Layers: f.layerList, Deltas: f.deltaList, Remove: f.remove, Reach: f.reach}
	var model *study.Model
	if f.model != "" {
		if model, err = f.openModel(ctx, e, loaded, &decided); err != nil {
			return err
		}
	}
	sources, err := kg.SourcesOf(ctx, w.Graph(), f.split)
	if err != nil {
		return err
	}
	sizes, err := encode.SizesOf(ctx, loaded, f.split)
	if err != nil {
		return err
	}
	params, err := f.params(e, sizes, model, len(sources))
	if err != nil {
		return err
	}
	g := loaded.View(f.split).Graph
	perShard := params.SourcesPerShard(g.Entities, g.Edges())
	j := job{
		output: workspace.Output{
			Workspace: w, Name: "messages", Folder: w.MessagesFolder(f.split), Configuration: decided, Inputs: inputs, Vocabulary: loaded.Vocabulary,
			Command: e.Again(), Outputs: []string{counts.CountsTable + "/", counts.SummaryFile},
		},
		memory: f.memory, sources: int64(len(sources)), loads: messagesLoads(int64(len(sources)), int64(perShard), int64(params.RowsPerSource())),
		total: int64(len(sources)), unit: "sources", counter: "sources_counted", queries: int64(len(queries)),
		build: func(held lock.Lock) *beam.Pipeline {
			params.Lock = held
			return BuildMessages(sources, perShard, params)
		},
	}
	if model != nil { // propagating takes longer than counting
		j.output.Outputs = append(j.output.Outputs, counts.AStarTable+"/")
		s, err := counts.ReadDataset(ctx, w.Graph())
		if err != nil {
			return err
		}
		j.total, j.unit, j.counter = s.Distinct[f.split], "distinct queries", "queries_propagated"
	}
	made, err := j.run(ctx, e)
	if err != nil {
		return err
	}
	return f.finish(ctx, e, made)
}

// params returns the parameters of a count within --memory: it chooses the number of threads, and
// from how many sources each searches at once.
func (f *messagesFlags) params(e *command.Environment, sizes budget.Sizes, model *study.Model, sources int) (study.CountParams, error) {
	p := study.CountParams{
		Params: study.Params{Graph: e.Workspace.Graph(), Split: f.split, Folder: e.Workspace.Messages(f.split),
			Memory: f.memory * budget.MiB, Kernel: e.Variant(f.kernel)},
		Layers: f.layerList, Deltas: f.deltaList, Remove: f.remove, Reach: f.reach, Model: model,
	}
	sizes.Sources = int64(sources)
	rows := budget.Shards * int64(p.RowsPerSource()) * min(sizes.Sources, int64(p.SourcesPerShard(int(sizes.Entities), sizes.Edges)))
	estimate := func(words int) budget.Estimate {
		e := budget.Search(sizes, "counting messages on this graph", words, f.reach, rows)
		if model != nil {
			choosing := budget.ForModel(sizes, model.Configuration, budget.Use{})
			e.Held, e.Thread = max(e.Held, choosing.Held), e.Thread+choosing.Thread
		}
		return e
	}
	p.Words = budget.Widest(estimate, p.Memory, runtime.GOMAXPROCS(0))
	a, err := e.Allot(estimate(p.Words), f.memory, 0)
	if err != nil {
		return p, err
	}
	p.Threads = a.MaxThreads
	return p, nil
}

// openModel opens the checkpoint of a model of A*Net and records it in the settings.
func (f *messagesFlags) openModel(ctx context.Context, e *command.Environment, loaded *kg.KG, decided *settings) (*study.Model, error) {
	if !command.NamesCheckpoint(f.model) || (pretrained.Ref{Name: f.model}).IsPyTorch() {
		return nil, command.FlagError("model", strconv.Quote(f.model), "a checkpoint of A*Net: best, last, an epoch's number, or the path of its file")
	}
	m, err := e.OpenCheckpoint(ctx, f.model, loaded)
	if err != nil {
		return nil, err
	}
	record := m.Record
	if !record.Configuration.Prioritized() {
		return nil,
			fmt.Errorf("--model %s has policy %s: only policies astar and window+astar choose edges; messages of the others are counted without --model",
				f.model, record.Configuration.Policy)
	}
	if len(m.KG.Unknown) > 0 {
		return nil, fmt.Errorf("--model %s: the model does not know %d of the graph's relations (%s), and messages are counted along the edges of all: "+
			"train on this graph first", f.model, len(m.KG.Unknown), names.First(m.KG.Unknown, 3))
	}
	folder, err := e.Reachable("model", string(m.Folder))
	if err != nil {
		return nil, err
	}
	decided.Checkpoint, decided.Weights = record.Name(), record.Weights.SHA256
	return &study.Model{Checkpoints: folder, Checkpoint: record.Name(), Configuration: record.Configuration}, nil
}

// messagesLoads returns the input of the step that counts. A row takes about 4 bytes on WN18RR_v1.
func messagesLoads(sources, perShard, rowsPerSource int64) []command.Load {
	const bytesPerRow = 4
	return []command.Load{{
		Step: "study.count", Elements: sources, Unit: "sources", Parts: (sources + perShard - 1) / perShard,
		Bytes: bytesPerRow * sources * rowsPerSource,
	}}
}

// BuildMessages returns the Beam pipeline that counts the messages of queries from sources, in increasing
// order, with perShard of them in each part of a table.
func BuildMessages(sources []int32, perShard int, p study.CountParams) *beam.Pipeline {
	pipeline, s := beam.NewPipelineWithRoot()
	study.Count(s, beam.CreateList(s, study.Shards(sources, perShard)), p)
	return pipeline
}
