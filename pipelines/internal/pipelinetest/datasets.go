package pipelinetest

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
)

// Dataset writes the files of a dataset into a new folder and returns its path.
func Dataset(t testing.TB, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range files {
		Write(t, filepath.Join(folder, name), text)
	}
	return folder
}

// Ring returns the files of a dataset whose rules a model learns in a second: entities in a ring,
// where next leads to the following one, back to the one before, and skip is next twice. A fifth of
// the skips is held out, half of them for validation. An entity is named by the prefix and three digits.
func Ring(prefix string, entities int) map[string]string {
	var train, held []string
	for i := range entities {
		name := func(j int) string { return fmt.Sprintf("%s%03d", prefix, j%entities) }
		train = append(train, name(i)+"\tnext\t"+name(i+1), name(i+1)+"\tback\t"+name(i))
		if skip := name(i) + "\tskip\t" + name(i+2); i%5 > 0 {
			train = append(train, skip)
		} else {
			held = append(held, skip)
		}
	}
	half := len(held) / 2
	files := map[string]string{}
	for split, lines := range map[string][]string{"train": train, "valid": held[:half], "test": held[half:]} {
		files[split+".txt"] = strings.Join(lines, "\n") + "\n"
	}
	return files
}

// RenamedRing returns the files of Ring with other names of its relations.
func RenamedRing(prefix string, entities int, next, back, skip string) map[string]string {
	files := Ring(prefix, entities)
	for name, text := range files {
		files[name] = strings.NewReplacer("next", next, "back", back, "skip", skip).Replace(text)
	}
	return files
}

// Chain returns the files of a dataset of random facts of the relations r0 and r1. Each fact leads
// from an entity to itself or to one of the four that follow, so that most entities are many edges
// apart. There are repeated facts, loops and parallel edges.
func Chain(seed uint64, prefix string, entities int) map[string]string {
	random := rand.New(rand.NewPCG(seed, 9))
	files := map[string]string{}
	for _, split := range []struct {
		name  string
		facts int
	}{{"train", 3 * entities / 2}, {"valid", 3 * entities / 8}, {"test", entities / 2}} {
		var text strings.Builder
		fact := func(head, relation, tail int) {
			fmt.Fprintf(&text, "%s%03d\tr%d\t%s%03d\n", prefix, head, relation, prefix, tail%entities)
		}
		fact(0, 0, 0)
		fact(0, 1, 1)
		for range split.facts {
			head := random.IntN(entities)
			fact(head, random.IntN(2), head+random.IntN(5))
		}
		files[split.name+".txt"] = text.String()
	}
	return files
}
