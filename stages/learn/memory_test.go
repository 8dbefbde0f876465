package learn

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"tagnet/model/graph"
	"tagnet/stages/bundle"
)

// TestMemoryBoundsADeck reads bundles as a training does and compares what they and the deck
// hold with the formula.
func TestMemoryBoundsADeck(t *testing.T) {
	const entities, relations = 2000, 10
	random := rand.New(rand.NewPCG(9, 9))
	facts := make([]graph.Fact, 8000)
	for i := range facts {
		facts[i] = graph.Fact{Head: int32(random.IntN(entities)), Relation: int32(random.IntN(relations)), Tail: int32(random.IntN(entities))}
	}
	g, err := graph.New(entities, relations, facts)
	if err != nil {
		t.Fatal(err)
	}
	var encoded [][]byte
	files := int64(0)
	for _, b := range bundled(t, g, facts, facts, 4) {
		data, err := b.Encode()
		if err != nil {
			t.Fatal(err)
		}
		encoded, files = append(encoded, data), files+int64(len(data))
	}
	before := live()
	var bundles []*bundle.Bundle
	for _, data := range encoded {
		b, err := bundle.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		bundles = append(bundles, b)
	}
	deck, err := NewDeck(entities, relations, bundles)
	if err != nil {
		t.Fatal(err)
	}
	held := live() - before
	if bound := DeckMemory(files, 0, 2*len(facts), len(facts)); held > bound || bound > 2*held {
		t.Errorf("%d bytes are held, the formula says %d", held, bound)
	}
	runtime.KeepAlive(deck)
	runtime.KeepAlive(bundles)
	runtime.KeepAlive(encoded)
	runtime.KeepAlive(facts)
}

func live() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
