// Judged measures what verdicts tell on graphs all of whose facts are known: facts that review would draw are judged by
// what was removed, for many seeds, and the sum of the probabilities then is compared with the number of true facts of
// the list. Its arguments are folders of package truth: a workspace, facts.tsv and removed.tsv.
package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tagnet/formats/storage"
	"tagnet/formats/workspace/manifest"
	"tagnet/formats/workspace/parquet"
	"tagnet/formats/workspace/verdicts"
	"tagnet/model/answer"
	"tagnet/model/answer/probability"
	"tagnet/model/engine/kernel"
	"tagnet/model/graph"
	"tagnet/model/graph/kg"
	"tagnet/model/pretrained"
	"tagnet/model/weights/checkpoint"
)

// listed is the number of facts of the list, seeds that of the samples.
const (
	listed = 10_000
	seeds  = 40
)

func main() {
	for _, folder := range os.Args[1:] {
		if err := measure(context.Background(), folder); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// world is a graph that lacks facts which are known, and a model of it.
type world struct {
	m       *answer.Model
	removed map[graph.Fact]bool
	share   float64
	places  []probability.Place
	names   []verdicts.Fact
	rivals  map[graph.Query][]int // of each query, the places of its answers, the best first
}

func measure(ctx context.Context, folder string) error {
	w, err := open(ctx, folder)
	if err != nil {
		return err
	}
	guess := probability.Presumed{Missing: probability.DefaultMissing, Guessed: true}
	p, err := w.probabilities(guess)
	if err != nil {
		return err
	}
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[b], p[a]) })
	order = order[:min(listed, len(order))]
	var list []verdicts.Listed
	at, is := map[verdicts.Fact]graph.Fact{}, 0
	for _, i := range order {
		list = append(list, verdicts.Listed{Fact: w.names[i], Probability: p[i]})
		at[w.names[i]] = w.places[i].Fact
		if w.removed[w.places[i].Fact] {
			is++
		}
	}
	e, err := w.m.Estimator(guess)
	if err != nil {
		return err
	}
	for _, n := range []int{50, 200} {
		errs, inside := 0., 0
		for seed := range int64(seeds) {
			var said []answer.Said
			for _, d := range verdicts.Sample(list, nil, seed)[:n] {
				said = append(said, answer.Said{Fact: at[d.Fact], True: w.removed[at[d.Fact]], Weight: d.Weight})
			}
			evidence, err := w.m.EvidenceOf(ctx, e, said, nil)
			if err != nil {
				return err
			}
			told, _, err := evidence.Tell()
			if err != nil {
				return err
			}
			now, err := w.probabilities(told.Presumed(guess))
			if err != nil {
				return err
			}
			sum := 0.
			for _, i := range order {
				sum += now[i]
			}
			errs += math.Abs(sum-float64(is)) / float64(is)
			if told.Common.Low <= w.share && w.share <= told.Common.High {
				inside++
			}
		}
		fmt.Printf("%-24s %3d verdicts: the sum is off by %.3f, the interval has the share in %d of %d (%d facts of the list are true)\n",
			filepath.Base(folder), n,
			errs/seeds, inside, seeds, is)
	}
	return nil
}

// open reads a folder.
func open(ctx context.Context, folder string) (*world, error) {
	root := filepath.Join(folder, "workspace")
	place := storage.Join(root, kg.Folder)
	m, err := manifest.Read(ctx, place)
	if err != nil {
		return nil, err
	}
	loaded, err := kg.Load(ctx, place, m)
	if err != nil {
		return nil, err
	}
	fastest, err := kernel.Named("")
	if err != nil {
		return nil, err
	}
	opened, err := answer.Open(ctx, loaded, pretrained.Ref{Folder: checkpoint.FolderOf(root, checkpoint.DefaultRun), Name: "best"},
		answer.Resources{Threads: 1, Kernel: fastest})
	if err != nil {
		return nil, err
	}
	w := &world{removed: map[graph.Fact]bool{}, rivals: map[graph.Query][]int{}}
	if w.m, err = opened.OverAllFacts(ctx); err != nil {
		return nil, err
	}
	if _, err := w.m.ReadProbabilities(ctx, storage.Join(root, answer.ProbabilitiesFolder)); err != nil {
		return nil, err
	}
	if err := w.readRemoved(ctx, filepath.Join(folder, "removed.tsv")); err != nil {
		return nil, err
	}
	return w, w.readList(ctx, filepath.Join(root, "runs/main/facts/list-10/facts"))
}

