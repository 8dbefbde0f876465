package lint

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// The most columns of a line of code and of a line that is a comment; a tab takes four.
const mostOfCode, mostOfComment, columnsOfTab = 160, 120, 4

// tooLong returns the lines of a Go file that have too many columns.
func tooLong(name, text string) (found []string) {
	for i, line := range strings.Split(text, "\n") {
		most := mostOfCode
		if strings.HasPrefix(strings.TrimLeft(line, "\t"), "//") {
			most = mostOfComment
		}
		if columns := utf8.RuneCountInString(line) + (columnsOfTab-1)*strings.Count(line, "\t"); columns > most {
			found = append(found, fmt.Sprintf("%s:%d: %d columns, want at most %d", name, i+1, columns, most))
		}
	}
	return found
}

// TestLinesFitAScreen holds that no line is so long that a reader has to scroll. What is generated is read by nobody.
func TestLinesFitAScreen(t *testing.T) {
	top, files := tracked(t)
	for _, file := range files {
		if filepath.Ext(file) != ".go" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(top, file))
		if err != nil || marker.Match(text) {
			continue // removed, but not yet committed; or generated
		}
		for _, line := range tooLong(file, string(text)) {
			t.Error(line)
		}
	}
}

func TestTooLong(t *testing.T) {
	x := strings.Repeat("ä", 130)
	for text, want := range map[string]string{
		"\t// " + x:                    "f:1: 137 columns, want at most 120",
		"// " + x[:2*117]:              "",
		"\tf(" + x + ") // x":          "",
		"a\n\tf(" + x + x[:2*27] + ")": "f:2: 164 columns, want at most 160",
	} {
		if got := strings.Join(tooLong("f", text), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
