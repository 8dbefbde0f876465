package truth

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tagnet/formats/storage"
	"tagnet/infra/internal/engine"
	"tagnet/model/graph/kg"
	"tagnet/model/graph/synthetic"
)

// sources are the graphs all of whose facts are known, by name: those of folders of the data, and made-up ones.
var sources = map[string]func(ctx context.Context, scratch string) ([]kg.Triple, error){
	"family":    files("graphs/family"),
	"codex-s":   files("graphs/codex-s"),
	"codex-m":   files("graphs/codex-m"),
	"WN18RR_v1": files("inductive/WN18RR_v1"),
	"fb237_v1":  files("inductive/fb237_v1"),
	"tutorial":  sample("sample", append(splits, synthetic.MissingFile)...),
	"shop":      sample("sample-shop", append(splits, synthetic.MissingFile)...),
	"hierarchy": sample("sample-hierarchy", append(splits, synthetic.MissingFile)...),
	"rules":     func(context.Context, string) ([]kg.Triple, error) { return ruled() },
	"crowd":     func(context.Context, string) ([]kg.Triple, error) { return crowd(), nil },
}

// splits are the files of a dataset.
var splits = []string{"train.txt", "valid.txt", "test.txt"}

// files returns the facts of all splits of a folder of the data.
func files(folder string) func(context.Context, string) ([]kg.Triple, error) {
	return func(context.Context, string) ([]kg.Triple, error) {
		return read(engine.Data(folder), splits...)
	}
}

// sample returns the facts of files of a made-up graph.
func sample(name string, files ...string) func(context.Context, string) ([]kg.Triple, error) {
	return func(ctx context.Context, scratch string) ([]kg.Triple, error) {
		made, _ := synthetic.SampleNamed(name)
		folder := filepath.Join(scratch, name)
		if err := made.Write(ctx, folder, 0); err != nil {
			return nil, err
		}
		return read(folder, files...)
	}
}

// read returns the facts of files of a folder, each once.
func read(folder string, names ...string) (facts []kg.Triple, err error) {
	known := map[kg.Triple]bool{}
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return nil, fmt.Errorf("reading a graph: %w", err)
		}
		for line := range strings.Lines(string(text)) {
			fields := strings.Split(strings.TrimRight(line, "\r\n"), "\t")
			if len(fields) != 3 {
				return nil, fmt.Errorf("reading a graph: %s: %q is not head, relation and tail", name, line)
			}
			if f := (kg.Triple{Head: fields[0], Relation: fields[1], Tail: fields[2]}); !known[f] {
				known[f] = true
				facts = append(facts, f)
			}
		}
	}
	return facts, nil
}

// ruled returns a graph in which random rules hold, with noise.
func ruled() (facts []kg.Triple, err error) {
	exactly := func(n int) synthetic.Range { return synthetic.Range{Least: n, Most: n} }
	g, err := synthetic.New(7, synthetic.Options{Entities: exactly(1000), Relations: exactly(24), Degree: exactly(12)})
	if err != nil {
		return nil, err
	}
	for _, f := range append(slices.Clone(g.Facts), g.HeldOut...) {
		facts = append(facts, kg.Triple{Head: fmt.Sprint("e", f.Head), Relation: fmt.Sprint("r", f.Relation), Tail: fmt.Sprint("e", f.Tail)})
	}
	return facts, nil
}

// crowd returns a shop of 3,000 customers and 30 items, each of one of six kinds: customers buy what is of the kinds
// that they like, in nine of ten cases, and one of ten customers something else, too.
func crowd() (facts []kg.Triple) {
	const customers, items, kinds = 3000, 30, 6
	random := rand.New(rand.NewPCG(11, 11))
	add := func(head, relation, tail string, i, j int) {
		facts = append(facts, kg.Triple{Head: fmt.Sprint(head, i), Relation: relation, Tail: fmt.Sprint(tail, j)})
	}
	for i := range items {
		add("item", "is", "kind", i, i%kinds)
	}
	for c := range customers {
		likes := random.Perm(kinds)[:1+random.IntN(2)]
		for _, kind := range likes {
			add("customer", "likes", "kind", c, kind)
		}
		odd := -1
		if random.IntN(10) == 0 {
			odd = random.IntN(items)
		}
		for i := range items {
			if slices.Contains(likes, i%kinds) && random.Float64() < .9 || i == odd {
				add("customer", "bought", "item", c, i)
			}
		}
	}
	return facts
}

// remove takes a share of the facts out of a graph, each by its key. A fact stays if one of its names would be in no
// other, or if it is of the relation to keep.
func remove(facts []kg.Triple, share float64, keep string) (kept, removed []kg.Triple) {
	named := map[string]bool{}
	stays := func(f kg.Triple) {
		kept = append(kept, f)
		named[f.Head], named["\t"+f.Relation], named[f.Tail] = true, true, true
	}
	var chosen []kg.Triple
	for _, f := range facts {
		if f.Relation == keep || key(f) >= share {
			stays(f)
		} else {
			chosen = append(chosen, f)
		}
	}
	for _, f := range chosen {
		if named[f.Head] && named["\t"+f.Relation] && named[f.Tail] {
			removed = append(removed, f)
		} else {
			stays(f)
		}
	}
	return kept, removed
}

// key returns a number from 0 to 1 that follows from a fact alone.
func key(f kg.Triple) float64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "truth\t%s\t%s\t%s", f.Head, f.Relation, f.Tail))
	return float64(binary.BigEndian.Uint64(sum[:])>>11) / (1 << 53)
}

func write(ctx context.Context, path string, facts []kg.Triple) error {
	var text bytes.Buffer
	for _, f := range facts {
		fmt.Fprintf(&text, "%s\t%s\t%s\n", f.Head, f.Relation, f.Tail)
	}
	return storage.WriteFile(ctx, path, text.Bytes())
}
