package names

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Escape returns a name, or any text, as it is shown to a person: what a terminal or a browser would obey instead of
// showing is replaced by its Go escape, such as \n, \x1b or \u202e. These are control characters, line separators,
// marks and overrides of the direction of writing, byte-order marks, and bytes that are not UTF-8. All else stays,
// backslashes too: the result is for reading, and Field is for files. What is printed by package command, and by
// package progress, is escaped there.
func Escape(text string) string {
	at := strings.IndexFunc(text, obeyed)
	if at < 0 && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		if obeyed(r) || r == utf8.RuneError && size == 1 {
			quoted := strconv.QuoteToASCII(text[:size])
			b.WriteString(quoted[1 : len(quoted)-1])
		} else {
			b.WriteString(text[:size])
		}
		text = text[size:]
	}
	return b.String()
}

// obeyed reports whether a rune changes how the text around it is shown. Joiners are not among them: words of some
// languages need them.
func obeyed(r rune) bool {
	switch {
	case unicode.IsControl(r), unicode.In(r, unicode.Zl, unicode.Zp, unicode.Bidi_Control):
		return true
	}
	return r == '\ufeff'
}

// Field returns a name as a field of tab-separated text: the name itself, or a JSON string if it begins with a double
// quote or has characters that Escape replaces, none of which the string then has. formats/README.md describes the form
// to those who read it.
func Field(name string) string {
	if !strings.HasPrefix(name, `"`) && Escape(name) == name {
		return name
	}
	var quoted, b strings.Builder
	encoder := json.NewEncoder(&quoted)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(name) // does not fail for a string
	for _, r := range strings.TrimSuffix(quoted.String(), "\n") {
		if obeyed(r) { // DEL and others that JSON allows
			b.WriteString(`\u` + strconv.FormatInt(0x10000+int64(r), 16)[1:])
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
