package workspace

import "testing"

func TestProgram(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ started, want string }{
		{"/tmp/go-build2153944476/b001/exe/train", "go run ./pipelines/score"},
		{"/tmp/x/train.test", "go run ./pipelines/score"},
		{"bin/train", "bin/score"},
		{"./train", "./score"},
		{"train", "score"},
		{"/opt/my tools/train", "'/opt/my tools/score'"},
		{"tagnet", "tagnet score"},
		{"/usr/bin/tagnet", "/usr/bin/tagnet score"},
	} {
		if got := program(test.started, "score"); got != test.want {
			t.Errorf("started as %s: %q, want %q", test.started, got, test.want)
		}
	}
}
