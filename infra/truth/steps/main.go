// Steps measures how queries of several steps are answered on graphs all of whose facts are known: it draws patterns
// of the usual shapes (Hamilton et al., 2018; Ren and Leskovec, 2020) from facts that stay and facts that are removed,
// and ranks the answers that take a removed fact among all entities but other answers.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"tagnet/model"
	"tagnet/model/answer/pattern"
)

// shapes are patterns of relations r and entities e, whose answer is ?a. Each variable is reached from one that stands
// before it, or from ?a.
var shapes = []shape{
	{"2p", "r(?b, ?a), r(e, ?b)"},
	{"3p", "r(?c, ?a), r(?b, ?c), r(e, ?b)"},
	{"2i", "r(e, ?a), r(e, ?a)"},
	{"3i", "r(e, ?a), r(e, ?a), r(e, ?a)"},
	{"ip", "r(?b, ?a), r(e, ?b), r(e, ?b)"},
	{"pi", "r(?b, ?a), r(e, ?b), r(e, ?a)"},
	{"2in", "r(e, ?a), not r(e, ?a)"},
	{"inp", "r(?b, ?a), r(e, ?b), not r(e, ?b)"},
}

type shape struct{ name, text string }

const (
	mostAnswers = 50  // of a pattern
	ranked      = 500 // answers; others have rank infinity
)

func main() {
	kept, removed := flag.String("kept", "", "`file` of the facts that stay"), flag.String("removed", "", "`file` of those that are removed")
	queries, seed := flag.Int("queries", 50, "patterns of a shape"), flag.Uint64("seed", 1, "decides which")
	with, only := flag.String("model", "zero", "`checkpoint` that answers"), flag.String("shapes", "", "`list` of shapes, separated by commas; all without")
	flag.Parse()
	if *only != "" {
		named := strings.Split(*only, ",")
		shapes = slices.DeleteFunc(shapes, func(s shape) bool { return !slices.Contains(named, s.name) })
	}
	if err := measure(context.Background(), *kept, *removed, *with, *queries, *seed); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// world is the graph with all facts, and the model of those that stay.
type world struct {
	all, kept *model.Model
	of        map[string][]model.Triple // facts by their heads and tails
	random    *rand.Rand
}

func measure(ctx context.Context, kept, removed, with string, queries int, seed uint64) error {
	stay, err := model.ReadTriples(ctx, kept)
	if err != nil {
		return err
	}
	gone, err := model.ReadTriples(ctx, removed)
	if err != nil {
		return err
	}
	w := world{of: map[string][]model.Triple{}, random: rand.New(rand.NewPCG(seed, seed))}
	for _, f := range append(stay[:len(stay):len(stay)], gone...) {
		w.of[f.Head], w.of[f.Tail] = append(w.of[f.Head], f), append(w.of[f.Tail], f)
	}
	if w.all, err = model.LoadFacts(ctx, model.Facts{Train: stay, Test: gone}, "zero"); err != nil { // for stated facts alone
		return err
	}
	if w.kept, err = model.LoadFacts(ctx, model.Facts{Train: stay}, with); err != nil {
		return err
	}
	if err := w.kept.Fit(ctx, nil); err != nil {
		return err
	}
	fmt.Println("| shape | patterns | answers that take a removed fact | MRR | Hits@10 | seconds a pattern |\n| --- | --- | --- | --- | --- | --- |")
	for _, shape := range shapes {
		var answers int
		var mrr, hits float64
		var took time.Duration
		for range queries {
			text, hard, others, err := w.draw(ctx, shape.text, gone)
			if err != nil {
				return err
			}
			begun := time.Now()
			found, err := w.kept.Match(ctx, model.Pattern{Text: text, Answer: "a"}, ranked)
			if err != nil {
				return err
			}
			took += time.Since(begun)
			for answer := range hard {
				if rank := rankOf(found.List, answer, hard, others); rank > 0 {
					mrr += 1 / float64(rank) / float64(len(hard))
					if rank <= 10 {
						hits += 1 / float64(len(hard))
					}
				}
				answers++
			}
		}
		n := float64(queries)
		fmt.Printf("| %s | %d | %d | %.3f | %.3f | %.2f |\n", shape.name, queries, answers, mrr/n, hits/n, took.Seconds()/n)
	}
	return nil
}

// rankOf returns the rank of an answer among entities that are no other answers, with ties counted against it, or 0
// where it is not listed.
func rankOf(list []model.Match, answer string, hard, others map[string]bool) int {
	at := -1
	for i, one := range list {
		if one.Entity == answer {
			at = i
		}
	}
	if at < 0 {
		return 0
	}
	rank := 1
	for i, one := range list {
		better := one.Probability > list[at].Probability || one.Probability == list[at].Probability && one.LogOdds >= list[at].LogOdds
		if i != at && better && !hard[one.Entity] && !others[one.Entity] {
			rank++
		}
	}
	return rank
}

// draw draws a pattern of a shape that has an answer which takes a removed fact, and at most mostAnswers, with these
// and its other answers.
func (w *world) draw(ctx context.Context, shape string, gone []model.Triple) (text string, hard, others map[string]bool, err error) {
	for {
		// A pattern about one of the removed facts is more likely to be one.
		f := gone[w.random.IntN(len(gone))]
		text, fits := w.fill(shape, []string{f.Head, f.Tail}[w.random.IntN(2)])
		if !fits {
			continue
		}
		all, err := w.answers(ctx, w.all, text)
		if err != nil {
			return "", nil, nil, err
		}
		others, err := w.answers(ctx, w.kept, text)
		if errors.As(err, new(*model.UnknownNameError)) {
			continue // of an entity all of whose facts are removed
		}
		if err != nil {
			return "", nil, nil, err
		}
		for answer := range others {
			delete(all, answer)
		}
		if len(all) > 0 && len(all)+len(others) <= mostAnswers {
			return text, all, others, nil
		}
	}
}

// answers returns what stated facts answer.
func (w *world) answers(ctx context.Context, m *model.Model, text string) (map[string]bool, error) {
	found, err := m.Match(ctx, model.Pattern{Text: text, Answer: "a", Stated: true}, len(m.Entities()))
	answers := map[string]bool{}
	for _, one := range found.List {
		answers[one.Entity] = true
	}
	return answers, err
}

// fill draws the relations and entities of a shape from facts, from an answer on. A negated atom is one of another
// entity. It reports whether the atoms are different ones.
func (w *world) fill(shape, answer string) (text string, fits bool) {
	atoms, err := pattern.Parse(shape)
	if err != nil {
		panic(err) // the shapes are those above
	}
	bound, seen := map[string]string{"a": answer}, map[string]bool{}
	var written []string
	for _, a := range atoms {
		at := bound[a.Tail.Name]
		if a.Negated {
			at = w.anyEntity()
		}
		facts := w.of[at]
		f := facts[w.random.IntN(len(facts))]
		a.Relation = f.Relation
		other := f.Head
		if f.Head == at {
			other = f.Tail
			a.Head, a.Tail = a.Tail, a.Head
		}
		for _, term := range []*pattern.Term{&a.Head, &a.Tail} {
			switch {
			case !term.Variable:
				term.Name = other
			case bound[term.Name] == "":
				bound[term.Name] = other
			}
		}
		if seen[a.String()] || other == at {
			return "", false
		}
		seen[a.String()] = true
		written = append(written, a.String())
	}
	return strings.Join(written, ", "), true
}

func (w *world) anyEntity() string {
	entities := w.all.Entities()
	for {
		if name := entities[w.random.IntN(len(entities))]; len(w.of[name]) > 0 {
			return name
		}
	}
}
