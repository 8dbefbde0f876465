package synthetic

import (
	"math"
	"slices"
	"strings"
	"testing"

	"tagnet/formats/storage"
	"tagnet/model/graph/kg"
)

// drawn are the samples whose facts are drawn.
func drawn() []Sample {
	return slices.DeleteFunc(Samples(), func(m Sample) bool { return m.draw == nil })
}

// TestPlantedRulesHold compares the shares for which rules hold, and those of noise, with what the samples
// say, for some seeds.
func TestPlantedRulesHold(t *testing.T) {
	t.Parallel()
	for _, m := range drawn() {
		for seed := range int64(2) {
			d := newDraft(seed, m.draw)
			follows := map[kg.Triple]bool{}
			for _, rule := range d.rules {
				concluded, facts := deduce([]namedRule{rule.namedRule}, d.facts), 0
				for f := range concluded {
					follows[f] = true
					if d.known[f] {
						facts++
					}
				}
				share := float64(facts) / float64(len(concluded))
				t.Logf("%s, seed %d: %s holds for %.3f of %d conclusions", m.Name, seed, rule, share, len(concluded))
				tolerance := .02
				if rule.holds == 1 {
					tolerance = 0
				}
				if !(math.Abs(share-rule.holds) <= tolerance) {
					t.Errorf("%s, seed %d: %s holds for %.3f of %d conclusions, want %.2f", m.Name, seed, rule, share, len(concluded), rule.holds)
				}
			}
			for relation, want := range d.noise {
				facts, noise := 0, 0
				for _, f := range d.facts {
					// Terms of the upper levels have facts of their own, which no rule implies either.
					if f.Relation != relation || m.Name == "sample-hierarchy" && strings.Count(f.Head, " ") < len(partAdjectives) {
						continue
					}
					facts++
					if !follows[f] {
						noise++
					}
				}
				share := float64(noise) / float64(facts)
				t.Logf("%s, seed %d: %.3f of %d facts of %s are noise", m.Name, seed, share, facts, relation)
				if !(math.Abs(share-want) <= .012) {
					t.Errorf("%s, seed %d: %.3f of %d facts of %s are noise, want %.2f", m.Name, seed, share, facts, relation, want)
				}
			}
		}
	}
}

// TestOneParent checks that each term of the hierarchy but the top one has one parent.
func TestOneParent(t *testing.T) {
	t.Parallel()
	d := newDraft(0, hierarchy)
	parents := map[string]int{}
	for _, f := range d.facts {
		if f.Relation == "is_a" {
			parents[f.Head]++
		}
	}
	for _, entity := range d.typed {
		want := 0
		if entity[1] == "term" && entity[0] != "part" {
			want = 1
		}
		if parents[entity[0]] != want {
			t.Errorf("%s has %d parents, want %d", entity[0], parents[entity[0]], want)
		}
	}
}

// TestDrawnSizes checks that the drawn samples are small, and that each entity has one type.
func TestDrawnSizes(t *testing.T) {
	t.Parallel()
	for _, m := range drawn() {
		d := newDraft(0, m.draw)
		types, count := map[string]int{}, map[string]int{}
		for _, entity := range d.typed {
			types[entity[0]]++
		}
		for _, f := range d.facts {
			count[f.Relation]++
			if types[f.Head] != 1 || types[f.Tail] != 1 {
				t.Errorf("%s: the entities of %v have %d and %d types, want 1", m.Name, f, types[f.Head], types[f.Tail])
			}
		}
		t.Logf("%s: %d entities, %d facts: %v", m.Name, len(types), len(d.facts), count)
		if len(types) < 500 || len(types) > 3000 {
			t.Errorf("%s: %d entities, want 500 to 3,000", m.Name, len(types))
		}
		if len(d.facts) < 3000 || len(d.facts) > 10000 {
			t.Errorf("%s: %d facts, want 3,000 to 10,000", m.Name, len(d.facts))
		}
	}
}

// TestDivide checks that each drawn fact is in one split or missing, in the shares that are wanted, that no name is in
// a fact alone that is no training fact, and that the key of a fact decides, not the facts around it.
func TestDivide(t *testing.T) {
	t.Parallel()
	for _, m := range drawn() {
		d := newDraft(0, m.draw)
		s := divide(d.facts, 0)
		seen, named := map[kg.Triple]bool{}, map[string]bool{}
		for _, f := range s.Train {
			named[f.Head], named[f.Relation], named[f.Tail] = true, true, true
		}
		for _, f := range slices.Concat(s.Train, s.Valid, s.Test, s.Missing) {
			if seen[f] {
				t.Errorf("%s: %v stands twice", m.Name, f)
			}
			seen[f] = true
			if !d.known[f] {
				t.Errorf("%s: %v was not drawn", m.Name, f)
			}
			if !named[f.Head] || !named[f.Relation] || !named[f.Tail] {
				t.Errorf("%s: a name of %v is in no training fact", m.Name, f)
			}
		}
		if len(seen) != len(d.facts) {
			t.Errorf("%s: %d facts are divided, want %d", m.Name, len(seen), len(d.facts))
		}
		if slices.Equal(divide(d.facts, 1).Missing, s.Missing) {
			t.Errorf("%s: another seed leaves out the same facts", m.Name)
		}
		for _, part := range []struct {
			name  string
			facts []kg.Triple
			want  float64
		}{{"missing", s.Missing, missingShare}, {"validation", s.Valid, drawnValidShare}, {"test", s.Test, drawnTestShare}} {
			share := float64(len(part.facts)) / float64(len(d.facts))
			if !(math.Abs(share-part.want) <= .015) {
				t.Errorf("%s: %.3f are %s facts, want %.2f", m.Name, share, part.name, part.want)
			}
		}
		fewer := divide(append(slices.Clone(s.Train), s.Missing...), 0)
		slices.SortFunc(fewer.Missing, compareFacts)
		if !slices.Equal(fewer.Missing, s.Missing) {
			t.Errorf("%s: without the held-out facts others are missing", m.Name)
		}
	}
}

// TestSamplesWriteTheSameBytes writes each sample twice, and with another seed, and reads what is missing.
func TestSamplesWriteTheSameBytes(t *testing.T) {
	t.Parallel()
	for _, m := range Samples() {
		read := func(seed int64) (all string, missing string) {
			folder := "mem://" + t.Name() + m.Name
			defer func() { _ = storage.RemoveAll(t.Context(), folder) }()
			if err := m.Write(t.Context(), folder, seed); err != nil {
				t.Fatal(err)
			}
			names := []string{"train.txt", "valid.txt", "test.txt", "rules.txt", MissingFile}
			if m.Typed() {
				names = append(names, TypesFile)
			}
			for _, name := range names {
				text, err := storage.ReadFile(t.Context(), storage.Join(folder, name))
				if err != nil {
					t.Fatal(err)
				}
				all += string(text)
			}
			facts, err := ReadMissing(t.Context(), folder)
			if err != nil {
				t.Fatal(err)
			}
			return all, Lines(ordered(facts))
		}
		first, missing := read(7)
		again, _ := read(7)
		other, _ := read(8)
		if first != again {
			t.Errorf("%s: the same seed wrote different bytes", m.Name)
		}
		if first == other {
			t.Errorf("%s: another seed wrote the same bytes", m.Name)
		}
		made, _, _ := m.draft(7)
		slices.SortFunc(made.Missing, compareFacts)
		if missing != Lines(made.Missing) {
			t.Errorf("%s: the missing facts are read as %d bytes, want %d", m.Name, len(missing), len(Lines(made.Missing)))
		}
	}
}
