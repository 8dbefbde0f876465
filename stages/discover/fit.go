package discover

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/externalsort"
	"tagnet/formats/lock"
	"tagnet/formats/storage"
	"tagnet/model/discovery"
	"tagnet/model/kg"
	"tagnet/stages/graph"
	"tagnet/stages/worker"
)

func init() {
	beam.RegisterDoFn(&sampleFn{})
	beam.RegisterDoFn(&fitFn{})
	beam.RegisterDoFn(&countFn{})
	beam.RegisterDoFn(&curveFn{})
	beam.RegisterType(reflect.TypeFor[Task]())
}

// ModelFile is the name of the file of the model of probabilities.
const ModelFile = "model.json"

// MergeParams are the parameters of Fit and List.
type MergeParams struct {
	// Graph is the URL of the graph's folder, Split that whose graph was asked. Required.
	Graph, Split string
	// Without are base relations whose facts are left out; see kg.KG.Without.
	Without []string `json:",omitempty"`
	// Folder is the URL of the folder of Indexes and of the outputs, Indexes the names of the candidates. Required.
	Folder  string
	Indexes []string
	// Relations are the base relations that were asked.
	Relations []int32
	// Lock is that of Folder; the zero Lock is never lost.
	Lock lock.Lock
}

// Task is a range of heads with a model. It is an element of pipelines.
type Task struct {
	Range int
	// Model is the text of a discovery.Model, nothing without one. It is a string since Flink misreads rows with nil slices: Go's coder
	// leaves the field out, and Java's takes what follows for it.
	Model string
	// From are the lowest log odds that are listed.
	From float64
}

// tasks returns a task for each range.
func tasks(model string) (all []Task) {
	for r := range Ranges {
		all = append(all, Task{Range: r, Model: model})
	}
	return all
}

// model returns the model of a task, or nil.
func (t Task) model() (*discovery.Model, error) {
	if len(t.Model) == 0 {
		return nil, nil
	}
	m := new(discovery.Model)
	return m, json.Unmarshal([]byte(t.Model), m)
}

// each calls a function with the facts of a range, in order.
func (p MergeParams) each(ctx context.Context, number int, purpose string, each func(*discovery.Fact) error) error {
	var urls []string
	for _, name := range p.Indexes {
		urls = append(urls, IndexURL(p.Folder, name))
	}
	spills, _, err := readIndexes(ctx, urls, number)
	if err != nil {
		return err
	}
	add, end := discovery.Join(each)
	prefix := storage.Join(p.Folder, fmt.Sprintf("%s-%02d", purpose, number))
	if err := externalsort.MergeWide(ctx, spills, prefix, add); err != nil {
		return err
	}
	return end()
}

// habits returns those of the graph, made once in a process.
func (p MergeParams) habits(ctx context.Context) (*discovery.Habits, *kg.KG, error) {
	loaded, err := graph.Load(ctx, p.Graph, p.Without...)
	if err != nil {
		return nil, nil, err
	}
	key := worker.Key{Kind: "habits", URL: p.Graph + " " + p.Split}
	h, err := worker.Load(key, loaded.Manifest.Checksum+fmt.Sprint(p.Relations), func() (*discovery.Habits, error) {
		var asked []int32
		for _, r := range p.Relations {
			asked = append(asked, r, r+int32(len(loaded.Relations)))
		}
		return discovery.NewHabits(loaded.Of(p.Split).Graph, asked), nil
	})
	return h, loaded, err
}

// Fit fits the model to the candidates of a graph with validation facts. Output: the URL of ModelFile, or "" if there were too few
// validation facts among them: then there is no file.
func Fit(s beam.Scope, p MergeParams) beam.PCollection {
	s = s.Scope("discover.Fit")
	ranges := beam.Reshuffle(s, beam.CreateList(s, tasks("")))
	sampled := beam.GroupByKey(s, beam.AddFixedKey(s, beam.ParDo(s, &sampleFn{Params: p}, ranges)))
	fitted := beam.Reshuffle(s, beam.ParDo(s, &fitFn{Params: p}, sampled))
	counted := beam.GroupByKey(s, beam.AddFixedKey(s, beam.ParDo(s, &countFn{Params: p, True: discovery.Valid, False: discovery.New}, fitted)))
	return beam.ParDo(s, &curveFn{Params: p}, counted)
}

type sampleFn struct{ Params MergeParams }

// ProcessElement emits the observations of a range that are in the sample.
func (f *sampleFn) ProcessElement(ctx context.Context, task Task, emit func([]byte)) error {
	ctx, leave, err := worker.Enter(f.Params.Lock.Guard(ctx), 1)
	if err != nil {
		return err
	}
	defer leave()
	habits, _, err := f.Params.habits(ctx)
	if err != nil {
		return err
	}
	sample, err := f.Params.sample(ctx)
	if err != nil {
		return err
	}
	var element bytes.Buffer
	err = f.Params.each(ctx, task.Range, "sample", func(fact *discovery.Fact) error {
		if !sample.Takes(fact) {
			return nil
		}
		o := discovery.Observation{Fact: fact.Fact, True: fact.Held == discovery.Valid, Features: habits.Features(fact)}
		return binary.Write(&element, binary.LittleEndian, o)
	})
	if err != nil {
		return err
	}
	emit(element.Bytes())
	return nil
}

