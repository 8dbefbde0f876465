package encode_test

import (
	stdcmp "cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/storage"
	"tagnet/formats/storage/storagetest"
	"tagnet/formats/workspace/counts"
	"tagnet/formats/workspace/tables"
	"tagnet/model/budget"
	"tagnet/model/graph/kg"
	"tagnet/stages/encode"
	"tagnet/stages/stagetest"
)

// randomFacts are lines of random facts, some of them repeated; the first of each relation is there.
func randomFacts(random *rand.Rand, prefix string, n int) []string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf("%s%d\tr%d\t%s%d\n", prefix, random.IntN(20), i%5, prefix, random.IntN(20))
	}
	return lines
}

// shuffled returns a text of lines in some order.
func shuffled(random *rand.Rand, lines []string) string {
	lines = slices.Clone(lines)
	random.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	return strings.Join(lines, "")
}

// TestBytesDependOnFactsAlone holds that neither the order of lines, nor how texts are cut, nor the memory for sorting
// change a byte.
func TestBytesDependOnFactsAlone(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	sets := map[string][]string{}
	for _, split := range kg.Splits {
		sets[split], sets["inference-"+split] = randomFacts(random, "e", 60), randomFacts(random, "o", 60)
	}
	var want map[string]string
	for i, test := range []struct{ chunkBytes, memory, room int64 }{
		{1 << 20, 0, 0}, {1, 300, 1}, {300, 4096, 200}, {1 << 20, 0, 1}, // room 1: a fact a run
	} {
		texts := map[string]string{}
		for key, lines := range sets {
			texts[key] = shuffled(random, lines)
		}
		folder := storage.Join(storagetest.Memory(t), fmt.Sprint(i))
		stagetest.Encode(t, folder, texts, test.chunkBytes,
			encode.WriteParams{Strict: true, EdgeShards: 3, Memory: test.memory * budget.MiB, BufferBytes: test.room})
		got := storagetest.Files(t, folder)
		if i == 0 {
			want = got
		}
		if diff := cmp.Diff(want, got); diff != "" || len(got) != 3+2+3+6+1+1 { // names, answers, queries, edges, rejects, summary
			t.Errorf("%+v: %d files\n%s", test, len(got), diff)
		}
	}
}

