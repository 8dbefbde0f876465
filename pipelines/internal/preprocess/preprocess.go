package preprocess

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/input/datasets"
	"tagnet/formats/input/facts"
	"tagnet/formats/input/triples"
	"tagnet/formats/storage"
	"tagnet/formats/storage/externalsort"
	"tagnet/formats/storage/lock"
	"tagnet/formats/workspace/counts"
	"tagnet/model/budget"
	"tagnet/model/graph/kg"
	"tagnet/model/graph/synthetic"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/workspace"
	"tagnet/stages/encode"
)

// The values of --on_bad_line.
const (
	fail   = "fail"
	reject = "reject"
)

type flags struct {
	dataset, inference         string
	onBadLine                  string
	types, typeRelation        string
	format                     facts.Format
	header, columnList, split  string
	entityNames, relationNames string
	inferenceOnly              bool
	validateOn                 string
	memory                     int64

	made    synthetic.Sample // the made-up graph, if it is one
	isMade  bool
	columns []string   // of columnList
	shares  [3]float64 // of split
	seed    int64
}

// The values of --header.
const (
	auto = "auto"
	yes  = "yes"
	no   = "no"
)

// Pipeline is go run ./pipelines/preprocess.
func Pipeline() command.Pipeline {
	f := &flags{}
	return command.Pipeline{
		Name: "preprocess",
		Summary: "Turns facts (train.txt, valid.txt, test.txt: head, relation, tail, tab-separated; or CSV, JSON lines, N-Triples, Turtle, Parquet, " +
			"OpenKE) into the tables of a knowledge graph.",
		First: "workspace dataset format columns header inference types type_relation split on_bad_line force plan",
		Flags: func(set *flag.FlagSet) {
			set.StringVar(&f.dataset, "dataset", "",
				"`folder|file|name`: the facts, or the name of a dataset; several files with commas between them, as a.tsv,b.csv; without it the first of "+
					"the made-up graphs "+strings.Join(synthetic.SampleNames(), ", "))
			set.StringVar(&f.inference, "inference", "",
				"`folder|file|name`: the inference graph; its test.txt then gives the test queries (inductive setting)")
			command.Choice(set, &f.validateOn, "validate_on", "", []string{triples.Training, triples.Inference},
				"the graph whose valid.txt gives the validation queries; by default the training graph, or of one folder with two graphs the one that has it")
			set.BoolVar(&f.inferenceOnly, "inference_only", false,
				"of a folder with the files of two graphs, such as InGram's, read the inference graph alone, for a model that answers on any graph")
			command.Choice(set, &f.onBadLine, "on_bad_line", fail, []string{fail, reject},
				"stop at a line that is not a fact, or whose relation is in no training fact; or write it to graph/rejects.tsv and continue")
			command.Choice(set, &f.format, "format", "", facts.Formats, "the format of the files; by default that of a file's ending and first line")
			set.StringVar(&f.columnList, "columns", "",
				"`head,relation,tail`: names or positions, from 1, of these columns in TSV, CSV, JSON lines or Parquet; names are those of a header")
			command.Choice(set, &f.header, "header", auto, []string{auto, yes, no},
				"whether the first line of TSV or CSV names the columns; auto takes one of usual names, and stops at another that looks like one")
			set.StringVar(&f.split, "split", "", "`80,10,10`: divide one file into training, validation and test facts, in these shares, by --seed")
			set.StringVar(&f.entityNames, "entity_names", "",
				"`file` with lines of an id and its name, or such columns by their names: entities in the facts are ids")
			set.StringVar(&f.relationNames, "relation_names", "", "`file` with lines of an id and its name: relations in the facts are ids")
			set.StringVar(&f.types, "types", "",
				"`file` with the types of entities: lines of entity and type, or such columns by their names; an entity may have several")
			set.StringVar(&f.typeRelation, "type_relation", "",
				"`name` of the relation, such as is_a or rdf:type, whose facts give the types of their heads; they remain facts")
			command.Memory(set, &f.memory)
		},
		Run: f.run,
	}
}

