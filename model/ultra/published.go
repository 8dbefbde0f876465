package ultra

// published are the files of weights that the authors published, by SHA-256.
var published = map[string]string{
	"fdedc01b0045fc089d2ad5da08569466b7b221691fe978a18e91082bbb133c18": "FB15k-237, WN18RR and CoDEx-M",
	"48a046e708adf5632d87c30eacae01f5f51466b2301effdc2cb42358d22854e0": "FB15k-237, WN18RR, CoDEx-M and NELL-995",
	"f1c5377b2cf547aaa67520ffb6fce27b75b6eb3417b86dc9cf9dba89964ed10f": "50 graphs that its authors do not list",
}

// Published returns the names of the graphs that the weights of a published file were trained on, given the file's SHA-256, or
// nothing. Metrics on these graphs, and on those made of their facts, such as the inductive splits of FB15k-237 and WN18RR, are not
// those of unseen graphs.
func Published(sha256 string) string { return published[sha256] }
