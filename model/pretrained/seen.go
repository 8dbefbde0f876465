package pretrained

import (
	"slices"
	"strings"
	"unicode"

	"tagnet/model/weights/checkpoint"
	"tagnet/model/zoo"
)

// Graphs names the graphs that weights of any graph were trained on, or returns "" if they are not known.
func Graphs(origin checkpoint.Origin) string {
	graphs, _ := trainedOn(origin)
	return graphs
}

// Seen reports whether weights of any graph were trained on facts of a dataset, as far as the names of the dataset and
// of the weights' graphs tell.
func Seen(origin checkpoint.Origin, dataset string) bool {
	name := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, dataset)
	_, prefixes := trainedOn(origin)
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// trainedOn returns the names of the graphs, and the prefixes of datasets with their facts.
func trainedOn(origin checkpoint.Origin) (graphs string, prefixes []string) {
	if m, err := zoo.Open(origin.Model); err == nil && m.Record.Mixture != nil {
		return strings.Join(m.Record.Mixture.Names(), ", "), m.Card.Seen
	}
	return PublishedULTRA(origin.SHA256)
}
