package model_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tagnet/model"
	"tagnet/model/weights/configuration"
)

// family returns the facts of 30 generations: who is whose parent and grandparent. The grandparents of every
// fifth person are left to be predicted.
func family() (facts []model.Triple) {
	person := func(i int) string { return fmt.Sprintf("person %02d", i) }
	for i := range 30 {
		facts = append(facts, model.Triple{Head: person(i), Relation: "parent_of", Tail: person(i + 1)})
		if i > 0 && i%5 != 0 {
			facts = append(facts, model.Triple{Head: person(i), Relation: "grandparent_of", Tail: person(i + 2)})
		}
	}
	return facts
}

// small is the configuration of a model that trains in less than a second.
func small() configuration.Configuration {
	c := configuration.Default()
	c.Layers, c.Dim, c.Epochs, c.BatchSize, c.Negatives, c.LearningRate = 3, 8, 30, 8, 8, 0.02
	return c
}

// train trains a small model of the family.
func train(ctx context.Context) (*model.Model, error) {
	return model.Train(ctx, model.Facts{Train: family()}, small(), 1, nil)
}

// Open takes a workspace that the pipelines wrote.
func ExampleOpen() {
	ctx := context.Background()
	m, err := model.Open(ctx, "./workspace")
	switch {
	case errors.Is(err, model.ErrNotFound), errors.Is(err, model.ErrNotComplete):
		log.Fatalf("%v; run go run ./pipelines/quickstart first", err)
	case err != nil:
		log.Fatal(err)
	}
	answers, err := m.Ask(ctx, model.Query{Source: "Joan Eibe", Relation: "cousin_of"}, 3)
	if err != nil {
		log.Fatal(err)
	}
	for _, a := range answers.List {
		fmt.Printf("%.3f %s\n", a.Score, a.Entity)
	}
}

// Train needs facts in memory alone.
func ExampleTrain() {
	ctx := context.Background()
	m, err := train(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(m.Entities()), "entities,", strings.Join(m.Relations(), " and "))
	fmt.Println(m.Checkpoint())
	// Output:
	// 32 entities, grandparent_of and parent_of
	// epoch-030
}

// Discover is the shortest way from facts to those that they lack. Without WithTraining nothing is trained.
func ExampleDiscover() {
	ctx := context.Background()
	found, err := model.Discover(ctx, family(), model.Discovery{Relations: []string{"grandparent_of"}, Most: 3}, model.WithTraining(small(), 1))
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range found {
		fmt.Println(f.Head, f.Relation, f.Tail) // f.Probability says how sure that is
	}
	// Output:
	// person 10 grandparent_of person 12
	// person 15 grandparent_of person 17
	// person 25 grandparent_of person 27
}

