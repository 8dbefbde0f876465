package names

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
	"unicode"
)

// hostile are names, and how Escape and Field write them.
var hostile = []struct{ name, shown, field string }{
	{"Zoë Rose", "Zoë Rose", "Zoë Rose"},
	{"", "", ""},
	{`C:\x1b "quoted"`, `C:\x1b "quoted"`, `C:\x1b "quoted"`},
	{`"Berlin"@de`, `"Berlin"@de`, `"\"Berlin\"@de"`},
	{"\x1b[31mred\x1b[0m", `\x1b[31mred\x1b[0m`, `"\u001b[31mred\u001b[0m"`},
	{"a\tb\nc\rd", `a\tb\nc\rd`, `"a\tb\nc\rd"`},
	{"del\x7f c1\u009b31m", `del\x7f c1\u009b31m`, `"del\u007f c1\u009b31m"`},
	{"abc\u202edef\u202c \u2066x\u2069", `abc\u202edef\u202c \u2066x\u2069`, `"abc\u202edef\u202c \u2066x\u2069"`},
	{"line\u2028paragraph\u2029", `line\u2028paragraph\u2029`, `"line\u2028paragraph\u2029"`},
	{"\ufeffmark", `\ufeffmark`, `"\ufeffmark"`},
	{"می\u200cخواهم 👩\u200d🔬", "می\u200cخواهم 👩\u200d🔬", "می\u200cخواهم 👩\u200d🔬"},
	{"<b>&amp;\x00", `<b>&amp;\x00`, `"<b>&amp;\u0000"`},
	{"not\xffUTF-8 \ufffd", `not\xffUTF-8 ` + "\ufffd", "\"not\\ufffdUTF-8 \ufffd\""},
}

func TestEscape(t *testing.T) {
	t.Parallel()
	for _, test := range hostile {
		if got := Escape(test.name); got != test.shown {
			t.Errorf("%q: %s, want %s", test.name, got, test.shown)
		}
		if got := Escape(test.shown); got != test.shown {
			t.Errorf("%q is escaped twice: %s", test.name, got)
		}
	}
}

func TestField(t *testing.T) {
	t.Parallel()
	for _, test := range hostile {
		got := Field(test.name)
		if got != test.field {
			t.Errorf("%q: %s, want %s", test.name, got, test.field)
		}
		if strings.ContainsFunc(got, unicode.IsControl) {
			t.Errorf("%q is not one field: %q", test.name, got)
		}
		back := got
		if strings.HasPrefix(got, `"`) { // as formats/README.md tells readers
			if err := json.Unmarshal([]byte(got), &back); err != nil {
				t.Errorf("%s: %v", got, err)
			}
		}
		if want := strings.ToValidUTF8(test.name, "\ufffd"); back != want {
			t.Errorf("%s is read as %q, want %q", got, back, want)
		}
	}
}

// TestQuote gives the words to a shell.
func TestCommandLine(t *testing.T) {
	if line := CommandLine("train", "--preset", "my presets/a.json"); line != "train --preset 'my presets/a.json'" {
		t.Error(line)
	}
}

func TestQuote(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	for _, test := range hostile {
		if strings.Contains(test.name, "\x00") {
			continue // no argument of a program has it
		}
		for _, name := range []string{test.name, "it's " + test.name, `\` + test.name} {
			word := Quote(name)
			output, err := exec.CommandContext(t.Context(), bash, "-c", "LC_ALL=C.UTF-8; printf %s "+word).Output()
			if err != nil || string(output) != name {
				t.Errorf("%q: %s is %q, %v", name, word, output, err)
			}
			if Escape(word) != word {
				t.Errorf("%q: the word %q has to be escaped", name, word)
			}
		}
	}
}