// configuration decides the content of graph/: the texts, by their hashes, and what happens to bad
// lines. The location of the texts does not matter.
type configuration struct {
	Files     map[string]string `json:"files"`
	OnBadLine string            `json:"on_bad_line"`
	// TypeRelation is the value of --type_relation.
	TypeRelation string `json:"type_relation,omitempty"`
	// Formats has the formats of the files that are not tab-separated text; Header, Columns and Split are the flags,
	// and Seed draws the split of Split.
	Formats string `json:"formats,omitempty"`
	Header  string `json:"header,omitempty"`
	Columns string `json:"columns,omitempty"`
	Split   string `json:"split,omitempty"`
	// ValidateOn is triples.Inference if the validation queries are about that graph.
	ValidateOn string `json:"validate_on,omitempty"`
	Seed       int64  `json:"seed,omitempty"`
}

// run reads the dataset, writes graph/ and describes it.
func (f *flags) run(ctx context.Context, e *command.Environment) error {
	err := cmp.Or(e.NotEmpty("a folder, or a dataset's name", "dataset", "inference"),
		e.NotEmpty("a file", "types", "entity_names", "relation_names"), e.NotEmpty("a relation", "type_relation"))
	if err != nil {
		return err
	}
	f.made, f.isMade = synthetic.SampleNamed(cmp.Or(f.dataset, synthetic.SampleNames()[0]))
	if err := f.check(e); err != nil {
		return err
	}
	if err := command.CheckMemory(f.memory); err != nil {
		return err
	}
	// The number of names is not known yet; this much is needed for any.
	if _, err := e.Allot(budget.Preprocess(0), f.memory, 0); err != nil {
		return err
	}
	// The hashes of the files are part of the configuration.
	source, err := f.find(ctx, e)
	if err != nil {
		return err
	}
	stage := workspace.Output{
		Workspace: e.Workspace, Name: "preprocess", Folder: workspace.GraphFolder, Configuration: f.configuration(source), Command: e.Again(), Exchanged: true,
		Outputs: outputs(source, f.typed()),
	}
	if f.isMade {
		stage.WrittenOutside = []string{e.Workspace.Path(f.made.Name)}
	}
	stage.Ready = e.Ready(command.Work{Jobs: func() ([]*beam.Pipeline, error) {
		return []*beam.Pipeline{f.pipeline(e.Workspace.Graph(), source, lock.Lock{})}, nil
	}, Memory: f.memory, Count: source.rows(), Unit: "rows", Loads: source.loads()})
	made, err := e.MakeFolder(ctx, &stage, func() (counts map[string]int64, err error) {
		if source, err = f.write(ctx, e, stage.URL(), source, stage.Lock()); err != nil {
			return nil, err
		}
		stage.Outputs = outputs(source, f.typed())
		if err := f.complete(ctx, stage.URL(), source, stage.Lock()); err != nil {
			return nil, err
		}
		counts, stage.Vocabulary, err = rows(ctx, stage.URL())
		return counts, err
	})
	switch {
	case err != nil:
		return f.explain(ctx, e, source, err)
	case !made:
		e.Say("%s is complete with the same data; --force overwrites it", e.Workspace.Graph())
	}
	return f.finish(ctx, e, source, made)
}

// configuration returns the files and flags that decide the content of graph/.
func (f *flags) configuration(source dataset) configuration {
	c := configuration{
		Files: source.hashes(), OnBadLine: f.onBadLine, TypeRelation: f.typeRelation, Formats: source.formats(), Columns: f.columnList, Split: f.split,
	}
	if f.header == yes || f.headers(source) > 0 {
		c.Header = f.header
	}
	if f.split != "" {
		c.Seed = f.seed
	}
	if source.validOnInference {
		c.ValidateOn = triples.Inference
	}
	return c
}

// find locates and hashes the files of the dataset or of a made-up graph.
func (f *flags) find(ctx context.Context, e *command.Environment) (dataset, error) {
	if f.isMade {
		return f.findMade(ctx, e)
	}
	training, err := resolve(ctx, e, "dataset", f.dataset)
	if err != nil {
		return dataset{}, err
	}
	var inference []string
	if f.inference != "" {
		if inference, err = resolve(ctx, e, "inference", f.inference); err != nil {
			return dataset{}, err
		}
	}
	source, err := f.openDataset(ctx, bases(training), training, bases(inference), inference)
	if err == nil {
		err = f.checkHeaders(ctx, &source)
	}
	if err != nil || f.types == "" {
		return source, err
	}
	source.types, err = openTypes(ctx, f.types, f.onBadLine == fail)
	return source, err
}