// sample returns the sample of all candidates.
func (p MergeParams) sample(ctx context.Context) (discovery.Sample, error) {
	total := int64(0)
	for _, name := range p.Indexes {
		_, n, err := readIndexes(ctx, []string{IndexURL(p.Folder, name)}, 0)
		if err != nil {
			return discovery.Sample{}, err
		}
		total += n
	}
	return discovery.SampleOf(total), nil
}

type fitFn struct{ Params MergeParams }

// ProcessElement fits the weights, and emits a task for each range.
func (f *fitFn) ProcessElement(ctx context.Context, _ int, elements func(*[]byte) bool, emit func(Task)) error {
	ctx, leave, err := worker.Enter(ctx, 1)
	if err != nil {
		return err
	}
	defer leave()
	loaded, err := graph.Load(ctx, f.Params.Graph, f.Params.Without...)
	if err != nil {
		return err
	}
	sample, err := f.Params.sample(ctx)
	if err != nil {
		return err
	}
	var observations []discovery.Observation
	var element []byte
	size := binary.Size(discovery.Observation{})
	for elements(&element) {
		read := make([]discovery.Observation, len(element)/size)
		if err := binary.Read(bytes.NewReader(element), binary.LittleEndian, read); err != nil {
			return err
		}
		observations = append(observations, read...)
	}
	m, err := sample.Fit(observations, len(loaded.Relations))
	if errors.Is(err, discovery.ErrTooFew) {
		emit(Task{Range: -1})
		return nil
	}
	if err != nil {
		return err
	}
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	for _, t := range tasks(string(text)) {
		emit(t)
	}
	return nil
}

// countFn counts the facts of ranges by their log odds.
type countFn struct {
	Params      MergeParams
	True, False discovery.Held
}

// counted are the facts of a range.
type counted struct {
	Histogram discovery.Histogram
	Model     json.RawMessage `json:",omitempty"`
}

// ProcessElement emits the counts of a range.
func (f *countFn) ProcessElement(ctx context.Context, task Task, emit func([]byte)) error {
	ctx, leave, err := worker.Enter(f.Params.Lock.Guard(ctx), 1)
	if err != nil {
		return err
	}
	defer leave()
	c := counted{Model: json.RawMessage(task.Model)}
	if task.Range >= 0 {
		err = f.Params.scored(ctx, task, "count", func(fact *discovery.Fact, score float64) {
			if fact.Held == f.True || fact.Held == f.False {
				c.Histogram.Add(score, fact.Held == f.True)
			}
		})
	}
	if err != nil {
		return err
	}
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	emit(text)
	return nil
}

// scored calls a function with the facts of a task's range and the numbers that they are ordered by.
func (p MergeParams) scored(ctx context.Context, task Task, purpose string, each func(fact *discovery.Fact, score float64)) error {
	m, err := task.model()
	if err != nil {
		return err
	}
	habits, _, err := p.habits(ctx)
	if err != nil {
		return err
	}
	return p.each(ctx, task.Range, purpose, func(fact *discovery.Fact) error {
		if m == nil {
			each(fact, fact.Lower())
			return nil
		}
		x := habits.Features(fact)
		each(fact, m.LogOdds(fact, &x))
		return nil
	})
}

// merge returns the sum of the counts of all ranges.
func merge(elements func(*[]byte) bool) (sum counted, err error) {
	var element []byte
	for elements(&element) {
		var c counted
		if err := json.Unmarshal(element, &c); err != nil {
			return sum, err
		}
		sum.Model = c.Model
		sum.Histogram.Merge(&c.Histogram)
	}
	return sum, nil
}

type curveFn struct{ Params MergeParams }

// ProcessElement adds the curve to the model and writes it.
func (f *curveFn) ProcessElement(ctx context.Context, _ int, elements func(*[]byte) bool, emit func(string)) error {
	sum, err := merge(elements)
	if err != nil {
		return err
	}
	if len(sum.Model) == 0 {
		emit("")
		return nil
	}
	m := new(discovery.Model)
	if err := json.Unmarshal(sum.Model, m); err != nil {
		return err
	}
	m.Curve = sum.Histogram.Curve()
	m.Listed, m.True = sum.Histogram.Total()
	loaded, err := graph.Load(ctx, f.Params.Graph, f.Params.Without...)
	if err != nil {
		return err
	}
	if m.Held, m.Facts, err = discovery.Counts(ctx, loaded, f.Params.Split, f.Params.Relations); err != nil {
		return err
	}
	m.Missing = float64(m.Held) / float64(max(1, m.Facts))
	url := storage.Join(f.Params.Folder, ModelFile)
	if err := storage.WriteJSON(f.Params.Lock.Guard(ctx), url, m); err != nil {
		return err
	}
	emit(url)
	return nil
}
