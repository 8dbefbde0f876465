package names

import "strings"

// Quote returns a text as one word of a shell.
func Quote(text string) string {
	if text == "" || strings.ContainsAny(text, " \t\n'\"$&;()<>|*?[]{}#~\\`!") {
		return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
	}
	return text
}
