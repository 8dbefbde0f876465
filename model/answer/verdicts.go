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
	"tagnet/model/graph/kg"
)

// Verdicts are what people said of a graph's facts.
type Verdicts struct {
	verdicts.Judged // by name, also of names that the graph lacks
	// Said are the facts on which a verdict counts, by head, relation and tail.
	Said []Said
	// Unknown counts the verdicts on facts of which the graph lacks a name, FirstUnknown is such a name. They are kept.
	Unknown      int
	FirstUnknown string
}

// ReadVerdicts reads the verdicts in a folder, which may have none, and makes their facts judged.
func (m *Model) ReadVerdicts(ctx context.Context, folder string) (v Verdicts, err error) {
	url := storage.Join(folder, verdicts.File)
	if v.Judged, err = verdicts.Read(ctx, url); err != nil {
		return v, err
	}
	if v.SHA256 == "" {
		m.Judge(nil)
		return v, nil
	}
	lookup := m.KG.Lookup(m.View)
	for f, verdict := range v.Of {
		fact, err := lookup.Fact(ctx, f.Head, f.Relation, f.Tail)
		if unknown := (*kg.UnknownNameError)(nil); errors.As(err, &unknown) {
			if v.Unknown++; v.FirstUnknown == "" || unknown.Name < v.FirstUnknown {
				v.FirstUnknown = unknown.Name
			}
			continue
		}
		if err != nil {
			return v, fmt.Errorf("%s:%d: %w", url, verdict.Line, err)
		}
		v.Said = append(v.Said, Said{Fact: fact, True: verdict.Judgment == verdicts.True, Weight: verdict.Weight})
	}
	// Sums do not depend on the order of a map.
	slices.SortFunc(v.Said, func(a, b Said) int { return a.Compare(b.Fact) })
	j := NewJudged(v.Said, m.Graph.BaseRelations)
	j.SHA256 = v.SHA256
	m.Judge(j)
	return v, nil
}

// Tell returns what verdicts tell of the number of facts that are missing, for probabilities that are fitted. A folder,
// which may be "", keeps it for the next call.
func (m *Model) Tell(ctx context.Context, v Verdicts, folder string, done func(queries int)) (Told, error) {
	e, err := m.Estimator(probability.Presumed{Missing: probability.DefaultMissing, Guessed: true})
	if e == nil || err != nil || len(v.Said) < leastSaid {
		return Told{}, err
	}
	// What was told of the same verdicts and probabilities is not computed again.
	now := toldOf{v.SHA256, m.fitted.Load().Checksum, m.KG.Manifest.Checksum}
	url := ""
	if folder != "" && now.Probabilities != "" {
		url = storage.Join(folder, m.ProbabilitiesFile()+toldSuffix)
		if there, err := storage.ReadJSON[keptTold](ctx, url); err == nil && there.toldOf == now {
			return there.Told, nil
		}
	}
	evidence, err := m.EvidenceOf(ctx, e, v.Said, done)
	if err != nil {
		return Told{}, err
	}
	told, err := evidence.Tell()
	if url != "" && !told.isEmpty() {
		_ = storage.WriteJSON(ctx, url, keptTold{now, told}) // a folder that cannot be written keeps nothing
	}
	return told, err
}

// ReadTold returns what Tell kept in a folder of the verdicts with a hash, for a model of weights, graph and reach.
func ReadTold(ctx context.Context, folder, weights, graph string, reach int, verdicts string) Told {
	there, err := storage.ReadJSON[keptTold](ctx, storage.Join(folder, fitFolder(weights, graph, reach)+".json"+toldSuffix))
	if err != nil || there.Graph != graph || there.Verdicts != verdicts {
		return Told{}
	}
	return there.Told
}

// toldSuffix ends the name of the file of what is told, after that of the probabilities.
const toldSuffix = ".verdicts"

// toldOf has the checksums of verdicts, and of probabilities of a graph.
type toldOf struct {
	Verdicts      string `json:"verdicts"`
	Probabilities string `json:"probabilities"`
	Graph         string `json:"graph"`
}

// keptTold is what they tell.
type keptTold struct {
	toldOf
	Told Told `json:"told"`
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
	if !said.Guessed || t.isEmpty() {
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
