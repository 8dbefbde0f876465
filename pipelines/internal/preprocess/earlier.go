package preprocess

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"

	"tagnet/formats/counts"
	"tagnet/formats/externalsort"
	"tagnet/formats/facts"
	"tagnet/formats/manifest"
	"tagnet/formats/storage"
	"tagnet/formats/tables"
	"tagnet/formats/triples"
	"tagnet/model/kg"
	"tagnet/stages/vocabulary"
)

// earlier is the graph that facts are appended to, as its tables have it.
type earlier struct {
	folder        string
	manifest      manifest.Manifest
	configuration configuration
	summary       counts.Dataset
	inductive     bool
	// relations are the names of the base relations, entities those of each graph.
	relations []string
	entities  map[string][]string
}

// openEarlier reads what describes the graph, and the names of its relations.
func openEarlier(ctx context.Context, folder string, m manifest.Manifest) (*earlier, error) {
	g := &earlier{folder: folder, manifest: m}
	if err := json.Unmarshal(m.Configuration, &g.configuration); err != nil {
		return nil, fmt.Errorf("reading the configuration in %s: %w", storage.Join(folder, manifest.FileName), err)
	}
	var err error
	if g.summary, err = counts.ReadDataset(ctx, folder); err != nil {
		return nil, err
	}
	g.inductive = g.summary.InferenceGraph != nil
	g.relations, err = tables.ReadNames(ctx, storage.Join(folder, kg.RelationsFile), tables.Relations)
	return g, err
}

// grows returns the graph that takes the new facts.
func (g *earlier) grows() string {
	if g.inductive {
		return triples.Inference
	}
	return triples.Training
}

// facts returns the number of facts of the graph that grows.
func (g *earlier) facts() int64 { return kg.EdgesOf(g.manifest, "test") / 2 }

// heldOut bounds the number of facts that a new one is looked up among.
func (g *earlier) heldOut() int64 {
	n := (g.summary.Queries["valid"] + g.summary.Queries["test"]) / 2
	if g.inductive || g.summary.Background > 0 {
		n += g.facts()
	}
	return n
}

// readEntities reads the names of the entities.
func (g *earlier) readEntities(ctx context.Context) error {
	g.entities = map[string][]string{}
	files := map[string]string{triples.Training: kg.EntitiesFile}
	if g.inductive {
		files[triples.Inference] = kg.InferenceEntitiesFile
	}
	for of, file := range files {
		var err error
		if g.entities[of], err = tables.ReadNames(ctx, storage.Join(g.folder, file), tables.Entities); err != nil {
			return err
		}
	}
	return nil
}

// names writes the names of the entities to spill files in a folder: some may be in no fact.
func (g *earlier) names(ctx context.Context, folder string) (list []vocabulary.Names, err error) {
	for of, file := range map[string]string{triples.Training: kg.EntitiesFile, triples.Inference: kg.InferenceEntitiesFile} {
		if len(g.entities[of]) == 0 {
			continue
		}
		spill, err := externalsort.WriteNames(ctx, storage.Join(folder, file), bytesOf(g.entities[of]))
		if err != nil {
			return nil, err
		}
		list = append(list, vocabulary.Names{File: file, Spill: spill})
	}
	return list, nil
}

func bytesOf(names []string) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for _, name := range names {
			if !yield([]byte(name)) {
				return
			}
		}
	}
}

// eachID receives a fact by ids.
type eachID func(head, relation, tail int32) error

// part is facts of the graph that a text takes.
type part struct {
	graph, split string
	read         func(ctx context.Context, each eachID) error
}

// parts returns the facts of all tables, those of the graph that grows first. Some of them are in several, where what a table adds is not written anywhere alone: a text of them
// makes the same tables.
func (g *earlier) parts() []part {
	training := []part{{triples.Training, "train", g.queries("train")}}
	valid := g.answers(kg.InferenceAnswersFile) // of the inference graph
	if g.summary.ValidOnInference {
		valid = g.queries("valid")
	} else {
		training = append(training, part{triples.Training, "valid", g.queries("valid")})
	}
	if g.summary.Background > 0 {
		training = append(training, part{triples.Training, triples.Background, g.edges("train")})
	}
	if !g.inductive {
		return append(training, part{triples.Training, "test", g.queries("test")})
	}
	return append([]part{
		{triples.Inference, "train", g.edges("test")},
		{triples.Inference, "valid", valid},
		{triples.Inference, "test", g.queries("test")},
		{triples.Training, "test", g.answers(kg.AnswersFile)}, // known answers, which no query asks for
	}, training...)
}

