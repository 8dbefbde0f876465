package gpu

import (
	"errors"
	"testing"

	"tagnet/model/configuration"
)

// TestUnknownChoicesAreRefused gives devices choices that only a processor computes, or might compute.
func TestUnknownChoicesAreRefused(t *testing.T) {
	t.Parallel()
	for field, change := range map[string]func(*configuration.Configuration){
		"aggregate": func(c *configuration.Configuration) { c.Aggregate = "median" },
		"message":   func(c *configuration.Configuration) { c.Message = "quate" },
		"relations": func(c *configuration.Configuration) { c.Relations = "constants" },
		"ground":    func(c *configuration.Configuration) { c.Incidences = true },
	} {
		c := configuration.Default()
		change(&c)
		if got, is := errors.AsType[*UnsupportedError](Supports(c)); !is || got.Field != field {
			t.Errorf("another %s: %v", field, got)
		}
	}
	if err := Supports(configuration.Default()); err != nil {
		t.Error(err)
	}
}
