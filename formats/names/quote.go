package names

import "strings"

// Quote returns a text as one word of a shell. A text with characters that Escape replaces is written with their
// escapes, in the quotes $'...' of bash, ksh and zsh.
func Quote(text string) string {
	switch {
	case Escape(text) != text:
		return "$'" + Escape(strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text)) + "'"
	case text == "" || strings.ContainsAny(text, " '\"$&;()<>|*?[]{}#~\\`!"):
		return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
	}
	return text
}

// CommandLine returns words as a shell takes them: quoted, and separated by spaces.
func CommandLine(words ...string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = Quote(word)
	}
	return strings.Join(quoted, " ")
}