// TestEdgeShardsHoldTheSameEdges holds that the shards of edges, one after the other, are the edges in order, for any
// number of shards.
func TestEdgeShardsHoldTheSameEdges(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	texts := map[string]string{"train": shuffled(random, randomFacts(random, "e", 100)), "valid": "e1\tr1\te2\n", "test": "e2\tr1\te1\n"}
	var want tables.Edges
	for _, shards := range []int{1, 2, 7} {
		folder := storage.Join(storagetest.Memory(t), fmt.Sprint(shards))
		stagetest.Encode(t, folder, texts, 1<<20, encode.WriteParams{Strict: true, EdgeShards: shards})
		var got tables.Edges
		for shard := range shards {
			err := tables.EachEdges(t.Context(), storage.Join(folder, kg.EdgesFile(shard, shards)), func(e tables.Edges) error {
				got.Tails, got.Relations, got.Heads = append(got.Tails, e.Tails...), append(got.Relations, e.Relations...), append(got.Heads, e.Heads...)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if shards == 1 {
			want = got
		}
		if diff := cmp.Diff(want, got); diff != "" || len(got.Tails) < 150 {
			t.Errorf("%d shards: %d edges\n%s", shards, len(got.Tails), diff)
		}
	}
}

// TestRejectsDoNotDependOnParts holds that how texts are cut, and the memory for sorting, change neither rejects.tsv
// nor any other file, where lines of both kinds are rejected in every text.
func TestRejectsDoNotDependOnParts(t *testing.T) {
	random, texts := rand.New(rand.NewPCG(3, 3)), map[string]string{}
	for _, split := range kg.Splits {
		for _, graph := range []struct{ key, prefix string }{{split, "e"}, {"inference-" + split, "o"}} {
			lines := randomFacts(random, graph.prefix, 60)
			for i := range 30 {
				lines = append(lines, fmt.Sprintf("bad %d\n", i))
				if graph.key != "train" {
					lines = append(lines, fmt.Sprintf("%s%d\tunknown%d\tnew%d\n", graph.prefix, i%20, i%3, i))
				}
			}
			texts[graph.key] = shuffled(random, lines)
		}
	}
	folder, want := storagetest.Memory(t), map[string]string(nil)
	for i, test := range []struct{ chunkBytes, room int64 }{{1 << 20, 0}, {40, 1}, {300, 200}, {1 << 20, 1}} {
		// All in one folder: rejects.tsv names the texts.
		stagetest.Encode(t, folder, texts, test.chunkBytes, encode.WriteParams{EdgeShards: 3, BufferBytes: test.room})
		got := storagetest.Files(t, folder)
		if i == 0 {
			want = got
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("chunks of %d bytes:\n%s", test.chunkBytes, diff)
		}
	}
	rejects := strings.Split(strings.TrimSuffix(want[kg.RejectsFile], "\n"), "\n")[1:]
	if len(rejects) != 6*30+5*30 {
		t.Errorf("%d lines are rejected", len(rejects))
	}
	place := func(reject string) (file string, line int) {
		fields := strings.Split(reject, "\t")
		line, _ = strconv.Atoi(fields[1])
		return fields[0], line
	}
	if !slices.IsSortedFunc(rejects, func(a, b string) int {
		file, line := place(a)
		otherFile, otherLine := place(b)
		return stdcmp.Or(stdcmp.Compare(file, otherFile), stdcmp.Compare(line, otherLine))
	}) {
		t.Error("the rejected lines are in another order than in the texts")
	}
}

// TestUnknownRelationsAreRejected encodes validation facts, some of whose relations no training fact
// has: the others stay.
func TestUnknownRelationsAreRejected(t *testing.T) {
	const train, reason = "anna\tlikes\tbert\nbert\tparent\tanna\n", "is in no training fact, so nothing can be learned about it"
	for name, test := range map[string]struct {
		valid   string
		rejects string // the line, the relation and the text of each
		queries int
	}{
		"none":            {"anna\tlikes\tbert\n", "", 2},
		"one":             {"anna\tlikes\tbert\nbert\town\tanna\n", `2 "own" bert\town\tanna`, 2},
		"all":             {"anna\town\tbert\nanna\thate\tbert\n", `1 "own" anna\town\tbert;2 "hate" anna\thate\tbert`, 0},
		"marked, CRLF":    {"\ufeffanna\town\tbert\r\nanna\tlikes\tbert\r\n", `1 "own" anna\town\tbert`, 2},
		"no line end":     {"anna\tlikes\tbert\nanna\tÄ \tbert", `2 "Ä " anna\tÄ \tbert`, 2},
		"among bad lines": {"bad\nanna\town\tbert\nbad\nanna\tlikes\tbert\n", `1 bad;2 "own" anna\town\tbert;3 bad`, 2},
	} {
		folder, queries := storagetest.Memory(t)+"/"+strings.ReplaceAll(name, " ", "-"), 0
		stagetest.Encode(t, folder, map[string]string{"train": train, "valid": test.valid}, 1<<20, encode.WriteParams{})
		var rejects []string
		for _, line := range strings.Split(strings.TrimSuffix(storagetest.Files(t, folder)[kg.RejectsFile], "\n"), "\n")[1:] {
			fields := strings.Split(line, "\t")
			why := strings.TrimSuffix(strings.TrimPrefix(strings.Replace(fields[2], "1 field instead of 3", "", 1), "relation "), reason)
			rejects = append(rejects, strings.Join(strings.Fields(fields[1]+" "+why+" "+fields[3]), " "))
		}
		err := tables.EachAnswered(t.Context(), storage.Join(folder, kg.QueriesFile("valid")), func(_, _, _ int32) error {
			queries++
			return nil
		})
		if got := strings.Join(rejects, ";"); err != nil || got != test.rejects || queries != test.queries {
			t.Errorf("%s: %d queries, error %v, rejects\n%s\nwant\n%s", name, queries, err, got, test.rejects)
		}
	}
}

// TestHub holds that the neighbors of one entity need not fit into what is sorted at a time: a star, and an entity that
// knows all of its points.
func TestHub(t *testing.T) {
	const n = 10_000
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "e%d\tknows\thub\nother hub\tknows\te%d\n", i, i)
	}
	texts, folder := map[string]string{"train": text.String(), "valid": "hub\tknows\thub\n", "test": "hub\tknows\tother hub\n"}, storagetest.Memory(t)
	stagetest.Encode(t, folder+"/whole", texts, 1<<30, encode.WriteParams{Strict: true})
	stagetest.Encode(t, folder+"/parts", texts, 1<<15, encode.WriteParams{Strict: true, BufferBytes: 1 << 16})
	if diff := cmp.Diff(storagetest.Files(t, folder+"/whole"), storagetest.Files(t, folder+"/parts")); diff != "" {
		t.Errorf("in parts (-whole +parts):\n%.2000s", diff)
	}
	center, degree := int32(n), 0 // in byte order "hub" comes behind the points
	err := tables.EachEdges(t.Context(), folder+"/parts/"+kg.EdgesFile(0, 1), func(e tables.Edges) error {
		for _, tail := range e.Tails {
			if tail == center {
				degree++
			}
		}
		return nil
	})
	if err != nil || degree != n {
		t.Errorf("%d edges enter the hub, error %v, want %d", degree, err, n)
	}
}

// TestRepeatedAndKnown counts a fact that stands in several splits, and in some of them twice.
func TestRepeatedAndKnown(t *testing.T) {
	folder := storagetest.Memory(t)
	stagetest.Encode(t, folder, map[string]string{
		"train": "a\tr\tb\na\tr\tb\nb\tr\tc\n", "valid": "a\tr\tb\na\tr\tb\nc\tr\ta\n", "test": "c\tr\ta\na\tr\tb\nb\tr\tc\n",
	}, 1<<20, encode.WriteParams{})
	s, err := counts.ReadDataset(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(s.Facts, s.Repeated["train"], s.Repeated["valid"], s.Repeated["test"], s.Known["valid"], s.Known["test"])
	if got != "2 1 1 0 1 2" {
		t.Errorf("facts, repeated in train, valid and test, known in valid and test: %s", got)
	}
}
