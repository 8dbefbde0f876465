package stagetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"strings"
	"sync"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	//lint:ignore SA1019 it is the runner of local commands, too: Prism opens a port
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/direct"

	"tagnet/formats/input/triples"
	"tagnet/formats/storage"
	"tagnet/formats/workspace/counts"
	"tagnet/formats/workspace/manifest"
	"tagnet/formats/workspace/parquet"
	"tagnet/model/graph/kg"
	"tagnet/stages/encode"
)

var initBeam = sync.OnceFunc(beam.Init)

// Small tables allocate buffers that they hardly fill: with Go's default of 100 garbage takes half of the time.
func init() { debug.SetGCPercent(400) }

// Run runs the transforms that build adds to a pipeline, in this process and without a port. No element is encoded.
func Run(t testing.TB, build func(s beam.Scope)) error {
	t.Helper()
	initBeam()
	p, s := beam.NewPipelineWithRoot()
	build(s)
	_, err := beam.Run(t.Context(), "direct", p)
	return err
}

// Encode writes the tables of texts, by their split, or "inference-" and the split, into a folder. Chunks of them have
// about so many bytes.
func Encode(t testing.TB, folder string, texts map[string]string, chunkBytes int64, p encode.WriteParams) {
	t.Helper()
	for name, text := range texts {
		url := storage.Join(folder+"-texts", name+".txt")
		if err := storage.WriteFile(t.Context(), url, []byte(text)); err != nil {
			t.Fatal(err)
		}
		of, split := triples.Training, name
		if rest, found := strings.CutPrefix(name, "inference-"); found {
			of, split, p.Inductive, p.InferenceDataset = triples.Inference, rest, true, "other"
		}
		scanned, err := triples.Scan(t.Context(), triples.Chunk{URL: url, Graph: of, Split: split}, chunkBytes, 1000)
		if err != nil {
			t.Fatal(err)
		}
		p.Chunks = append(p.Chunks, scanned.Chunks...)
	}
	if p.Memory == 0 {
		p.Memory = 4 << 30
	}
	p.Folder, p.Spill = folder, storage.Join(folder, "spill")
	err := Run(t, func(s beam.Scope) {
		names, rejects := encode.Vocabulary(s, beam.CreateList(s, p.Chunks), p)
		encode.Write(s, rejects, names, p)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Graph writes a graph of random facts, with hubs, loops and parallel edges, and an inference graph. The edges of each
// are in so many files. The folder is the test's own.
func Graph(t testing.TB, entities, edgeFiles int) (folder string, k *kg.KG) {
	t.Helper()
	folder = fmt.Sprintf("mem://%s-%d-%d", strings.ReplaceAll(t.Name(), "/", "-"), entities, edgeFiles)
	t.Cleanup(func() { _ = storage.RemoveAll(context.Background(), folder) })
	texts, random := map[string]string{}, rand.New(rand.NewPCG(3, 4))
	for _, split := range []string{"train", "valid", "inference-train", "inference-valid", "inference-test"} {
		var text strings.Builder
		facts := map[bool]int{true: 3 * entities, false: entities / 2}[strings.HasSuffix(split, "train")]
		for i := range facts {
			fmt.Fprintf(&text, "e%04d\tr%d\te%04d\n", random.IntN(entities), i%4, random.IntN([]int{entities, entities, entities, 3}[random.IntN(4)]))
		}
		texts[split] = text.String()
	}
	Encode(t, folder, texts, 1<<20, encode.WriteParams{EdgeShards: edgeFiles})
	must := func(err error) {
		if t.Helper(); err != nil {
			t.Fatal(err)
		}
	}
	s, err := counts.ReadDataset(t.Context(), folder)
	must(err)
	vocabulary, err := kg.HashNames(t.Context(), folder, s.Entities, s.Relations)
	must(err)
	files, err := manifest.HashFolder(t.Context(), folder)
	must(err)
	rows := map[string]int64{"entities": s.Entities, "edges": s.Edges, "inference_entities": s.InferenceGraph.Entities,
		"inference_edges": s.InferenceGraph.Edges}
	must(manifest.Write(t.Context(), folder, manifest.Manifest{Stage: "preprocess", Vocabulary: vocabulary, Rows: rows, Files: files}))
	k, err = encode.Load(t.Context(), folder)
	must(err)
	return folder, k
}

// Rows returns the rows of all parts of a table.
func Rows[R parquet.Row](t testing.TB, table string) (all []R) {
	t.Helper()
	err := parquet.EachPart(t.Context(), table, func(rows []R) error {
		all = append(all, rows...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
