package pretrained

import (
	"slices"
	"strings"
	"unicode"

	"tagnet/model/weights/checkpoint"
	"tagnet/model/zoo"
)

// publication is a published file of weights.
type publication struct {
	// graphs names the graphs that it was trained on.
	graphs string
	// prefixes begin the names of datasets with facts of these graphs, in lower case without other characters than
	// letters and digits.
	prefixes []string
}

// The prefixes of 3 graphs, of 4, and of the graphs among the 50 that the authors name.
var (
	three = []string{"fb15k237", "fb237", "wn18rr", "codexm"}
	four  = append(slices.Clip(three), "nell995", "nellv")
	fifty = append(slices.Clip(four), "yago310", "dbpedia100k", "aristov4", "hetionet", "wdsinger", "codexs", "nell23k", "conceptnet100k", "ilpc")
)

// published are the files of weights that the authors published, by SHA-256. They name these of the 50
// graphs on the site of their repository.
var published = map[string]publication{
	"fdedc01b0045fc089d2ad5da08569466b7b221691fe978a18e91082bbb133c18": {"FB15k-237, WN18RR and CoDEx-M", three},
	"48a046e708adf5632d87c30eacae01f5f51466b2301effdc2cb42358d22854e0": {"FB15k-237, WN18RR, CoDEx-M and NELL-995", four},
	"f1c5377b2cf547aaa67520ffb6fce27b75b6eb3417b86dc9cf9dba89964ed10f": {"50 graphs: FB15k-237 (and a tenth of it), WN18RR, CoDEx-S, CoDEx-M, NELL-995, " +
		"NELL23k, YAGO3-10, DBpedia100k, AristoV4, Hetionet, WDsinger, " +
		"ConceptNet100k, the inductive splits v1 to v4 of FB15k-237, WN18RR and NELL, ILPC 2022 small and large, and 23 more", fifty},
}

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

// trainedOn returns names of the graphs and prefixes of datasets with their facts, nothing for an unknown file.
// Metrics on these graphs, and on graphs made of their facts, such as the inductive splits of FB15k-237 and WN18RR, are
// not metrics on unseen graphs.
func trainedOn(origin checkpoint.Origin) (graphs string, prefixes []string) {
	if m, err := zoo.Open(origin.Model); err == nil && m.Record.Mixture != nil {
		return strings.Join(m.Record.Mixture.Names(), ", "), m.Card.Seen
	}
	p := published[origin.SHA256]
	return p.graphs, p.prefixes
}
