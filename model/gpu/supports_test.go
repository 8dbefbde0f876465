package gpu

import (
	"errors"
	"strings"
	"testing"

	"tagnet/model/configuration"
	"tagnet/model/device/interpreter"
	"tagnet/model/graph"
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

// TestOutlinesAreRefused gives a device a graph whose edges are not held.
func TestOutlinesAreRefused(t *testing.T) {
	t.Parallel()
	s := smallScenario(t, func(c *configuration.Configuration) { c.Reach = 4 })
	outline := graph.Outline(s.graph.Entities, s.graph.BaseRelations, s.graph.Edges(), s.graph.MeanLogDegree, nil)
	_, err := NewScorer(interpreter.New(), outline, nil, s.configuration, s.parameters())
	if err == nil || !strings.Contains(err.Error(), "only parts of it are held; use --device cpu") {
		t.Errorf("error %v", err)
	}
}
