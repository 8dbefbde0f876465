package pretrained

import (
	"testing"

	"tagnet/model/weights/checkpoint"
)

// TestSeen recognizes the datasets of a training by the names that their folders have.
func TestSeen(t *testing.T) {
	const three, four, fifty = "fdedc01b0045fc089d2ad5da08569466b7b221691fe978a18e91082bbb133c18",
		"48a046e708adf5632d87c30eacae01f5f51466b2301effdc2cb42358d22854e0", "f1c5377b2cf547aaa67520ffb6fce27b75b6eb3417b86dc9cf9dba89964ed10f"
	for name, first := range map[string]string{
		"fb15k-237": three, "FB15k237": three, "WN18RR_v3_ind": three, "fb237_v1": three, "codex-m": three, "nell-995": four, "grail": "", "nell_v2_ind": four,
		"codex-s": fifty, "CoDExSmall": fifty, "ilpc22-small": fifty, "hetionet": fifty, "umls": "", "family": "", "": "",
	} {
		seen := first != ""
		for _, file := range []string{fifty, four, three} {
			if got := Seen(checkpoint.Origin{SHA256: file}, name); got != seen {
				t.Errorf("%q: %v for %.4s, want %v", name, got, file, seen)
			}
			seen = seen && file != first
		}
		if Seen(checkpoint.Origin{SHA256: "another"}, name) {
			t.Errorf("%q is seen by unknown weights", name)
		}
	}
	for name, want := range map[string]bool{
		"WN18RR_v3_ind": true, "fb237_v1": true, "codex-m": true, "ilpc22-small": true, "wikitopics-award_ind": true, "PediaTypes-DB2WD": true,
		"codex-s": false, "wikitopics-art": false, "pediatypes-YG2DB": false, "nell-995": false, "umls": false, "": false,
	} {
		if got := Seen(checkpoint.Origin{Model: "zero"}, name); got != want {
			t.Errorf("%q: %v for zero, want %v", name, got, want)
		}
	}
}
