package strict

import (
	"strings"
	"testing"
)

func TestMistake(t *testing.T) {
	t.Parallel()
	text := "{\"name\": \"a\",\n \"any\": [{\"b\": 1}, {\"c/d\": {\"e\": 2}}],\n \"rate\": 2}\n"
	for path, want := range map[string]string{
		"":            "1:1",
		"rate":        "3:2",
		"rate x":      "3:2",
		"any 1 c/d e": "2:29",
		"any 1 none":  "2:20",
		"any 7":       "2:2",
		"none none":   "1:1",
	} {
		err := Mistake("f.json", []byte(text), "rate is 2: want 0 to 1", strings.Fields(path)...)
		if err.Error() != "f.json:"+want+": rate is 2: want 0 to 1" {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
}
