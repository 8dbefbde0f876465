package weightstest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"tagnet/model/weights/configuration"
)

// Draws are the random configurations of a test. It draws the choices in the table of hyperparameters: one that is
// added there is drawn, too, and a test that never took it fails.
type Draws struct {
	// Numbers sets the hyperparameters that are numbers, of a configuration whose choices are drawn.
	Numbers func(rng *rand.Rand, c *configuration.Configuration)
	// Refuses returns the field whose value the test's subject does not compute, or "". Nil refuses nothing.
	Refuses func(c configuration.Configuration) string

	drawnValues map[choice]bool
}

// choice is a value of a field of which all values are listed.
type choice struct{ field, value string }

// most bounds how often what does not go together is drawn again.
const most = 10000

// Draw returns a random configuration that is valid and not refused. It draws the fields again that Violations names.
func (d *Draws) Draw(rng *rand.Rand) configuration.Configuration {
	c := configuration.Default()
	for _, f := range configuration.Fields() {
		choose(rng, f, &c)
	}
	d.Numbers(rng, &c)
	for range most {
		again := d.wrong(c)
		if len(again) == 0 {
			return c
		}
		numbers := false
		for _, f := range configuration.Fields() {
			if slices.Contains(again, f.Name) {
				choose(rng, f, &c)
				numbers = numbers || f.Choices() == nil
			}
		}
		if numbers {
			d.Numbers(rng, &c)
		}
	}
	panic(fmt.Sprintf("no draw gives a configuration that is valid: %v; configuration %s", d.wrong(c), c))
}

// wrong returns the names of the fields because of which a configuration cannot be taken.
func (d *Draws) wrong(c configuration.Configuration) (fields []string) {
	for _, v := range c.Violations() {
		fields = append(fields, v.Field)
	}
	if len(fields) == 0 && d.Refuses != nil {
		if field := d.Refuses(c); field != "" {
			fields = append(fields, field)
		}
	}
	return fields
}

// choose sets a field to one of its choices, which include the default. It leaves a number as it is.
func choose(rng *rand.Rand, f configuration.Field, c *configuration.Configuration) {
	choices := f.Choices()
	if choices == nil {
		return
	}
	if text := fmt.Sprint(f.Default); !slices.Contains(choices, text) {
		choices = append(choices, text)
	}
	set(f, c, choices[rng.IntN(len(choices))])
}

func set(f configuration.Field, c *configuration.Configuration, text string) {
	if err := f.Set(c, text); err != nil {
		panic(fmt.Sprintf("%s %s: %v", f.Name, text, err)) // the table accepts what it lists
	}
}

// Take notes the choices of a configuration that the test compares, and reports whether none before had one of them.
// Choices of fields that the configuration does not use do not count.
func (d *Draws) Take(c configuration.Configuration) (first bool) {
	if d.drawnValues == nil {
		d.drawnValues = map[choice]bool{}
	}
	for _, f := range configuration.Fields() {
		one := choice{f.Name, fmt.Sprint(f.Of(c))}
		if f.Choices() != nil && f.Used(c) && !d.drawnValues[one] {
			d.drawnValues[one], first = true, true
		}
	}
	return first
}

// Check reports each choice that the test took in no configuration, except refused ones.
func (d *Draws) Check(t testing.TB) {
	t.Helper()
	for _, missed := range d.missed() {
		t.Errorf("no configuration has %s %s, which the test has to compare", missed.field, missed.value)
	}
}

// missed returns the choices that no draw took and that are not refused.
func (d *Draws) missed() (missed []choice) {
	for _, f := range configuration.Fields() {
		for _, value := range f.Choices() {
			c := configuration.Default()
			set(f, &c, value)
			refused := d.Refuses != nil && d.Refuses(c) == f.Name
			if one := (choice{f.Name, value}); !d.drawnValues[one] && !refused {
				missed = append(missed, one)
			}
		}
	}
	return missed
}
