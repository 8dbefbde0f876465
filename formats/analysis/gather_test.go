package analysis

import (
	"math/bits"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tagnet/formats/counts"
	"tagnet/formats/reach"
	"tagnet/formats/tables"
)

// edgesOf returns edges that enter entity i degrees[i] times.
func edgesOf(degrees ...int) (e tables.Edges) {
	for o, n := range degrees {
		for i := range n {
			e.Tails, e.Relations, e.Heads = append(e.Tails, int32(o)), append(e.Relations, 0), append(e.Heads, int32(i))
		}
	}
	return e
}

// TestDegreesOfShards splits a graph's entities into two shards in every way and compares the degrees
// with a count of each entity.
func TestDegreesOfShards(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	degrees := []int{0, 1, 2, 3, 4, 7, 8, 1023, 1024}
	for range 40 {
		degrees = append(degrees, random.IntN(1<<random.IntN(9)))
	}
	want := Degrees{Graph: Training, ByPower: make([]int64, 12)}
	for _, n := range degrees {
		want.Edges += int64(n)
		want.Most = max(want.Most, int64(n))
		if n > 0 {
			want.ByPower[bits.Len(uint(n))]++
		}
	}
	for cut := range len(degrees) + 1 {
		got := Degrees{Graph: Training}
		for _, shard := range [][]int{degrees[:cut], degrees[cut:]} {
			one := Degrees{Graph: Training}
			one.Count(edgesOf(shard...))
			got.Plus(one)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("cut at %d: %+v, want %+v", cut, got, want)
		}
	}
	g, err := want.of(counts.Graph{Entities: int64(len(degrees)), Facts: want.Edges / 2, Edges: want.Edges, MeanDegree: 0.5 * float64(want.Edges) / float64(len(degrees))})
	if err != nil {
		t.Fatal(err)
	}
	sum, shares := int64(0), 0.0
	for i, d := range g.Degrees {
		within := 0
		for _, n := range degrees {
			if d.From <= int64(n) && int64(n) <= d.To {
				within++
			}
		}
		if d.Entities != int64(within) || i > 0 && d.From != g.Degrees[i-1].To+1 {
			t.Errorf("%+v: want %d entities", d, within)
		}
		sum += d.Entities
		shares += d.Share
	}
	if sum != g.Entities || !(shares > 1-1e-12 && shares < 1+1e-12) || g.MostEdges != 1024 {
		t.Errorf("%d entities, shares %v, most %d", sum, shares, g.MostEdges)
	}
}

func TestGraphWithoutEdges(t *testing.T) {
	g, err := Degrees{Graph: Inference}.of(counts.Graph{Entities: 3})
	if want := []Degree{{Entities: 3, Share: 1}}; err != nil || !slices.Equal(g.Degrees, want) {
		t.Errorf("%+v, %v", g, err)
	}
}

// TestTablesThatContradictTheSummary checks that shards which disagree with the summary are an error.
func TestTablesThatContradictTheSummary(t *testing.T) {
	d := Degrees{Graph: Training}
	d.Count(edgesOf(2, 1, 3))
	for _, of := range [][2]int64{{3, 8}, {2, 6}} {
		if _, err := d.of(counts.Graph{Entities: of[0], Facts: of[1] / 2, Edges: of[1], MeanDegree: 1}); err == nil || !strings.Contains(err.Error(), "training graph's tables") {
			t.Errorf("%v: error %v", of, err)
		}
	}
}

// TestMessagesOf checks the shares of counts, and that a configuration without its layers is an error.
func TestMessagesOf(t *testing.T) {
	s := counts.Summary{
		Configurations: []counts.Configuration{
			{Layers: 2, Delta: 0, Totals: counts.Totals{NBFNet: 16, Kept: 16}},
			{Layers: 2, Delta: 1, Totals: counts.Totals{NBFNet: 16, Kept: 6, KeptEmpty: 2, PrunedEmpty: 4, PrunedRedundant: 6}},
		},
		ByLayer: []counts.LayerSum{
			{Layers: 2, Delta: 0, Layer: 1, Totals: counts.Totals{NBFNet: 8, Kept: 8}}, {Layers: 2, Delta: 0, Layer: 2, Totals: counts.Totals{NBFNet: 8, Kept: 8}},
			{Layers: 2, Delta: 1, Layer: 1, Totals: counts.Totals{NBFNet: 8, Kept: 4, KeptEmpty: 2, PrunedEmpty: 4}}, {Layers: 2, Delta: 1, Layer: 2, Totals: counts.Totals{NBFNet: 8, Kept: 2, PrunedRedundant: 6}},
		},
	}
	m, err := messagesOf(s, 2, 1)
	if err != nil || m.Shares != (Shares{Sent: 0.25, KeptEmpty: 0.125, PrunedEmpty: 0.25, PrunedRedundant: 0.375}) || m.PrunedEmptyShare != 0.4 || m.PrunedRedundantShare != 0.6 {
		t.Errorf("%+v, %v", m, err)
	}
	if len(m.ByLayer) != 2 || m.ByLayer[0].Shares != (Shares{Sent: 0.25, KeptEmpty: 0.25, PrunedEmpty: 0.5, PrunedRedundant: 0}) || m.ByLayer[1].Shares != (Shares{Sent: 0.25, KeptEmpty: 0, PrunedEmpty: 0, PrunedRedundant: 0.75}) {
		t.Errorf("%+v", m.ByLayer)
	}
	if m, err = messagesOf(s, 2, 0); err != nil || m.PrunedEmptyShare != 0 || m.PrunedRedundantShare != 0 {
		t.Errorf("nothing pruned: %+v, %v", m, err)
	}
	if _, err = messagesOf(s, 3, 1); err == nil {
		t.Error("no error for a number of layers that was not counted")
	}
	s.ByLayer = s.ByLayer[:3]
	if _, err = messagesOf(s, 2, 1); err == nil {
		t.Error("no error for a layer that is missing")
	}
}

func TestDistancesInOrder(t *testing.T) {
	s := Split{ByDistance: map[string]AtDistance{}}
	want := []string{"0", "1", "2", "9", "10", "11", "unreached"}
	for _, at := range want {
		s.ByDistance[at] = AtDistance{}
	}
	if got := reach.Keys(s.ByDistance); !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
}
