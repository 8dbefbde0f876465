package preprocess

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tagnet/formats/input/triples"
	"tagnet/formats/storage"
	"tagnet/formats/workspace/tables"
	"tagnet/model/budget"
	"tagnet/model/graph/kg"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/stages/encode"
)

// build runs the Beam pipeline over texts in memory and returns what it wrote.
func build(t *testing.T, name string, texts map[string]string, bytesPerPart int64, p encode.WriteParams) map[string]string {
	t.Helper()
	command.InitBeam()
	ctx := context.Background()
	root := "mem://" + t.Name() + "/" + name
	for key, text := range texts {
		url := storage.Join(root, key+".txt")
		if err := storage.WriteFile(ctx, url, []byte(text)); err != nil {
			t.Fatal(err)
		}
		of, split := triples.Training, key
		if rest, ok := strings.CutPrefix(key, "inference-"); ok {
			of, split = triples.Inference, rest
			p.Inductive, p.InferenceDataset = true, "other"
		}
		text, err := triples.Scan(ctx, triples.Chunk{URL: url, Graph: of, Split: split}, bytesPerPart, 1000)
		if err != nil {
			t.Fatal(err)
		}
		p.Chunks = append(p.Chunks, text.Chunks...)
	}
	p.Folder = storage.Join(root, "graph")
	pipelinetest.RunBeam(t, Build(p))
	return pipelinetest.Files(t, p.Folder)
}

// randomFacts are lines of random facts, some of them repeated; the first of each relation is there.
func randomFacts(random *rand.Rand, prefix string, n int) []string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf("%s%d\tr%d\t%s%d", prefix, random.IntN(20), i%5, prefix, random.IntN(20))
	}
	return lines
}

func shuffled(random *rand.Rand, lines []string) string {
	lines = slices.Clone(lines)
	random.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	return strings.Join(lines, "\n") + "\n"
}

// TestBytesDependOnFactsAlone checks that neither the order of lines, nor how texts are
// cut, nor the memory for sorting change a byte of what is written.
func TestBytesDependOnFactsAlone(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	sets := map[string][]string{}
	for _, split := range kg.Splits {
		sets[split] = randomFacts(random, "e", 60)
		sets["inference-"+split] = randomFacts(random, "o", 60)
	}
	var want map[string]string
	for i, test := range []struct{ bytesPerPart, memory, room int64 }{
		{1 << 20, 0, 0}, {1, 300, 1}, {300, 4096, 200}, {1 << 20, 0, 1}, // room 1: a fact a run
	} {
		texts := map[string]string{}
		for key, lines := range sets {
			texts[key] = shuffled(random, lines)
		}
		got := build(t, fmt.Sprint(i), texts, test.bytesPerPart, encode.WriteParams{Strict: true, EdgeShards: 3, Memory: test.memory * budget.MiB, BufferBytes: test.room})
		if want == nil {
			want = got
			if len(want) != 3+2+3+6+1+1 { // names, answers, queries, edges, rejects, summary
				t.Fatalf("%d files", len(want))
			}
			continue
		}
		pipelinetest.Same(t, got, want)
	}
}

// TestEdgeShardsHoldTheSameEdges checks that the shards of edges, one after the other, are the
// edges in order, for any number of shards.
func TestEdgeShardsHoldTheSameEdges(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	texts := map[string]string{"train": shuffled(random, randomFacts(random, "e", 100)), "valid": "e1\tr1\te2\n", "test": "e2\tr1\te1\n"}
	var want tables.Edges
	for _, shards := range []int{1, 2, 7} {
		name := fmt.Sprint(shards)
		build(t, name, texts, 1<<20, encode.WriteParams{Strict: true, EdgeShards: shards})
		var got tables.Edges
		for shard := range shards {
			err := tables.EachEdges(t.Context(), storage.Join("mem://"+t.Name()+"/"+name, "graph", kg.EdgesFile(shard, shards)), func(e tables.Edges) error {
				got.Tails, got.Relations, got.Heads = append(got.Tails, e.Tails...), append(got.Relations, e.Relations...), append(got.Heads, e.Heads...)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if shards == 1 {
			want = got
			if len(want.Tails) < 150 {
				t.Fatalf("%d edges", len(want.Tails))
			}
			continue
		}
		if !slices.Equal(got.Tails, want.Tails) || !slices.Equal(got.Relations, want.Relations) || !slices.Equal(got.Heads, want.Heads) {
			t.Errorf("%d shards: %d edges, want %d the same", shards, len(got.Tails), len(want.Tails))
		}
	}
}
