package rdf

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"tagnet/formats/input/triples"
	"tagnet/formats/remedy"
)

// maxDepth bounds how deep [ ] and ( ) may nest.
const maxDepth = 100

// ReadTurtle calls each for every statement of a Turtle document, with the line on which its object begins, and prefix,
// unless it is nil, for every declaration of a prefix. Blank nodes without a label get the labels [document.1],
// [document.2] and so on. A syntax error is a triples.BadLine: what follows it cannot be read. Errors mention name.
// Compressed texts are unpacked.
func ReadTurtle(name, document string, r io.Reader, prefix func(prefix, namespace string), each func(line int, s Statement) error) error {
	text, err := triples.Unpack(name, r)
	if err != nil {
		return err
	}
	p := turtle{scanner: scanner{text: text, line: 1}, document: document, prefixes: map[string]string{}, declared: prefix, each: each}
	err = p.read()
	if wrong, ok := err.(*syntaxError); ok {
		b := triples.BadLine{File: name, Line: wrong.line, Reason: "not Turtle: " + wrong.reason,
			Remedy: remedy.Do("correct the file; nothing after this line was read")}
		if wrong.reason == errStar.Error() {
			b.Remedy = starRemedy
		}
		return b
	}
	if p.failed != nil { // the file itself could not be read
		return fmt.Errorf("reading %s: %w", name, p.failed)
	}
	return err
}

type syntaxError struct {
	line   int
	reason string
}

func (e *syntaxError) Error() string { return e.reason }

// stop is the panic that ends parsing with an error; read recovers it.
type stop struct{ error }

// turtle is a recursive-descent parser.
type turtle struct {
	scanner
	document string
	base     string
	prefixes map[string]string
	declared func(prefix, namespace string)
	each     func(line int, s Statement) error
	blanks   int
	depth    int
}

func (p *turtle) read() (err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			stopped, ok := panicked.(stop)
			if !ok {
				panic(panicked)
			}
			err = stopped.error
		}
	}()
	for {
		p.space()
		switch p.peek() {
		case end:
			return nil
		case '@':
			p.directive()
		case '[', '(', '<', '_':
			p.statement()
		default:
			p.named()
		}
	}
}

// named reads a statement whose subject is a prefixed name, or PREFIX or BASE.
func (p *turtle) named() {
	word := p.word()
	if p.peek() == ':' {
		p.predicates(Term{IRI, p.prefixed(word)}, true)
		return
	}
	switch strings.ToUpper(word) {
	case "PREFIX":
		p.prefix()
	case "BASE":
		p.baseIRI()
	default:
		p.fail("%q begins no statement", word)
	}
}

// directive reads @prefix or @base.
func (p *turtle) directive() {
	p.next()
	word := p.word()
	switch word {
	case "prefix":
		p.prefix()
	case "base":
		p.baseIRI()
	default:
		p.fail("@%s is neither @prefix nor @base", word)
	}
	p.space()
	p.expect('.', "a dot after @%s is missing", word)
}

// prefix reads the rest of a declaration.
func (p *turtle) prefix() {
	p.space()
	name := p.word()
	p.expect(':', "a colon is missing after the prefix %q", name)
	p.space()
	iri := p.iri()
	p.prefixes[name] = iri
	if p.declared != nil {
		p.declared(name, iri)
	}
}

func (p *turtle) baseIRI() {
	p.space()
	p.base = p.iri()
}

// statement reads a subject that is no prefixed name, and what is said about it.
func (p *turtle) statement() {
	bracket := p.peek() == '['
	subject := p.object()
	p.space()
	if bracket && p.peek() == '.' { // [ ... ] alone is a statement
		p.next()
		return
	}
	p.predicates(subject, true)
}

// predicates reads "predicate object, object; predicate object" and, of a statement, the dot.
func (p *turtle) predicates(subject Term, dot bool) {
	closing := rune(']')
	if dot {
		closing = '.'
	}
	for first := true; ; first = false {
		p.space()
		switch c := p.peek(); {
		case c == ';' && !first:
			p.next()
			continue
		case c == closing && !first:
			p.next()
			return
		}
		p.objects(subject, p.predicate())
		switch p.peek() {
		case ';':
		case closing:
		case '{', '~':
			p.fail("%v", errStar)
		case end:
			p.fail("the file ends within a statement")
		default:
			p.fail("%q stands where a comma, a semicolon or %q belongs", p.peek(), closing)
		}
	}
}