// readRemoved reads the facts that were removed.
func (w *world) readRemoved(ctx context.Context, url string) error {
	text, err := os.ReadFile(url)
	if err != nil {
		return err
	}
	lookup, n := w.m.KG.Lookup(w.m.View), 0.
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimRight(line, "\n"), "\t")
		q, err := lookup.Query(ctx, fields[0], fields[1], false)
		if err != nil {
			return err
		}
		tail, err := lookup.Entity(ctx, fields[2])
		if err != nil {
			return err
		}
		w.removed[graph.Fact{Head: q.Source, Relation: q.Relation, Tail: tail}] = true
	}
	for range probability.Facts(w.m.Graph) {
		n++
	}
	w.share = float64(len(w.removed)) / n
	return nil
}

// readList reads the candidates.
func (w *world) readList(ctx context.Context, url string) error {
	lookup := w.m.KG.Lookup(w.m.View)
	e, err := w.m.Estimator(probability.Presumed{Missing: probability.DefaultMissing})
	if err != nil {
		return err
	}
	var observed []probability.Observation
	err = parquet.EachPart(ctx, url, func(rows []parquet.Fact) error {
		for _, r := range rows {
			q, err := lookup.Query(ctx, r.Head, r.Relation, false)
			if err != nil {
				return err
			}
			tail, err := lookup.Entity(ctx, r.Tail)
			if err != nil {
				return err
			}
			observed = append(observed, probability.Observation{
				Fact:  graph.Fact{Head: q.Source, Relation: q.Relation, Tail: tail},
				Tails: probability.Side{Score: r.TailScore, Rank: r.TailRank}, Heads: probability.Side{Score: r.HeadScore, Rank: r.HeadRank}, Hops: r.Hops,
			})
			w.names = append(w.names, verdicts.Fact{Head: r.Head, Relation: r.Relation, Tail: r.Tail})
		}
		return nil
	})
	for i := range observed {
		w.places = append(w.places, e.Place(&observed[i]))
		for _, q := range e.Rivals(observed[i].Fact, 1) {
			w.rivals[q] = append(w.rivals[q], i)
		}
	}
	for q, list := range w.rivals {
		score := func(i int) float32 {
			if int(q.Relation) < w.m.Graph.BaseRelations {
				return observed[i].Tails.Score
			}
			return observed[i].Heads.Score
		}
		slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(score(b), score(a)) })
	}
	return err
}

// probabilities returns those of all candidates. The rivals of each are in the list, too.
func (w *world) probabilities(presumed probability.Presumed) ([]float64, error) {
	e, err := w.m.Estimator(presumed)
	if err != nil {
		return nil, err
	}
	p, divisors := make([]float64, len(w.places)), make([]float64, len(w.places))
	for i, place := range w.places {
		p[i], divisors[i] = e.At(place).Probability, 1
	}
	for _, list := range w.rivals {
		likely, rest := 0., 0.
		for _, i := range list[:min(probability.DefaultK, len(list))] {
			if probability.Likely(p[i]) {
				likely += p[i]
			} else {
				rest += p[i]
			}
		}
		for n, i := range list {
			switch {
			case !probability.Likely(p[i]):
			case n < probability.DefaultK:
				divisors[i] = max(divisors[i], likely/(1-rest))
			default:
				divisors[i] = max(divisors[i], likely+rest+p[i])
			}
		}
	}
	for i := range p {
		p[i] /= divisors[i]
	}
	return p, nil
}
