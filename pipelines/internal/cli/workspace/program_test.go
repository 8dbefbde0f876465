package workspace

import (
	"strings"
	"testing"
)

func TestProgram(t *testing.T) {
	t.Parallel()
	cached := "/ci/cache/4d/" + strings.Repeat("4d", 32) + "-d/" // of go run, wherever GOCACHE is
	for _, test := range []struct {
		started  string
		together bool
		want     string
	}{
		{"/tmp/go-build2153944476/b001/exe/train", false, "go run ./pipelines/score"},
		{cached + "train", false, "go run ./pipelines/score"},
		{cached + "tagnet", true, "go run ./pipelines/tagnet score"},
		{"/tmp/x/train.test", false, "go run ./pipelines/score"},
		{"bin/train", false, "bin/score"},
		{"./train", false, "./score"},
		{"train", false, "score"},
		{"/opt/my tools/train", false, "'/opt/my tools/score'"},
		{"tagnet", true, "tagnet score"},
		{"/usr/bin/tagnet", true, "/usr/bin/tagnet score"},
		{"bin/tagnet-2", true, "bin/tagnet-2 score"},
	} {
		if got := program(test.started, test.together, "score"); got != test.want {
			t.Errorf("started as %s: %q, want %q", test.started, got, test.want)
		}
	}
}