// Fit makes probabilities. Those of a workspace are kept there.
func ExampleModel_Fit() {
	ctx := context.Background()
	m, err := train(ctx)
	if err != nil {
		log.Fatal(err)
	}
	if err := m.Fit(ctx, nil); err != nil {
		log.Fatal(err)
	}
	presumed, _ := m.Presumed()
	fmt.Println(presumed)
	scored, err := m.Score(ctx, []model.Triple{
		{Head: "person 10", Relation: "grandparent_of", Tail: "person 12"}, // left out of the facts
		{Head: "person 10", Relation: "grandparent_of", Tail: "person 25"},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range scored {
		fmt.Printf("%s, likely: %v\n", s.Tail, *s.Probability > 0.2)
	}
	// Output:
	// probabilities presume that 5.0% of the facts are missing, which no data tell
	// person 12, likely: true
	// person 25, likely: false
}

func ExampleModel_Ask() {
	ctx := context.Background()
	m, err := train(ctx)
	if err != nil {
		log.Fatal(err)
	}
	// Whose grandparent is person 05? No fact says so.
	answers, err := m.Ask(ctx, model.Query{Source: "person 05", Relation: "grandparent_of"}, 1)
	if err != nil {
		log.Fatal(err)
	}
	for _, a := range answers.List {
		fmt.Printf("%s, %d hops away, known: %v\n", a.Entity, a.Hops, a.Known)
	}
	_, err = m.Ask(ctx, model.Query{Source: "person 5", Relation: "grandparent_of"}, 1)
	var unknown *model.UnknownNameError
	if errors.As(err, &unknown) {
		fmt.Printf("no %s %q, but %q\n", unknown.Kind, unknown.Name, unknown.Closest[0])
	}
	// Output:
	// person 07, 2 hops away, known: false
	// no entity "person 5", but "person 05"
}

// LoadFacts takes facts that arrived after the training, here about two persons whom the model has never seen. Only
// their relations have to be known.
func ExampleLoadFacts_newEntities() {
	ctx := context.Background()
	m, err := train(ctx)
	if err != nil {
		log.Fatal(err)
	}
	folder, err := os.MkdirTemp("", "family")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	if err := m.Save(ctx, folder); err != nil {
		log.Fatal(err)
	}
	facts := append(family(),
		model.Triple{Head: "person 30", Relation: "parent_of", Tail: "Ada"},
		model.Triple{Head: "Ada", Relation: "parent_of", Tail: "Ben"},
	)
	m, err = model.LoadFacts(ctx, model.Facts{Train: facts}, filepath.Join(folder, "best"))
	if err != nil {
		log.Fatal(err)
	}
	answers, err := m.Ask(ctx, model.Query{Source: "Ben", Relation: "~grandparent_of"}, 1)
	if err != nil {
		log.Fatal(err)
	}
	for _, a := range answers.List {
		fmt.Printf("%s, %d hops away\n", a.Entity, a.Hops)
	}
	// Output:
	// person 30, 2 hops away
}

// Explain says why: here by the rule that makes a grandparent.
func ExampleModel_Explain() {
	ctx := context.Background()
	m, err := train(ctx)
	if err != nil {
		log.Fatal(err)
	}
	why, err := m.Explain(ctx, model.Query{Source: "person 05", Relation: "grandparent_of"}, "person 07", 3)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(why.Reasons[0])
	// Output:
	// parent_of, parent_of: so in 23 of 23; here person 05 -parent_of-> person 06 -parent_of-> person 07
}

func ExampleModel_AskAll() {
	ctx := context.Background()
	m, err := train(ctx)
	if err != nil {
		log.Fatal(err)
	}
	queries := []model.Query{
		{Source: "person 10", Relation: "grandparent_of"},
		{Source: "person 12", Relation: "~grandparent_of"}, // who is a grandparent of person 12?
	}
	answers, err := m.AskAll(ctx, queries, 1)
	if err != nil {
		log.Fatal(err)
	}
	for i, q := range queries {
		fmt.Println(q.Source, q.Relation, answers[i].List[0].Entity)
	}
	// Output:
	// person 10 grandparent_of person 12
	// person 12 ~grandparent_of person 10
}

// Score finds the least plausible of some triples. A fact of the graph is scored as if the graph did not have it.
func ExampleModel_Score() {
	ctx := context.Background()
	m, err := train(ctx)
	if err != nil {
		log.Fatal(err)
	}
	scored, err := m.Score(ctx, []model.Triple{
		{Head: "person 06", Relation: "grandparent_of", Tail: "person 08"}, // a fact
		{Head: "person 06", Relation: "grandparent_of", Tail: "person 20"},
		{Head: "person 10", Relation: "grandparent_of", Tail: "person 12"}, // left out of the facts
	})
	if err != nil {
		log.Fatal(err)
	}
	worst := slices.MaxFunc(scored, func(a, b model.ScoredTriple) int { return a.Compare(&b) })
	fmt.Println("worst:", worst.Tail, "unreached:", worst.Hops == model.Unreached)
	for _, s := range scored {
		fmt.Printf("%s, known: %v, first of all tails: %v\n", s.Tail, s.Known, s.AsTail.Rank == 1)
	}
	// Output:
	// worst: person 20 unreached: true
	// person 08, known: true, first of all tails: true
	// person 20, known: false, first of all tails: false
	// person 12, known: false, first of all tails: true
}

// Between asks how two entities are related.
func ExampleModel_Between() {
	ctx := context.Background()
	m, err := train(ctx)
	if err != nil {
		log.Fatal(err)
	}
	best, err := m.Between(ctx, "person 10", "person 12", 1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(best[0].Head, best[0].Relation, best[0].Tail, best[0].Known)
	// Output:
	// person 10 grandparent_of person 12 false
}

// Load needs the training facts, in a text file, and a checkpoint.
func ExampleLoad() {
	ctx := context.Background()
	folder, err := os.MkdirTemp("", "tagnet-example-*")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	trained, err := train(ctx)
	if err != nil {
		log.Fatal(err)
	}
	if err := trained.Save(ctx, filepath.Join(folder, "checkpoints")); err != nil {
		log.Fatal(err)
	}
	var text strings.Builder
	for _, f := range family() {
		fmt.Fprintf(&text, "%s\t%s\t%s\n", f.Head, f.Relation, f.Tail)
	}
	facts := filepath.Join(folder, "train.txt")
	if err := os.WriteFile(facts, []byte(text.String()), 0o644); err != nil {
		log.Fatal(err)
	}

	m, err := model.Load(ctx, model.Files{Train: facts}, filepath.Join(folder, "checkpoints", "best"))
	if err != nil {
		log.Fatal(err)
	}
	answers, err := m.Ask(ctx, model.Query{Source: "person 05", Relation: "grandparent_of"}, 1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answers.List[0].Entity)
	// Output:
	// person 07
}
