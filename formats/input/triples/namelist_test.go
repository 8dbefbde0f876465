package triples

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadNames(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a\nb c\n": "1 a,2 b c", "\ufeffa\r\nb": "1 a,2 b", "a\n\n\r\n": "1 a",
		"": "f: the file is empty", "a\n\nb\n": "f:2: blank line; remove it", "a\n0\tb\n": "f:2: a tab", "a\n\xff\n": "f:2: invalid UTF-8",
		"a\n" + strings.Repeat("x", MaxName+1): "f:2: the name has 4097 bytes, the limit for a name is 4096",
		"a\n" + strings.Repeat("x", MaxLine+1): "f:2: line longer",
	} {
		var got []string
		err := ReadNames("f", strings.NewReader(text), func(line int, name string) error {
			got = append(got, fmt.Sprint(line, " ", name))
			return nil
		})
		found := strings.Join(got, ",")
		if err != nil {
			found = err.Error()
		}
		if !strings.HasPrefix(found, want) || err == nil && found != want {
			t.Errorf("%.20q:\n%s", text, cmp.Diff(want, found))
		}
	}
}