// findMade hashes a made-up graph. It generates it in memory, because nothing is written if graph/
// holds another dataset.
func (f *flags) findMade(ctx context.Context, e *command.Environment) (dataset, error) {
	begin := "--dataset " + f.made.Name
	if f.dataset == "" {
		begin = "no --dataset"
	}
	kept := e.Workspace.Path(f.made.Name)
	e.Say("%s: using the built-in sample, %s, whose rules are known (%s)", begin, f.made.Description, kept)
	e.Say("true facts that it lacks, to check new facts: %s", storage.Join(kept, synthetic.MissingFile))
	folder := fmt.Sprintf("mem://%s-%d", f.made.Name, e.Seed)
	defer storage.RemoveAll(context.WithoutCancel(ctx), folder)
	return f.makeSample(ctx, folder)
}

// makeSample writes the made-up graph into a folder and opens it.
func (f *flags) makeSample(ctx context.Context, folder string) (source dataset, err error) {
	if err := storage.CheckWritable(ctx, folder); err != nil {
		return dataset{}, err
	}
	if err := f.made.Write(ctx, folder, f.seed); err != nil {
		return dataset{}, err
	}
	source, err = (&flags{header: no}).openDataset(ctx, f.made.Name, []string{folder}, "", nil)
	if err != nil || !f.made.Typed() {
		return source, err
	}
	f.types = storage.Join(folder, synthetic.TypesFile)
	source.types, err = openTypes(ctx, f.types, true)
	source.unread = slices.DeleteFunc(source.unread, func(name string) bool { return name == synthetic.TypesFile })
	return source, err
}

// bases returns the names of files without their folders.
func bases(urls []string) string {
	var names []string
	for _, url := range urls {
		names = append(names, storage.Base(url))
	}
	return shortList(names)
}

// resolve returns the folder, or the files, that a flag names.
func resolve(ctx context.Context, e *command.Environment, flag, value string) ([]string, error) {
	names, err := listed(ctx, flag, value)
	if err != nil {
		return nil, err
	}
	for i, name := range names {
		if names[i], err = resolveOne(ctx, e, flag, name); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// listed returns the names in the list of a flag. What exists is one name, even with a comma in it. A list has files,
// or folders that are one table each.
func listed(ctx context.Context, flag, value string) ([]string, error) {
	there, err := exists(ctx, value)
	if err != nil || there || !strings.Contains(value, ",") {
		return []string{value}, err
	}
	names := strings.Split(value, ",")
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return nil, command.Usage("--%s names %q twice", flag, name)
		}
		there, err := exists(ctx, name)
		if err != nil {
			return nil, err
		}
		if !there {
			return nil, command.Usage("--%s: no file %q, of the list %s", flag, name, value)
		}
	}
	return names, nil
}

// resolveOne returns the folder or file of a name.
func resolveOne(ctx context.Context, e *command.Environment, flag, name string) (string, error) {
	folder, err := datasets.Resolve(ctx, name)
	if errors.Is(err, datasets.ErrUnknown) {
		return "", command.Usage("--%s: %v", flag, err)
	}
	if err != nil {
		return "", fmt.Errorf("--%s: %w", flag, err)
	}
	return e.Reachable(flag, folder)
}

// write converts files where it has to and runs the Beam pipeline, which makes a folder of tables. It returns the
// dataset as the pipeline read it.
func (f *flags) write(ctx context.Context, e *command.Environment, folder string, source dataset, held lock.Lock) (dataset, error) {
	ctx = held.Guard(ctx)
	defer encode.ForgetIDs()
	defer externalsort.Forget()
	defer budget.Limit(f.memory * budget.MiB)()
	if f.isMade {
		var err error
		if source, err = f.makeSample(ctx, e.Workspace.Path(f.made.Name)); err != nil {
			return source, err
		}
	}
	source, err := f.convert(ctx, e, folder, source, held)
	if err != nil {
		return source, err
	}
	return source, f.runJob(ctx, e, folder, source, held)
}