// predicate reads an IRI, a name with a prefix, or the word a, which stands for rdf:type.
func (p *turtle) predicate() Term {
	if p.peek() == '<' {
		return Term{IRI, p.iri()}
	}
	word := p.word()
	if word == "a" && p.peek() != ':' {
		return Term{IRI, typeIRI}
	}
	return Term{IRI, p.prefixed(word)}
}

// objects reads objects, separated by commas, and reports their statements.
func (p *turtle) objects(subject, predicate Term) {
	for {
		p.space()
		line := p.line
		p.report(line, subject, predicate, p.object())
		p.space()
		if p.peek() != ',' {
			return
		}
		p.next()
	}
}

// report calls each for a statement.
func (p *turtle) report(line int, subject, predicate, object Term) {
	if err := p.each(line, Statement{subject, predicate, object}); err != nil {
		panic(stop{err})
	}
}

// object reads an object, or a subject that is no prefixed name.
func (p *turtle) object() Term {
	switch c := p.peek(); {
	case c == '<':
		return Term{IRI, p.iri()}
	case c == '_':
		return p.labeled()
	case c == '[' || c == '(':
		if p.depth++; p.depth > maxDepth {
			p.fail("brackets are nested deeper than %d", maxDepth)
		}
		defer func() { p.depth-- }()
		p.next()
		if c == '(' {
			return p.collection()
		}
		return p.anonymous()
	case c == '"' || c == '\'':
		p.literal()
		return Term{Kind: Literal}
	case c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.':
		p.number()
		return Term{Kind: Literal}
	case c == end:
		p.fail("the file ends within a statement")
	}
	// What is left is a word: a truth value or a name with a prefix.
	word := p.word()
	if p.peek() != ':' && (word == "true" || word == "false") {
		return Term{Kind: Literal}
	}
	return Term{IRI, p.prefixed(word)}
}

// blank returns a new blank node. Its label is none that a document can have.
func (p *turtle) blank() Term {
	p.blanks++
	return Term{Blank, fmt.Sprintf("[%s.%d]", p.document, p.blanks)}
}

// anonymous reads what follows a [.
func (p *turtle) anonymous() Term {
	node := p.blank()
	p.space()
	if p.peek() == ']' {
		p.next()
	} else {
		p.predicates(node, false)
	}
	return node
}

// collection reads what follows a (, and reports the list's statements.
func (p *turtle) collection() Term {
	head := Term{IRI, nilIRI}
	var last Term
	for {
		p.space()
		line := p.line
		if p.peek() == ')' {
			p.next()
			if last.Value != "" {
				p.report(line, last, Term{IRI, restIRI}, Term{IRI, nilIRI})
			}
			return head
		}
		item := p.object()
		node := p.blank()
		if last.Value == "" {
			head = node
		} else {
			p.report(line, last, Term{IRI, restIRI}, node)
		}
		p.report(line, node, Term{IRI, firstIRI}, item)
		last = node
	}
}

// literal skips a quoted literal with its language or type.
func (p *turtle) literal() {
	p.quoted()
	switch p.peek() {
	case '@':
		p.next()
		if p.word() == "" {
			p.fail("a literal has no language after @")
		}
	case '^':
		p.next()
		p.expect('^', "a literal's type needs ^^")
		p.space()
		if p.peek() == '<' {
			p.iri()
		} else {
			p.prefixed(p.word())
		}
	}
}

// iri reads an IRI in angle brackets and resolves it against the base.
func (p *turtle) iri() string {
	iri, err := decodeIRI(p.bracketed())
	if err != nil {
		p.fail("%v", err)
	}
	if isAbsolute(iri) {
		return iri
	}
	if p.base == "" {
		p.fail("<%s> is relative and the document has no @base", triples.Shown([]byte(iri)))
	}
	return resolve(p.base, iri)
}

// prefixed reads what follows a prefix and returns the IRI.
func (p *turtle) prefixed(prefix string) string {
	if p.peek() != ':' {
		if prefix == "" {
			p.fail("%q begins no term", p.peek())
		}
		p.fail("%q is no term: a prefixed name has a colon", prefix)
	}
	namespace, known := p.prefixes[prefix]
	if !known {
		p.fail("the prefix %q is not declared", prefix+":")
	}
	p.next()
	return namespace + p.local()
}

