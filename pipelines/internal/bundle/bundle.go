package bundle

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/storage"
	"tagnet/formats/workspace/manifest"
	"tagnet/formats/workspace/tables"
	"tagnet/model/budget"
	"tagnet/model/engine/parts"
	"tagnet/model/graph/kg"
	"tagnet/model/weights/configuration"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/workspace"
	"tagnet/stages/bundle"
	"tagnet/stages/encode"
	"tagnet/stages/worker"
)

// work lists the files of a folder and how many of them a pipeline makes.
type work struct {
	params bundle.Params
	files  []bundle.File
	// left are the files that are not written yet.
	left []bundle.File
	// perWave is how many files one pipeline makes. fits returns how many the budget allows if the elements of a part
	// take a number of bytes; nil where the elements are in other processes.
	perWave int
	fits    func(bytes int64) int
}

// count returns the number of parts of files.
func count(files []bundle.File) (parts int64) {
	for _, f := range files {
		parts += int64(f.Parts)
	}
	return parts
}

// settings decide the content of bundles/NAME.
type settings struct {
	Split  string       `json:"split"`
	Reach  int          `json:"reach"`
	Layers int          `json:"layers"`
	Remove string       `json:"remove"`
	Drawn  *parts.Drawn `json:"drawn,omitempty"`
	Limit  int64        `json:"limit,omitempty"`
}

// run finds the parts for the queries of a split and writes them into bundles/.
func (f *flags) run(ctx context.Context, e *command.Environment) error {
	if err := f.check(e); err != nil {
		return err
	}
	w := e.Workspace
	m, err := w.Require(ctx, workspace.GraphFolder, w.Command("preprocess"))
	if err != nil {
		return err
	}
	if err := kg.Check(ctx, w.Graph(), m); err != nil { // the graph is not loaded
		return err
	}
	inputs := map[string]string{workspace.GraphFolder: m.Checksum}
	// The parts that an interrupted run has written are kept.
	found, err := f.cutQueries(ctx, e, m)
	if err != nil {
		return err
	}
	h := found.params.Header
	stage := &workspace.Output{
		Workspace: w, Name: "bundle", Folder: workspace.BundlesFolder(parts.Name(h.Split, h.Reach, h.Layers)),
		Configuration: settings{h.Split, h.Reach, h.Layers, h.Remove, h.Drawn, h.Limit}, Inputs: inputs, Vocabulary: m.Vocabulary,
		Command: e.Again(), Outputs: []string{parts.HeaderFile()}, Resumed: true,
	}
	stage.Ready = f.ready(e, found)
	// Finding takes several pipelines, each of some files.
	done, err := found.begin(ctx, e, stage)
	if err != nil {
		return err
	}
	if done {
		e.Say("%s is complete with the same configuration; --force overwrites it", found.params.Folder)
		return f.finish(ctx, e, found, false)
	}
	found.params.Lock = stage.Lock()
	err = command.FillFolder(ctx, stage, func() (map[string]int64, error) {
		return map[string]int64{"parts": count(found.files)}, found.find(ctx, e)
	})
	if err != nil {
		return err
	}
	return f.finish(ctx, e, found, true)
}

// cutQueries reads the queries and divides them into files.
func (f *flags) cutQueries(ctx context.Context, e *command.Environment, m manifest.Manifest) (*work, error) {
	w := e.Workspace
	h, err := f.header(ctx, e, m)
	if err != nil {
		return nil, err
	}
	files, err := bundle.Cut(ctx, h, storage.Join(w.Graph(), kg.QueriesFile(f.split)))
	if err != nil {
		return nil, err
	}
	found := &work{params: bundle.Params{
		Graph: w.Graph(), Answers: kg.AnswersFileOf(m, f.split), Header: h, Memory: f.memory * budget.MiB,
		Folder: w.Path(workspace.BundlesFolder(parts.Name(h.Split, h.Reach, h.Layers))),
	}, files: files, left: files}
	for _, file := range kg.EdgeFiles(m, f.split) {
		found.params.Edges = append(found.params.Edges, file.Name)
	}
	sizes, err := encode.Sizes(ctx, w.Graph(), m, f.split)
	if err != nil {
		return nil, err
	}
	return found, f.divide(e, found, sizes)
}