// runJob runs the Beam pipeline that makes a folder of tables.
func (f *flags) runJob(ctx context.Context, e *command.Environment, folder string, source dataset, held lock.Lock) error {
	bar := e.Progress.Begin("preprocess", source.rows(), "rows")
	defer bar.End()
	defer bar.Follow(ctx, encode.RowsCounter)()
	err := e.RunBeam(ctx, f.pipeline(folder, source, held))
	if err == nil {
		bar.Set(source.rows())
		return nil
	}
	// Too many names for --memory are a mistake in the flags; a worker returns the text of its error only.
	names, counting := kg.CountNames(ctx, folder)
	if counting != nil {
		return err
	}
	if _, small := e.Allot(budget.Preprocess(names), f.memory, 0); small != nil {
		return small
	}
	return err
}

// pipeline returns the Beam pipeline that makes a folder of tables from a dataset.
func (f *flags) pipeline(folder string, source dataset, held lock.Lock) *beam.Pipeline {
	return Build(encode.WriteParams{
		Chunks: source.chunks(), Rejects: source.rejects, Strict: f.onBadLine == fail,
		Folder: folder, Lock: held, Inductive: source.inductive, ValidOnInference: source.validOnInference,
		Dataset: source.name, InferenceDataset: source.inferenceName,
		EdgeShards: source.edgeShards(), Memory: f.memory * budget.MiB,
	})
}

// outputs lists the files that make graph/ complete; typed says that entities have types.
func outputs(source dataset, typed bool) []string {
	files := append([]string{counts.SummaryFile, kg.EntitiesFile, kg.RelationsFile}, kg.TableFiles(source.inductive, source.edgeShards())...)
	if typed {
		files = append(files, kg.TypesFile)
	}
	if source.inductive {
		files = append(files, kg.InferenceEntitiesFile)
	}
	if source.inductive && typed {
		files = append(files, kg.InferenceTypesFile)
	}
	return files
}

// rows returns the numbers of rows for the manifest of graph/, and the hash of its names.
func rows(ctx context.Context, folder string) (rows map[string]int64, vocabulary string, err error) {
	s, err := counts.ReadDataset(ctx, folder)
	if err != nil {
		return nil, "", err
	}
	if vocabulary, err = kg.HashNames(ctx, folder, s.Entities, s.Relations); err != nil {
		return nil, "", err
	}
	rows = map[string]int64{
		"entities": s.Entities, "relations": s.Relations, "facts": s.Facts, "edges": s.Edges, "rejected": s.Rejected,
	}
	for _, split := range kg.Splits {
		rows[workspace.QueryRows(split)] = s.Queries[split]
	}
	if s.InferenceGraph != nil {
		rows["inference_entities"], rows["inference_edges"] = s.InferenceGraph.Entities, s.InferenceGraph.Edges
	}
	if s.ValidOnInference {
		rows[kg.InferenceValidRows] = s.Queries["valid"]
	}
	return rows, vocabulary, nil
}

// finish describes the graph, lists the outputs and suggests what to run next.
func (f *flags) finish(ctx context.Context, e *command.Environment, source dataset, made bool) error {
	s, err := counts.ReadDataset(ctx, e.Workspace.Graph())
	if err != nil {
		return err
	}
	if err := f.describe(ctx, e, s, source); err != nil {
		return err
	}
	e.Outputs(made, e.Workspace.Graph(), storage.Join(e.Workspace.Graph(), counts.SummaryFile))
	if s.Rejected > 0 {
		e.Outputs(made, storage.Join(e.Workspace.Graph(), kg.RejectsFile))
	}
	if !source.inductive {
		at := slices.IndexFunc(datasets.Catalog(), func(d datasets.Entry) bool { return d.Name == source.name && d.Inference != "" })
		if at >= 0 {
			e.Say("%s is made for the inductive setting; --inference %s adds its inference graph", source.name, datasets.Catalog()[at].Inference)
		}
	}
	if w := e.Workspace; !w.Complete(ctx, w.CheckpointsFolder()) && !w.Complete(ctx, w.EvaluationFolder("test")) {
		e.Next(w.ListStep(ctx)) // by the foundation model
	}
	e.NextSteps(ctx, e.TrainStep())
	return nil
}