// labeled reads a blank node with a label.
func (p *turtle) labeled() Term {
	p.next()
	p.expect(':', "a blank node begins with _:")
	label := p.word()
	if label == "" {
		p.fail("a blank node has no label")
	}
	return Term{Blank, label}
}

// resolve resolves a relative IRI against an absolute one, as RFC 3986 does, without touching its letters.
func resolve(base, relative string) string {
	// The base is scheme:, //authority, path and ?query.
	base, _, _ = strings.Cut(base, "#")
	scheme, rest, _ := strings.Cut(base, ":")
	authority := ""
	if after, ok := strings.CutPrefix(rest, "//"); ok {
		length := strings.IndexAny(after, "/?")
		if length < 0 {
			length = len(after)
		}
		authority, rest = "//"+after[:length], after[length:]
	}
	path, _, hasQuery := strings.Cut(rest, "?")
	// References that replace everything behind some part of the base.
	switch {
	case relative == "":
		return base
	case strings.HasPrefix(relative, "#"):
		return base + relative
	case strings.HasPrefix(relative, "//"):
		return scheme + ":" + relative
	case strings.HasPrefix(relative, "?"):
		if hasQuery {
			base, _, _ = strings.Cut(base, "?")
		}
		return base + relative
	}
	// A path replaces the last segment of the base's path.
	tail := ""
	if i := strings.IndexAny(relative, "?#"); i >= 0 {
		relative, tail = relative[:i], relative[i:]
	}
	if !strings.HasPrefix(relative, "/") {
		if path == "" && authority != "" {
			path = "/"
		}
		relative = path[:strings.LastIndexByte(path, '/')+1] + relative
	}
	return scheme + ":" + authority + withoutDots(relative) + tail
}

// withoutDots removes the segments . and .. of a path.
func withoutDots(path string) string {
	segments := strings.Split(path, "/")
	var kept []string
	for i, segment := range segments {
		last := i == len(segments)-1
		switch segment {
		case ".", "..":
			if segment == ".." && len(kept) > 0 && (len(kept) > 1 || kept[0] != "") {
				kept = kept[:len(kept)-1]
			}
			if last {
				kept = append(kept, "")
			}
		default:
			kept = append(kept, segment)
		}
	}
	return strings.Join(kept, "/")
}

// scanner reads letters and words.
type scanner struct {
	text   *bufio.Reader
	line   int
	ahead  rune // the next letter, or 0
	failed error
}

// end is what peek and next return at the end of the text, or where it cannot be read.
const end rune = -1

// fail ends parsing with a syntax error on the present line, or with the error of the reader if the
// text could not be read.
func (s *scanner) fail(format string, arguments ...any) { s.failFrom(s.line, format, arguments...) }

// failFrom ends parsing like fail, but names the line on which an unfinished text begins.
func (s *scanner) failFrom(line int, format string, arguments ...any) {
	if s.failed != nil {
		panic(stop{s.failed})
	}
	panic(stop{&syntaxError{line, fmt.Sprintf(format, arguments...)}})
}

// peek returns the next letter without reading it.
func (s *scanner) peek() rune {
	if s.ahead != 0 {
		return s.ahead
	}
	r, size, err := s.text.ReadRune()
	switch {
	case err == io.EOF:
		r = end
	case err != nil:
		s.failed, r = err, end
	case r == '\uFFFD' && size == 1:
		s.failed, r = &syntaxError{s.line, "invalid UTF-8"}, end
	case r == 0:
		s.failed, r = &syntaxError{s.line, "NUL"}, end
	}
	s.ahead = r
	return r
}

// next reads a letter.
func (s *scanner) next() rune {
	r := s.peek()
	if r != end {
		s.ahead = 0
	}
	if r == '\n' {
		s.line++
	}
	return r
}

// expect reads a letter, and fails if it is another one.
func (s *scanner) expect(r rune, format string, arguments ...any) {
	if s.next() != r {
		s.fail(format, arguments...)
	}
}

// space skips white space and comments. A text that cannot be read on ends parsing.
func (s *scanner) space() {
	for comment := false; ; {
		switch c := s.peek(); {
		case c == end && s.failed != nil:
			panic(stop{s.failed})
		case c == end:
			return
		case c == '\n':
			comment = false
		case c == '#':
			comment = true
		case !comment && c != ' ' && c != '\t' && c != '\r':
			return
		}
		s.next()
	}
}

