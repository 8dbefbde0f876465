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

	"tagnet/formats/input/facts"
	"tagnet/formats/input/triples"
	"tagnet/formats/storage"
	"tagnet/formats/workspace/manifest"
	"tagnet/formats/workspace/parquet"
	"tagnet/formats/workspace/verdicts"
	"tagnet/model/answer"
	"tagnet/model/answer/probability"
	"tagnet/model/engine/kernel"
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
	m     *answer.Model
	share float64 // of the facts that were removed
	// candidates are judged by what was removed, names are theirs.
	candidates []answer.Said
	names      []verdicts.Fact
}

func measure(ctx context.Context, folder string) error {
	w, err := open(ctx, folder)
	if err != nil {
		return err
	}
	guess := probability.Presumed{Missing: probability.DefaultMissing, Guessed: true}
	e, err := w.m.Estimator(guess)
	if err != nil {
		return err
	}
	all, err := w.m.EvidenceOf(ctx, e, w.candidates, nil)
	if err != nil {
		return err
	}
	p, order := all.Probabilities(e), []int{}
	for i := range p {
		order = append(order, i)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[b], p[a]) })
	var list []verdicts.Listed
	var first []answer.Said // the same
	at, isTrue := map[verdicts.Fact]answer.Said{}, 0.
	for _, i := range order[:min(listed, len(order))] {
		list = append(list, verdicts.Listed{Fact: w.names[i], Probability: p[i]})
		first, at[w.names[i]] = append(first, w.candidates[i]), w.candidates[i]
		if w.candidates[i].True {
			isTrue++
		}
	}
	whole, err := w.m.EvidenceOf(ctx, e, first, nil)
	if err != nil {
		return err
	}
	for _, n := range []int{50, 200} {
		errs, inside := 0., 0
		for seed := range int64(seeds) {
			var said []answer.Said
			for _, d := range verdicts.Sample(list, nil, seed)[:n] {
				s := at[d.Fact]
				s.Weight = d.Weight
				said = append(said, s)
			}
			told, sum, err := w.tell(ctx, e, said, whole, guess)
			if err != nil {
				return err
			}
			errs += math.Abs(sum-isTrue) / isTrue
			if told.Common.Low <= w.share && w.share <= told.Common.High {
				inside++
			}
		}
		fmt.Printf("%-24s %3d verdicts: the sum is off by %.3f, the interval has the share in %d of %d (%.0f facts of the list are true)\n",
			filepath.Base(folder), n, errs/seeds, inside, seeds, isTrue)
	}
	return nil
}

// tell returns what judged facts tell instead of a guess, and the sum of the probabilities of the whole list then.
func (w *world) tell(ctx context.Context, e *probability.Estimator, said []answer.Said, whole *answer.Evidence, guess probability.Presumed,
) (told answer.Told, sum float64, err error) {
	evidence, err := w.m.EvidenceOf(ctx, e, said, nil)
	if err != nil {
		return told, 0, err
	}
	if told, err = evidence.Tell(); err != nil {
		return told, 0, err
	}
	now, err := w.m.Estimator(told.Presumed(guess))
	if err != nil {
		return told, 0, err
	}
	for _, p := range whole.Probabilities(now) {
		sum += p
	}
	return told, sum, nil
}

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
	w := &world{}
	if w.m, err = opened.OverAllFacts(ctx); err != nil {
		return nil, err
	}
	if _, err := w.m.ReadProbabilities(ctx, storage.Join(root, answer.ProbabilitiesFolder)); err != nil {
		return nil, err
	}
	removed := map[verdicts.Fact]bool{}
	_, err = facts.Read(ctx, filepath.Join(folder, "removed.tsv"), facts.Options{Format: facts.TSV}, func(_ int, f facts.Fact) error {
		removed[verdicts.Fact(f)] = true
		return nil
	}, func(b triples.BadLine) error { return b })
	if err != nil {
		return nil, err
	}
	known := 0.
	for range probability.Facts(w.m.Graph) {
		known++
	}
	w.share = float64(len(removed)) / known
	return w, w.readList(ctx, filepath.Join(root, "runs/main/facts/list-10/facts"), removed)
}

func (w *world) readList(ctx context.Context, url string, removed map[verdicts.Fact]bool) error {
	lookup := w.m.KG.Lookup(w.m.View)
	return parquet.EachPart(ctx, url, func(rows []parquet.Fact) error {
		for _, r := range rows {
			fact, err := lookup.Fact(ctx, r.Head, r.Relation, r.Tail)
			if err != nil {
				return err
			}
			name := verdicts.Fact{Head: r.Head, Relation: r.Relation, Tail: r.Tail}
			w.names = append(w.names, name)
			w.candidates = append(w.candidates, answer.Said{Fact: fact, True: removed[name]})
		}
		return nil
	})
}
