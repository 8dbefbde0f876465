package tuning

import (
	"fmt"
	"slices"

	"tagnet/model/configuration"
)

// Candidate is a configuration that a search tries.
type Candidate struct {
	// Number is 0 for the configuration that the search begins from.
	Number int
	// Configuration has the epochs of the last rung.
	Configuration configuration.Configuration
}

// mostAttempts bounds the draws for a candidate that is valid and equal to no other.
const mostAttempts = 100

// Draw returns the configurations that a search tries: the base, so that the search does not end below it, and draws from its space. A draw that is
// not a valid configuration, or equal to one before, is drawn again; a small space may have fewer than the search asks for.
func (s Search) Draw(base configuration.Configuration) []Candidate {
	base.Epochs = s.Rungs[len(s.Rungs)-1]
	list := []Candidate{{0, base}}
	for n := 1; n < s.Candidates; n++ {
		for attempt := range mostAttempts {
			c, err := s.Space.sample(s.Seed, n, attempt).over(base)
			equal := func(other Candidate) bool { return other.Configuration == c }
			if err == nil && c.Validate() == nil && !slices.ContainsFunc(list, equal) {
				list = append(list, Candidate{n, c})
				break
			}
		}
	}
	return list
}

// Value returns a hyperparameter of a configuration by its name, as a flag of train has it.
func Value(c configuration.Configuration, field string) string {
	f, known := configuration.FieldNamed(field)
	if !known {
		panic("tuning: no hyperparameter " + field)
	}
	return fmt.Sprint(f.Of(c))
}

// Fields returns the names of the hyperparameters of a space, in the order of a command's help.
func (s Space) Fields() []string {
	var list []string
	for _, f := range configuration.Fields() {
		if _, ok := s[f.Name]; ok {
			list = append(list, f.Name)
		}
	}
	return list
}
