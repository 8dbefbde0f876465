package report

import (
	"strings"
	"testing"

	"tagnet/model/checkpoint"
	"tagnet/pipelines/internal/workspace"
)

// TestOrigin checks what is said of weights that were published, and of an approximation.
func TestOrigin(t *testing.T) {
	t.Parallel()
	published := &checkpoint.Origin{File: "ultra_3g.pth", SHA256: "fdedc01b0045fc089d2ad5da08569466b7b221691fe978a18e91082bbb133c18"}
	for name, c := range map[string]struct {
		of   workspace.Evaluated
		want string
	}{
		"a trained model": {workspace.Evaluated{}, ""},
		"other weights":   {workspace.Evaluated{Given: &checkpoint.Origin{File: "own.pth", SHA256: "another"}}, ""},
		"published":       {workspace.Evaluated{Given: published}, "published as ultra_3g.pth, trained on FB15k-237, WN18RR and CoDEx-M. On these graphs"},
		"a radius":        {workspace.Evaluated{Given: published, Radius: 3}, "unseen graph. With --radius 3, which is an approximation"},
	} {
		got := strings.Join(evaluation{of: c.of}.origin(), " ")
		if !strings.Contains(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
