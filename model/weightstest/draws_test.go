package weightstest

import (
	"math/rand/v2"
	"slices"
	"testing"

	"tagnet/model/weights/configuration"
)

func numbers(rng *rand.Rand, c *configuration.Configuration) {
	c.Layers, c.RelationLayers = 1+rng.IntN(3), 1
}

// TestDraws draws until each choice was taken, except of what is refused.
func TestDraws(t *testing.T) {
	t.Parallel()
	d := Draws{Numbers: numbers, Refuses: func(c configuration.Configuration) string {
		if c.Aggregate == configuration.AggregateMean {
			return "aggregate"
		}
		return ""
	}}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		c := d.Draw(rng)
		if err := c.Validate(); err != nil {
			t.Fatal(err)
		}
		if c.Aggregate == configuration.AggregateMean {
			t.Fatal("a refused choice was drawn")
		}
		d.Take(c)
	}
	d.Check(t)
}

// TestMissed leaves choices out, and takes others where they have no effect.
func TestMissed(t *testing.T) {
	t.Parallel()
	d := Draws{Numbers: numbers}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 400 {
		c := d.Draw(rng)
		if !c.Specific() { // only those use attention
			d.Take(c)
		}
	}
	if c := d.Draw(rng); !c.Specific() && d.Take(c) {
		t.Error("400 configurations have not all choices of another one")
	}
	want := []choice{{"delta_mode", configuration.DeltaSpecific}, {"attention", configuration.AttentionOwn}, {"attention", configuration.AttentionShared}}
	if got := d.missed(); !slices.Equal(got, want) {
		t.Errorf("missed %v, want %v", got, want)
	}
}