// word reads letters of names; dots belong to it, but not at its end. It may be empty.
func (s *scanner) word() string { return s.name(inLabel, false) }

// local reads the part of a prefixed name after its colon.
func (s *scanner) local() string {
	return s.name(func(r rune) bool { return r == ':' || inLabel(r) }, true)
}

// longestName bounds names in memory. Longer ones than triples.MaxName are refused anyway.
const longestName = 1 << 20

// name reads a name of certain letters and dots within it and, in the local part of a prefixed name, escapes.
func (s *scanner) name(in func(rune) bool, escapes bool) string {
	var name strings.Builder
	for name.Len() <= longestName {
		c := s.peek()
		switch {
		case in(c):
			name.WriteRune(s.next())
		case c == '.' && s.dotWithin(in, escapes):
			name.WriteRune(s.next())
		case escapes && c == '%':
			s.next()
			high, low := s.next(), s.next()
			if !isHex(high) || !isHex(low) {
				s.fail("%% in a name needs two hexadecimal digits")
			}
			name.WriteString(string([]rune{'%', high, low}))
		case escapes && c == '\\':
			s.next()
			if !strings.ContainsRune("_~.-!$&'()*+,;=/?#@%", s.peek()) {
				s.fail(`\%c is no escape of a name`, s.peek())
			}
			name.WriteRune(s.next())
		default:
			return name.String()
		}
	}
	s.fail("a name is longer than %d bytes", longestName)
	return ""
}

// dotWithin reports whether the next letter, a dot, is followed by more of the name.
func (s *scanner) dotWithin(in func(rune) bool, escapes bool) bool {
	for n := 1; n <= 64; n++ { // the dot itself has been read into ahead
		following, _ := s.text.Peek(4 * n)
		letters := []rune(string(following))
		if len(letters) < n {
			return false
		}
		if c := letters[n-1]; c != '.' {
			return in(c) || escapes && (c == '%' || c == '\\')
		}
	}
	return false
}

func isHex(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'f' || r >= 'A' && r <= 'F'
}

// bracketed reads an IRI with its angle brackets and returns what they hold.
func (s *scanner) bracketed() string {
	s.expect('<', "an IRI begins with <")
	if s.peek() == '<' {
		s.fail("%v", errStar)
	}
	var text strings.Builder
	begin := s.line
	for text.Len() <= longestName {
		switch c := s.next(); c {
		case '>':
			return text.String()
		case end, '\n':
			s.failFrom(begin, "an IRI lacks its >")
		default:
			text.WriteRune(c)
		}
	}
	s.fail("an IRI is longer than %d bytes", longestName)
	return ""
}

// quoted skips a text in one or three quotation marks.
func (s *scanner) quoted() {
	begin, mark := s.line, s.next()
	// Two marks are the empty text, three begin a long one.
	long := false
	if s.peek() == mark {
		s.next()
		if s.peek() != mark {
			return // the empty text
		}
		s.next()
		long = true
	}
	// A backslash hides the next letter; a long text ends at three marks in a row.
	for marks := 0; ; {
		c := s.next()
		switch {
		case c == end:
			s.failFrom(begin, "a literal lacks its closing quote")
		case c == '\\':
			s.next()
			marks = 0
		case c == mark && !long:
			return
		case c == mark:
			if marks++; marks == 3 {
				for s.peek() == mark { // the text ends in quotation marks itself
					s.next()
				}
				return
			}
		case c == '\n' && !long:
			s.failFrom(begin, "a literal lacks its closing quote")
		default:
			marks = 0
		}
	}
}

func (s *scanner) number() {
	digits := false
	for {
		c := s.peek()
		switch {
		case c >= '0' && c <= '9':
			digits = true
		case c == '.':
			if !s.dotWithin(func(r rune) bool { return r >= '0' && r <= '9' || r == 'e' || r == 'E' }, false) {
				if !digits {
					s.fail("a dot stands where an object belongs")
				}
				return // the end of the statement
			}
		case c == '+', c == '-', c == 'e', c == 'E':
		default:
			if !digits {
				s.fail("%q begins no term", c)
			}
			return
		}
		s.next()
	}
}