// header returns the header of the folder without Firsts and Degrees, which are added with its files.
func (f *flags) header(ctx context.Context, e *command.Environment, m manifest.Manifest) (parts.Header, error) {
	c, entities := f.configuration, kg.EntitiesOf(m, f.split)
	h := parts.Header{
		FormatVersion: parts.FormatVersion, Split: f.split, Reach: c.Reach, Layers: c.Layers, Remove: configuration.RemoveNone,
		Entities: entities, Vocabulary: m.Vocabulary, Graph: m.Checksum, Drawn: f.drawn(e.Seed),
	}
	if c.Reach >= entities {
		return h, command.Usage("--reach is %d, and the graph has %d entities: each part would be the graph; give less", c.Reach, entities)
	}
	relations, err := tables.CountNames(ctx, storage.Join(e.Workspace.Graph(), kg.RelationsFile), tables.Relations)
	if err != nil {
		return h, err
	}
	h.BaseRelations = int(relations)
	if h.Queries, err = kg.CountQueries(ctx, e.Workspace.Graph(), f.split); err != nil {
		return h, err
	}
	if h.Queries == 0 {
		return h, command.NoQueries(f.split, "choose another --split")
	}
	if f.split == parts.Train {
		h.Remove = c.Remove
	}
	if f.limit < h.Queries {
		h.Limit = f.limit
	}
	return h, nil
}

// divide chooses the threads, and how many files a pipeline makes: as many as --memory allows where this process has
// what its searches send.
func (f *flags) divide(e *command.Environment, found *work, sizes budget.Sizes) error {
	perFile := int64(found.files[0].Parts)
	estimate, guess := budget.Parts(sizes, f.configuration, perFile, int64(len(found.params.Edges)))
	allotment, err := e.Allot(estimate, f.memory, 0)
	if err != nil {
		return err
	}
	found.params.Threads = allotment.MaxThreads
	if found.perWave = max(1, int(wave/perFile)); !command.Local() {
		return nil
	}
	found.fits = func(bytes int64) int { return allotment.Waves(perFile, guess, bytes) }
	found.perWave = found.fits(guess)
	return nil
}

// wave is how many parts one pipeline finds on a cluster. A run that is killed loses as many.
const wave = 1 << 14

// find runs a pipeline for every wave of files that are not written.
func (found *work) find(ctx context.Context, e *command.Environment) error {
	defer budget.Limit(found.params.Memory)()
	rounds := int64(parts.Rounds(found.params.Header.Layers))
	bar := e.Progress.Begin("bundle", count(found.left)*rounds, "rounds of a search")
	defer bar.End()
	done, before := int64(0), worker.Counted(bundle.ElementBytes)
	for left := found.left; len(left) > 0; {
		files := left[:min(found.perWave, len(left))]
		left = left[len(files):]
		stop := bar.FollowFrom(ctx, "search_rounds", done)
		err := e.RunBeam(ctx, Build(files, found.params))
		stop()
		if err != nil {
			return err
		}
		done += count(files) * rounds
		bar.Set(done)
		found.adapt(worker.Counted(bundle.ElementBytes)-before, done/rounds)
	}
	return nil
}

// adapt chooses the number of files of the next pipeline by the bytes that parts have taken: an estimate before the
// first would be far off.
func (found *work) adapt(bytes, parts int64) {
	const margin = 2 // later parts may be larger
	if found.fits != nil && bytes > 0 {
		found.perWave = found.fits(margin * bytes / parts)
	}
}

// Build returns the Beam pipeline that finds the parts of files and writes the files.
func Build(files []bundle.File, p bundle.Params) *beam.Pipeline {
	pipeline, s := beam.NewPipelineWithRoot()
	bundle.Find(s, beam.CreateList(s, files), p)
	return pipeline
}
