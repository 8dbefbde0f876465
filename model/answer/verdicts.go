package answer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"tagnet/formats/storage"
	"tagnet/formats/strict"
	"tagnet/formats/workspace/verdicts"
	"tagnet/model/answer/probability"
	"tagnet/model/graph"
	"tagnet/model/graph/kg"
)

// Verdicts are what people said of a graph's facts.
type Verdicts struct {
	// Said are the facts on which a verdict counts, by head, relation and tail. True of them are true.
	Said []Said
	True int
	// ByName has whether each fact is true, also of names that the graph lacks.
	ByName map[verdicts.Fact]bool
	// Unknown counts the verdicts on facts of which the graph lacks a name, FirstUnknown is such a name. They are kept.
	Unknown      int
	FirstUnknown string
	// Text is what their file holds, SHA256 its hash; "" where there is none.
	Text   []byte
	SHA256 string
}

// ReadVerdicts reads the verdicts in a folder, which may have none, and makes their facts judged.
func (m *Model) ReadVerdicts(ctx context.Context, folder string) (Verdicts, error) {
	var v Verdicts
	url := storage.Join(folder, verdicts.File)
	read, err := verdicts.Read(ctx, url)
	if err != nil {
		return v, err
	}
	v.Text, v.SHA256, v.ByName = read.Text, read.SHA256, read.True
	if v.SHA256 == "" {
		m.Judge(nil)
		return v, nil
	}
	isTrue, lookup := map[graph.Fact]bool{}, m.KG.Lookup(m.View)
	for f, is := range read.True {
		fact, err := factOf(ctx, lookup, f)
		if unknown := (*kg.UnknownNameError)(nil); errors.As(err, &unknown) {
			if v.Unknown++; v.FirstUnknown == "" || unknown.Name < v.FirstUnknown {
				v.FirstUnknown = unknown.Name
			}
			continue
		}
		if err != nil {
			return v, fmt.Errorf("%s:%d: %w", url, read.Lines[f], err)
		}
		isTrue[fact] = is
		if is {
			v.True++
		}
		v.Said = append(v.Said, Said{Fact: fact, True: is, Weight: read.Weights[f]})
	}
	sortSaid(v.Said)
	j := NewJudged(isTrue, m.Graph.BaseRelations)
	j.SHA256 = v.SHA256
	m.Judge(j)
	return v, nil
}

// factOf returns a fact by ids.
func factOf(ctx context.Context, lookup *kg.Lookup, f verdicts.Fact) (graph.Fact, error) {
	q, err := lookup.Query(ctx, f.Head, f.Relation, false)
	if err != nil {
		return graph.Fact{}, err
	}
	tail, err := lookup.Entity(ctx, f.Tail)
	return graph.Fact{Head: q.Source, Relation: q.Relation, Tail: tail}, err
}

// Tell returns what verdicts tell of the number of facts that are missing, for probabilities that are fitted; false
// where they are too few. A folder, which may be "", keeps it for the next call.
func (m *Model) Tell(ctx context.Context, v Verdicts, folder string, done func(queries int)) (told Told, enough bool, err error) {
	e, err := m.Estimator(probability.Presumed{Missing: probability.DefaultMissing, Guessed: true})
	if e == nil || err != nil || len(v.Said) < leastSaid {
		return told, false, err
	}
	// What was told of the same verdicts and probabilities is not computed again.
	now := keptTold{Verdicts: v.SHA256, Probabilities: m.fitted.Load().Checksum, Graph: m.KG.Manifest.Checksum}
	url := ""
	if folder != "" && now.Probabilities != "" {
		url = storage.Join(folder, m.ProbabilitiesFile()+toldSuffix)
		there, err := storage.ReadJSON[keptTold](ctx, url)
		told, there.Told = there.Told, Told{}
		if err == nil && there.Verdicts == now.Verdicts && there.Probabilities == now.Probabilities && there.Graph == now.Graph {
			return told, true, nil
		}
	}
	evidence, err := m.EvidenceOf(ctx, e, v.Said, done)
	if err != nil {
		return told, false, err
	}
	if told, enough, err = evidence.Tell(); enough && err == nil && url != "" {
		now.Told = told
		_ = storage.WriteJSON(ctx, url, now) // a folder that cannot be written keeps nothing
	}
	return told, enough, err
}

// ReadTold returns what Tell kept in a folder of the verdicts with a hash, for a model of weights, graph and reach.
func ReadTold(ctx context.Context, folder, weights, graph string, reach int, verdicts string) (told Told, found bool) {
	there, err := storage.ReadJSON[keptTold](ctx, storage.Join(folder, fitFolder(weights, graph, reach)+".json"+toldSuffix))
	return there.Told, err == nil && there.Graph == graph && there.Verdicts == verdicts
}

// toldSuffix ends the name of the file of what is told, after that of the probabilities.
const toldSuffix = ".verdicts"

// keptTold is what is told of verdicts, for probabilities of a graph, by their checksums.
type keptTold struct {
	Verdicts      string `json:"verdicts"`
	Probabilities string `json:"probabilities"`
	Graph         string `json:"graph"`
	Told          Told   `json:"told"`
}

// Check returns an error for shares that nothing tells.
func (k keptTold) Check() error {
	for _, p := range append(slices.Collect(maps.Values(k.Told.Own)), k.Told.Common) {
		if err := strict.First(strict.Share("share", p.Share), strict.Share("low", p.Low), strict.Share("high", p.High)); err != nil {
			return err
		}
	}
	return nil
}

// Presumed returns what an estimator presumes by what is told: what the user said has precedence.
func (t Told) Presumed(said probability.Presumed) probability.Presumed {
	if !said.Guessed {
		return said
	}
	own := said.Own()
	for r, p := range t.Own {
		if own[r] == 0 {
			own[r] = p.Share
		}
	}
	presumed := probability.OwnShares(t.Common.Share, own)
	presumed.Told = true
	return presumed
}
