package interpreter

import "strings"

// statement is a directive, a label (with its colon), an instruction (without its semicolon), or a brace.
type statement struct {
	text string
	line int
}

// scan splits PTX into statements and drops the comments.
func scan(text string) (statements []statement) {
	line, i := 1, 0
	var current strings.Builder
	begin, braces, parentheses := 0, 0, 0
	end := func() {
		if s := strings.TrimSpace(current.String()); s != "" {
			statements = append(statements, statement{s, begin})
		}
		current.Reset()
		begin, braces, parentheses = 0, 0, 0
	}
	for i < len(text) {
		c := text[i]
		// Comments are dropped.
		if strings.HasPrefix(text[i:], "//") {
			for i < len(text) && text[i] != '\n' {
				i++
			}
			continue
		}
		i++
		if c == '\n' {
			line++
		}
		if begin == 0 && c > ' ' {
			begin = line
		}
		// A statement ends with a semicolon, a label with a colon, some directives with the line; a brace is a
		// statement outside of lists.
		so := current.String()
		switch {
		case c == '\n' && endsWithLine(so):
			end()
		case c == ';' && braces == 0:
			end()
		case c == ':' && isName(so):
			current.WriteByte(':')
			end()
		case c == '{' && parentheses == 0 && (so == "" || strings.Contains(so, ".entry") || strings.Contains(so, ".func")), c == '}' && so == "":
			end()
			statements = append(statements, statement{string(c), line})
		default:
			switch c {
			case '{':
				braces++
			case '}':
				braces--
			case '(':
				parentheses++
			case ')':
				parentheses--
			case '\n', '\t', '\r':
				c = ' '
			}
			if c != ' ' || so != "" {
				current.WriteByte(c)
			}
		}
	}
	end()
	return statements
}

// endsWithLine reports whether a directive ends with its line, without a semicolon.
func endsWithLine(s string) bool {
	for _, d := range []string{".version", ".target", ".address_size"} {
		if strings.HasPrefix(s, d) {
			return true
		}
	}
	return false
}

// isName reports whether s can be the name of a label.
func isName(s string) bool {
	for _, c := range s {
		if c != '_' && c != '$' && c != '%' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return s != ""
}

// split cuts operands at commas outside of braces, brackets and parentheses.
func split(s string) (out []string) {
	depth, from := 0, 0
	for i, c := range s {
		switch c {
		case '{', '[', '(':
			depth++
		case '}', ']', ')':
			depth--
		case ',':
			if depth == 0 {
				out = append(out, strings.TrimSpace(s[from:i]))
				from = i + 1
			}
		}
	}
	if rest := strings.TrimSpace(s[from:]); rest != "" {
		out = append(out, rest)
	}
	return out
}