// queries returns the facts that a split's queries are about.
func (g *earlier) queries(split string) func(context.Context, eachID) error {
	return func(ctx context.Context, each eachID) error {
		return tables.EachQuery(ctx, storage.Join(g.folder, kg.QueriesFile(split)), func(q tables.Query) error {
			if q.Inverse {
				return nil
			}
			return each(q.Source, q.Relation, q.Answer)
		})
	}
}

// edges returns the facts of the graph that a split's queries are about.
func (g *earlier) edges(split string) func(context.Context, eachID) error {
	return func(ctx context.Context, each eachID) error {
		for _, f := range kg.EdgeFiles(g.manifest, split) {
			err := tables.EachEdges(ctx, storage.Join(g.folder, f.Name), func(e tables.Edges) error {
				for i, relation := range e.Relations {
					if int(relation) >= len(g.relations) {
						continue
					}
					if err := each(e.Heads[i], relation, e.Tails[i]); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	}
}

// answers returns the facts of a table of known answers.
func (g *earlier) answers(file string) func(context.Context, eachID) error {
	return func(ctx context.Context, each eachID) error {
		known, err := tables.ReadAnswers(ctx, storage.Join(g.folder, file))
		if err != nil {
			return err
		}
		for i, source := range known.Sources {
			if int(known.Relations[i]) >= len(g.relations) {
				continue
			}
			for _, answer := range known.Lists[i] {
				if err := each(source, known.Relations[i], answer); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

// each calls each for the facts of a part, by name.
func (g *earlier) each(ctx context.Context, p part, each func(f facts.Fact) error) error {
	entities := g.entities[p.graph]
	return p.read(ctx, func(head, relation, tail int32) error {
		if int(max(head, tail)) >= len(entities) || int(relation) >= len(g.relations) {
			return fmt.Errorf("%s: the fact (%d, %d, %d) of %s has an id without a name: %w", g.folder, head, relation, tail, p.split, manifest.ErrDamaged)
		}
		return each(facts.Fact{Head: entities[head], Relation: g.relations[relation], Tail: entities[tail]})
	})
}

// write writes the facts of a part as lines without a number.
func (g *earlier) write(ctx context.Context, p part, out *bufio.Writer) error {
	return g.each(ctx, p, func(f facts.Fact) error { return writeFact(out, f, 0) })
}

// fingerprint stands for a fact. Two facts have the same one with a probability of less than 1e-20.
type fingerprint [16]byte

func fingerprintOf(f facts.Fact) fingerprint {
	sum := sha256.Sum256([]byte(f.Head + "\t" + f.Relation + "\t" + f.Tail))
	return fingerprint(sum[:])
}

// leftOut returns the facts that are left out where a file has them again: those of validation and test, which would leak, with true, and
// background facts, which would become training facts, with false.
func (g *earlier) leftOut(ctx context.Context) (map[fingerprint]bool, error) {
	found := map[fingerprint]bool{}
	add := func(p part, heldOut bool) error {
		return g.each(ctx, p, func(f facts.Fact) error { found[fingerprintOf(f)] = heldOut; return nil })
	}
	remove := func(p part) error {
		return g.each(ctx, p, func(f facts.Fact) error { delete(found, fingerprintOf(f)); return nil })
	}
	if g.inductive { // the validation facts of the inference graph are only among its known answers
		return found, errors.Join(add(part{triples.Inference, "valid", g.answers(kg.InferenceAnswersFile)}, true),
			remove(part{triples.Inference, "train", g.edges("test")}))
	}
	if g.summary.Background > 0 {
		if err := errors.Join(add(part{triples.Training, triples.Background, g.edges("train")}, false),
			remove(part{triples.Training, "train", g.queries("train")})); err != nil {
			return nil, err
		}
	}
	return found, errors.Join(add(part{triples.Training, "valid", g.queries("valid")}, true), add(part{triples.Training, "test", g.queries("test")}, true))
}

// types returns the reader of the entities' types in a graph, or nil if it has none.
func (g *earlier) types(file string, entities []string) func(ctx context.Context, each func(entity, name []byte) error) error {
	return func(ctx context.Context, each func(entity, name []byte) error) error {
		list, err := tables.ReadTypes(ctx, storage.Join(g.folder, file))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, of := range list {
			for _, id := range of.Entities {
				if int(id) >= len(entities) {
					return fmt.Errorf("%s has an entity without a name: %w", storage.Join(g.folder, file), manifest.ErrDamaged)
				}
				if err := each([]byte(entities[id]), []byte(of.Name)); err != nil {
					return err
				}
			}
		}
		return nil
	}
}
