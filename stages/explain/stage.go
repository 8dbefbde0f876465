package explain

import (
	"bytes"
	"context"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/lock"
	"tagnet/formats/names"
	"tagnet/formats/parquet"
	"tagnet/formats/storage"
	"tagnet/model/budget"
	"tagnet/model/evaluation"
	"tagnet/stages/discover"
	"tagnet/stages/evaluate"
	"tagnet/stages/worker"
)

func init() {
	beam.RegisterDoFn(&listFn{})
	beam.RegisterDoFn(&explainFn{})
	beam.RegisterDoFn(&textFn{})
	beam.RegisterFunction(sum)
}

// AnswersCounter names the counter of the answers that are explained.
const AnswersCounter = "explained_answers"

var explainedAnswers = worker.NewCounter("explain", AnswersCounter)

// The names of the outputs.
const (
	Table = "explanations"     // a folder of parts
	Text  = "explanations.tsv" // the same for reading
)

// Params are the parameters of Explain.
type Params struct {
	// Graph is the URL of the graph's folder, Split that whose graph was queried. Required.
	Graph, Split string
	// Without are base relations whose facts are left out; see kg.KG.Without.
	Without []string `json:",omitempty"`
	// Checkpoints is the URL of the folder of checkpoints, Checkpoint the name of one. Required.
	Checkpoints, Checkpoint string
	// RelationGraph is the folder of the relation graph, where the model needs one.
	RelationGraph string
	// Reach is that of score.Params.
	Reach int
	// Folder is the URL of the folder that has the predictions, or the list of Facts, and will have the explanations. Required.
	Folder string
	// Facts is set if the folder has a list of facts, of which each is explained as the answer that evaluation.FactAnswer makes of it.
	Facts bool
	// Paths is the number of paths of an answer, Slices the number of slices that a part of what is explained is cut into; both
	// are at least 1.
	Paths, Slices int
	// Walks takes all walks for paths, as model.Walks does.
	Walks bool
	// Threads and MostThreads are those of score.Params, Memory and Kernel too.
	Threads, MostThreads int
	Memory               int64
	Kernel               string
	// Lock is that of Folder; the zero Lock is never lost.
	Lock lock.Lock
}

// MaxRows is about the most rows of a part of explanations, which a worker holds.
const MaxRows = 1 << 15

// Slices returns how many slices keep to MaxRows, for parts of so many predictions at most.
func Slices(predictions int64, paths int) int {
	return int(max(1, (predictions*int64(paths)+MaxRows-1)/MaxRows))
}

// table returns the name of the table whose rows are explained.
func (p Params) table() string {
	if p.Facts {
		return discover.Table
	}
	return evaluate.PredictionsTable
}

// answers reads a part of that table.
func (p Params) answers(ctx context.Context, part string) ([]parquet.Prediction, error) {
	if !p.Facts {
		return parquet.Read[parquet.Prediction](ctx, part)
	}
	facts, err := parquet.Read[parquet.Fact](ctx, part)
	answers := make([]parquet.Prediction, len(facts))
	for i, f := range facts {
		answers[i] = evaluation.FactAnswer(f)
	}
	return answers, err
}

// Explain explains the predictions of a folder, or its facts. Output: the URL of explanations.tsv. A killed worker's slice is explained
// again and gives the same bytes under the same name.
func Explain(s beam.Scope, p Params) beam.PCollection {
	s = s.Scope("explain.Explain")
	slices := beam.Reshuffle(s, beam.ParDo(s, &listFn{Params: p}, beam.Impulse(s)))
	return beam.ParDo(s, &textFn{Params: p}, beam.Combine(s, sum, beam.ParDo(s, &explainFn{Params: p}, slices)))
}

// Slice is a range of the rows of a part of predictions, which becomes a part of explanations.
type Slice struct {
	// Part is the URL of the part. Of its slices, Index is this one.
	Part  string
	Index int
	// Number of Of is the part of explanations.
	Number, Of int
}

type listFn struct{ Params Params }

// ProcessElement lists the slices of all parts.
func (f *listFn) ProcessElement(ctx context.Context, _ []byte, emit func(Slice)) error {
	parts, err := parquet.TableFiles(ctx, storage.Join(f.Params.Folder, f.Params.table()))
	if err != nil {
		return err
	}
	for i, part := range parts {
		for index := range f.Params.Slices {
			emit(Slice{Part: part, Index: index, Number: i*f.Params.Slices + index, Of: len(parts) * f.Params.Slices})
		}
	}
	return nil
}

type explainFn struct{ Params Params }

// ProcessElement explains a slice, writes its part and emits 1.
func (f *explainFn) ProcessElement(ctx context.Context, slice Slice, emit func(int64)) error {
	beamContext := ctx
	ctx, leave, err := worker.Enter(ctx, budget.Shards)
	if err != nil {
		return err
	}
	defer leave()
	answers, err := f.Params.answers(ctx, slice.Part)
	if err != nil {
		return err
	}
	answers = answers[slice.Index*len(answers)/f.Params.Slices : (slice.Index+1)*len(answers)/f.Params.Slices]
	pool, err := loadPool(ctx, f.Params)
	if err != nil {
		return err
	}
	rows, err := pool.explain(ctx, answers, f.Params, func() { explainedAnswers.Inc(beamContext, 1) })
	if err != nil {
		return fmt.Errorf("%s of %s: %w", f.Params.Checkpoint, f.Params.Checkpoints, err)
	}
	table := storage.Join(f.Params.Folder, Table)
	if err := parquet.Write(f.Params.Lock.Guard(ctx), parquet.PartFile(table, slice.Number, slice.Of), rows); err != nil {
		return err
	}
	emit(1)
	return nil
}

func sum(a, b int64) int64 { return a + b }

type textFn struct{ Params Params }

// ProcessElement writes explanations.tsv when all parts are written.
func (f *textFn) ProcessElement(ctx context.Context, parts int64, emit func(string)) error {
	table, url := storage.Join(f.Params.Folder, Table), storage.Join(f.Params.Folder, Text)
	if err := parquet.WriteText(f.Params.Lock.Guard(ctx), url, Heading, table, int(parts), Lines); err != nil {
		return err
	}
	emit(url)
	return nil
}

// Heading is the first line of explanations.tsv.
const Heading = "query\tsource\trelation\tanswer\tpath\tweight\ttext\n"

// Lines returns lines of explanations.tsv: one for each path, inverse relations with a leading ~.
func Lines(rows []parquet.Explanation) []byte {
	var text bytes.Buffer
	for _, r := range rows {
		fmt.Fprintf(&text, "%d\t%s\t%s\t%s\t%d\t%.6g\t%s\n",
			r.Query, names.Field(r.Source), names.Field(evaluation.Queried(r.Direction, r.Relation)), names.Field(r.Entity), r.Path, r.Weight, names.Field(r.Text))
	}
	return text.Bytes()
}
