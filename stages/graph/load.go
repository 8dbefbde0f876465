package graph

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"tagnet/formats/manifest"
	"tagnet/formats/storage"
	"tagnet/formats/tables"
	"tagnet/model/graph"
	"tagnet/model/multisource"
)

// View is one graph as queries see it.
type View struct {
	// Graph has the edges; Entities has its entities' names by id.
	Graph    *graph.Graph
	Entities []string

	answers    *answers
	once       sync.Once
	neighbours *multisource.Neighbours
}

// Neighbours are who adjoins whom in the graph. They are made when they are first asked for.
func (v *View) Neighbours() *multisource.Neighbours {
	v.once.Do(func() { v.neighbours = multisource.NewNeighbours(v.Graph) })
	return v.neighbours
}

// Answers are all known answers, for filtered ranks. They are read when they are first asked for.
func (v *View) Answers(ctx context.Context) (tables.Answers, error) { return v.answers.read(ctx) }

// answers are those of a file, once they were read.
type answers struct {
	url   string
	mu    sync.Mutex
	there bool
	known tables.Answers
}

func (a *answers) read(ctx context.Context) (tables.Answers, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.there {
		return a.known, nil
	}
	known, err := tables.ReadAnswers(ctx, a.url)
	a.known, a.there = known, err == nil
	return known, err
}

// Loaded is the content of a graph/ folder. It is shared: nobody changes it.
type Loaded struct {
	// Train is what training and validation ask; Inference what test and new questions ask.
	// They are the same pointer in the transductive setting.
	Train, Inference *View
	// Relations has the base relations' names by id.
	Relations []string
	// Vocabulary is the hash of the training graph's entity names and the relations' names.
	Vocabulary string
	// Manifest is the folder's.
	Manifest manifest.Manifest

	trainAnswers *answers

	folder  string
	mu      sync.Mutex
	queries map[string][]tables.Query
}

// Inductive tells whether test asks another graph than the one that was trained on.
func (l *Loaded) Inductive() bool { return l.Train != l.Inference }

// TrainAnswers are the answers known while training, from the training facts alone. They are read
// when they are first asked for.
func (l *Loaded) TrainAnswers(ctx context.Context) (tables.Answers, error) {
	return l.trainAnswers.read(ctx)
}

// Of is the graph that a split asks: the inference graph for test, else the training graph.
func (l *Loaded) Of(split string) *View {
	if split == "test" {
		return l.Inference
	}
	return l.Train
}

// Queries reads the queries of a split, once.
func (l *Loaded) Queries(ctx context.Context, split string) ([]tables.Query, error) {
	if !slices.Contains(Splits, split) {
		return nil, fmt.Errorf("split %q is none of %s", split, strings.Join(Splits, ", "))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if queries, ok := l.queries[split]; ok {
		return queries, nil
	}
	url := storage.Join(l.folder, QueriesFile(split))
	queries, err := tables.ReadQueryTable(ctx, url)
	if err != nil {
		return nil, err
	}
	g := l.Of(split).Graph
	for i, q := range queries {
		if int(max(q.Source, q.Answer)) >= g.Entities || int(q.Relation) >= g.RelationCount() {
			return nil, fmt.Errorf("%s: query %d (%d, %d, %d) has an id that is not in the graph", url, i, q.Source, q.Relation, q.Answer)
		}
	}
	l.queries[split] = queries
	return queries, nil
}

// cache keeps what Load read, for the process: a folder's URL and its manifest's checksum tell
// whether it is still the same.
var cache struct {
	sync.Mutex
	byFolder map[string]*Loaded
}

// Load reads a graph/ folder, once per process and version of the folder: many DoFns may call
// it in Setup. An incomplete folder is an error that satisfies errors.Is(err, fs.ErrNotExist);
// a damaged file is an error that names it.
func Load(folder string) (*Loaded, error) {
	ctx := context.Background()
	cache.Lock()
	defer cache.Unlock()
	m, err := manifest.Read(ctx, folder)
	if err != nil {
		return nil, err
	}
	if l := cache.byFolder[folder]; l != nil && l.Manifest.Checksum == m.Checksum {
		return l, nil
	}
	l, err := read(ctx, folder, m)
	if err != nil {
		return nil, err
	}
	if cache.byFolder == nil {
		cache.byFolder = map[string]*Loaded{}
	}
	cache.byFolder[folder] = l
	return l, nil
}

func read(ctx context.Context, folder string, m manifest.Manifest) (*Loaded, error) {
	l := &Loaded{Manifest: m, folder: folder, queries: map[string][]tables.Query{}}
	var err error
	if l.Relations, err = tables.ReadNames(ctx, storage.Join(folder, RelationsFile), tables.Relations); err != nil {
		return nil, err
	}
	if l.Train, err = readView(ctx, folder, m, "train", len(l.Relations)); err != nil {
		return nil, err
	}
	l.trainAnswers = &answers{url: storage.Join(folder, TrainAnswersFile)}
	l.Inference = l.Train
	if isInductive(m) {
		if l.Inference, err = readView(ctx, folder, m, "test", len(l.Relations)); err != nil {
			return nil, err
		}
	}
	l.Vocabulary = manifest.VocabularyHash(l.Train.Entities, l.Relations)
	if m.Vocabulary != "" && l.Vocabulary != m.Vocabulary {
		return nil, fmt.Errorf("%s: its names have the hash %s, its manifest says %s", folder, l.Vocabulary, m.Vocabulary)
	}
	return l, nil
}

// readView reads the graph that a split asks: names, and all shards of edges straight into their
// places.
func readView(ctx context.Context, folder string, m manifest.Manifest, split string, relations int) (*View, error) {
	entities, known, rows := EntitiesFile, AnswersFile, m.Rows["edges"]
	if split == "test" && isInductive(m) {
		entities, known, rows = InferenceEntitiesFile, InferenceAnswersFile, m.Rows["inference_edges"]
	}
	v := &View{answers: &answers{url: storage.Join(folder, known)}}
	var err error
	if v.Entities, err = tables.ReadNames(ctx, storage.Join(folder, entities), tables.Entities); err != nil {
		return nil, err
	}
	b := graph.NewBuilder(len(v.Entities), relations, rows)
	for _, f := range EdgeFiles(m, split) {
		err := tables.EachEdges(ctx, storage.Join(folder, f.Name), func(e tables.Edges) error {
			for i, head := range e.Heads {
				if err := b.Add(head, e.Relations[i], e.Tails[i]); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if v.Graph, err = b.Graph(); err != nil {
		return nil, fmt.Errorf("reading the edges of %s: %w", folder, err)
	}
	return v, nil
}
