package rdf

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"tagnet/formats/triples"
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
		return triples.BadLine{File: name, Line: wrong.line, Reason: "not Turtle: " + wrong.reason, Remedy: "correct the file; nothing after this line was read"}
	}
	if p.failed != nil { // the file itself could not be read
		return fmt.Errorf("reading %s: %w", name, p.failed)
	}
	return err
}

// syntaxError is an error of the document.
type syntaxError struct {
	line   int
	reason string
}

func (e *syntaxError) Error() string { return e.reason }

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

// read reads all statements.
func (p *turtle) read() error {
	for {
		if err := p.space(); err != nil {
			return err
		}
		c := p.peek()
		if c == end {
			return nil
		}
		var err error
		switch {
		case c == '@':
			err = p.directive()
		case c == '[', c == '(', c == '<', c == '_':
			err = p.statement()
		default:
			err = p.named()
		}
		if err != nil {
			return err
		}
	}
}

// named reads a statement whose subject is a prefixed name, or PREFIX or BASE.
func (p *turtle) named() error {
	word, err := p.word()
	if err != nil {
		return err
	}
	if p.peek() != ':' {
		switch strings.ToUpper(word) {
		case "PREFIX":
			return p.prefix()
		case "BASE":
			return p.baseIRI()
		}
		return p.wrong("%q begins no statement", word)
	}
	subject, err := p.prefixed(word)
	if err != nil {
		return err
	}
	return p.predicates(Term{IRI, subject}, true)
}

// directive reads @prefix or @base.
func (p *turtle) directive() error {
	p.next()
	word, err := p.word()
	if err != nil {
		return err
	}
	switch word {
	case "prefix":
		err = p.prefix()
	case "base":
		err = p.baseIRI()
	default:
		return p.wrong("@%s is neither @prefix nor @base", word)
	}
	if err != nil {
		return err
	}
	return p.expect('.', "a dot after @"+word)
}

// prefix reads the rest of a declaration.
func (p *turtle) prefix() error {
	if err := p.space(); err != nil {
		return err
	}
	name, err := p.word()
	if err != nil {
		return err
	}
	if p.next() != ':' {
		return p.wrong("a colon is missing after the prefix %q", name)
	}
	if err := p.space(); err != nil {
		return err
	}
	iri, err := p.iri()
	if err != nil {
		return err
	}
	p.prefixes[name] = iri
	if p.declared != nil {
		p.declared(name, iri)
	}
	return nil
}

func (p *turtle) baseIRI() error {
	if err := p.space(); err != nil {
		return err
	}
	iri, err := p.iri()
	p.base = iri
	return err
}

// statement reads a subject that is no prefixed name, and what is said about it.
func (p *turtle) statement() error {
	bracket := p.peek() == '['
	subject, err := p.object()
	if err != nil {
		return err
	}
	if err := p.space(); err != nil {
		return err
	}
	if bracket && p.peek() == '.' { // [ ... ] alone is a statement
		p.next()
		return nil
	}
	return p.predicates(subject, true)
}

// predicates reads "predicate object, object; predicate object" and, of a statement, the dot.
func (p *turtle) predicates(subject Term, dot bool) error {
	closing := rune(']')
	if dot {
		closing = '.'
	}
	for first := true; ; first = false {
		if err := p.space(); err != nil {
			return err
		}
		switch c := p.peek(); {
		case c == ';' && !first:
			p.next()
			continue
		case c == closing && !first:
			p.next()
			return nil
		}
		predicate, err := p.predicate()
		if err != nil {
			return err
		}
		if err := p.objects(subject, predicate); err != nil {
			return err
		}
		switch p.peek() {
		case ';':
		case closing:
		case end:
			return p.wrong("the file ends within a statement")
		default:
			return p.wrong("%q stands where a comma, a semicolon or %q belongs", p.peek(), closing)
		}
	}
}

func (p *turtle) predicate() (Term, error) {
	if p.peek() == '<' {
		iri, err := p.iri()
		return Term{IRI, iri}, err
	}
	word, err := p.word()
	if err != nil {
		return Term{}, err
	}
	if word == "a" && p.peek() != ':' {
		return Term{IRI, typeIRI}, nil
	}
	iri, err := p.prefixed(word)
	return Term{IRI, iri}, err
}

// objects reads objects, separated by commas, and reports their statements.
func (p *turtle) objects(subject, predicate Term) error {
	for {
		if err := p.space(); err != nil {
			return err
		}
		line := p.line
		object, err := p.object()
		if err != nil {
			return err
		}
		if err := p.each(line, Statement{subject, predicate, object}); err != nil {
			return err
		}
		if err := p.space(); err != nil {
			return err
		}
		if p.peek() != ',' {
			return nil
		}
		p.next()
	}
}

// object reads an object, or a subject that is no prefixed name.
func (p *turtle) object() (Term, error) {
	switch c := p.peek(); {
	case c == '<':
		iri, err := p.iri()
		return Term{IRI, iri}, err
	case c == '_':
		return p.labelled()
	case c == '[' || c == '(':
		if p.depth++; p.depth > maxDepth {
			return Term{}, p.wrong("brackets are nested deeper than %d", maxDepth)
		}
		defer func() { p.depth-- }()
		p.next()
		if c == '(' {
			return p.collection()
		}
		return p.anonymous()
	case c == '"' || c == '\'':
		return Term{Kind: Literal}, p.literal()
	case c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.':
		return Term{Kind: Literal}, p.number()
	case c == end:
		return Term{}, p.wrong("the file ends within a statement")
	}
	word, err := p.word()
	if err != nil {
		return Term{}, err
	}
	if p.peek() != ':' && (word == "true" || word == "false") {
		return Term{Kind: Literal}, nil
	}
	iri, err := p.prefixed(word)
	return Term{IRI, iri}, err
}

// blank returns a new blank node. Its label is none that a document can have.
func (p *turtle) blank() Term {
	p.blanks++
	return Term{Blank, fmt.Sprintf("[%s.%d]", p.document, p.blanks)}
}

// anonymous reads what follows a [.
func (p *turtle) anonymous() (Term, error) {
	node := p.blank()
	if err := p.space(); err != nil {
		return node, err
	}
	if p.peek() == ']' {
		p.next()
		return node, nil
	}
	return node, p.predicates(node, false)
}

// collection reads what follows a (, and reports the list's statements.
func (p *turtle) collection() (Term, error) {
	head := Term{IRI, nilIRI}
	var last Term
	for {
		if err := p.space(); err != nil {
			return head, err
		}
		line := p.line
		if p.peek() == ')' {
			p.next()
			if last.Value == "" {
				return head, nil
			}
			return head, p.each(line, Statement{last, Term{IRI, restIRI}, Term{IRI, nilIRI}})
		}
		item, err := p.object()
		if err != nil {
			return head, err
		}
		node := p.blank()
		if last.Value == "" {
			head = node
		} else if err := p.each(line, Statement{last, Term{IRI, restIRI}, node}); err != nil {
			return head, err
		}
		if err := p.each(line, Statement{node, Term{IRI, firstIRI}, item}); err != nil {
			return head, err
		}
		last = node
	}
}

// literal skips a quoted literal with its language or type.
func (p *turtle) literal() error {
	if err := p.quoted(); err != nil {
		return err
	}
	switch p.peek() {
	case '@':
		p.next()
		language, err := p.word()
		if err == nil && language == "" {
			err = p.wrong("a literal has no language after @")
		}
		return err
	case '^':
		p.next()
		if p.next() != '^' {
			return p.wrong("a literal's type needs ^^")
		}
		if err := p.space(); err != nil {
			return err
		}
		if p.peek() == '<' {
			_, err := p.iri()
			return err
		}
		word, err := p.word()
		if err != nil {
			return err
		}
		_, err = p.prefixed(word)
		return err
	}
	return nil
}

// iri reads an IRI in angle brackets and resolves it against the base.
func (p *turtle) iri() (string, error) {
	text, err := p.bracketed()
	if err != nil {
		return "", err
	}
	iri, err := decodeIRI(text)
	if err != nil {
		return "", p.wrong("%v", err)
	}
	if isAbsolute(iri) {
		return iri, nil
	}
	if p.base == "" {
		return "", p.wrong("<%s> is relative and the document has no @base", triples.Shown([]byte(iri)))
	}
	return resolve(p.base, iri), nil
}

// prefixed reads what follows a prefix and returns the IRI.
func (p *turtle) prefixed(prefix string) (string, error) {
	if p.peek() != ':' {
		if prefix == "" {
			return "", p.wrong("%q begins no term", p.peek())
		}
		return "", p.wrong("%q is no term: a prefixed name has a colon", prefix)
	}
	namespace, known := p.prefixes[prefix]
	if !known {
		return "", p.wrong("the prefix %q is not declared", prefix+":")
	}
	p.next()
	local, err := p.local()
	return namespace + local, err
}

// labelled reads a blank node with a label.
func (p *turtle) labelled() (Term, error) {
	p.next()
	if p.next() != ':' {
		return Term{}, p.wrong("a blank node begins with _:")
	}
	label, err := p.word()
	if err == nil && label == "" {
		err = p.wrong("a blank node has no label")
	}
	return Term{Blank, label}, err
}

// resolve resolves a relative IRI against an absolute one, as RFC 3986 does, without touching its letters.
func resolve(base, relative string) string {
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

func (s *scanner) wrong(format string, arguments ...any) error {
	if s.failed != nil {
		return s.failed
	}
	return &syntaxError{s.line, fmt.Sprintf(format, arguments...)}
}

// wrongFrom is wrong with the line on which something begins that does not end.
func (s *scanner) wrongFrom(line int, format string, arguments ...any) error {
	err := s.wrong(format, arguments...)
	if wrong, ok := err.(*syntaxError); ok && s.failed == nil {
		wrong.line = line
	}
	return err
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

// space skips white space and comments. It returns the error of a text that cannot be read on.
func (s *scanner) space() error {
	for comment := false; ; {
		switch c := s.peek(); {
		case c == end:
			return s.failed
		case c == '\n':
			comment = false
		case c == '#':
			comment = true
		case !comment && c != ' ' && c != '\t' && c != '\r':
			return nil
		}
		s.next()
	}
}

func (s *scanner) expect(c rune, what string) error {
	if err := s.space(); err != nil {
		return err
	}
	if s.next() != c {
		return s.wrong("%s is missing", what)
	}
	return nil
}

// word reads letters of names; dots belong to it, but not at its end. It may be empty.
func (s *scanner) word() (string, error) { return s.name(inLabel, false) }

// local reads the part of a prefixed name after its colon.
func (s *scanner) local() (string, error) {
	return s.name(func(r rune) bool { return r == ':' || inLabel(r) }, true)
}

// name reads a name of certain letters and dots within it and, in the local part of a prefixed name, escapes.
func (s *scanner) name(in func(rune) bool, escapes bool) (string, error) {
	var name strings.Builder
	for name.Len() <= triples.MaxLine {
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
				return "", s.wrong("%% in a name needs two hexadecimal digits")
			}
			name.WriteString(string([]rune{'%', high, low}))
		case escapes && c == '\\':
			s.next()
			if !strings.ContainsRune("_~.-!$&'()*+,;=/?#@%", s.peek()) {
				return "", s.wrong(`\%c is no escape of a name`, s.peek())
			}
			name.WriteRune(s.next())
		default:
			return name.String(), nil
		}
	}
	return "", s.wrong("a name is longer than %d bytes", triples.MaxLine)
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
func (s *scanner) bracketed() (string, error) {
	if s.next() != '<' {
		return "", s.wrong("an IRI begins with <")
	}
	var text strings.Builder
	begin := s.line
	for text.Len() <= triples.MaxLine {
		switch c := s.next(); c {
		case '>':
			return text.String(), nil
		case end, '\n':
			return "", s.wrongFrom(begin, "an IRI lacks its >")
		default:
			text.WriteRune(c)
		}
	}
	return "", s.wrong("an IRI is longer than %d bytes", triples.MaxLine)
}

// quoted skips a text in one or three quotation marks.
func (s *scanner) quoted() error {
	begin, mark := s.line, s.next()
	long := false
	if s.peek() == mark {
		s.next()
		if s.peek() != mark {
			return nil // the empty text
		}
		s.next()
		long = true
	}
	for marks := 0; ; {
		c := s.next()
		switch {
		case c == end:
			return s.wrongFrom(begin, "a literal lacks its closing quote")
		case c == '\\':
			s.next()
			marks = 0
		case c == mark && !long:
			return nil
		case c == mark:
			if marks++; marks == 3 {
				for s.peek() == mark { // the text ends in quotation marks itself
					s.next()
				}
				return nil
			}
		case c == '\n' && !long:
			return s.wrongFrom(begin, "a literal lacks its closing quote")
		default:
			marks = 0
		}
	}
}

// number skips a number.
func (s *scanner) number() error {
	digits := false
	for {
		c := s.peek()
		switch {
		case c >= '0' && c <= '9':
			digits = true
		case c == '.':
			if !s.dotWithin(func(r rune) bool { return r >= '0' && r <= '9' || r == 'e' || r == 'E' }, false) {
				if !digits {
					return s.wrong("a dot stands where an object belongs")
				}
				return nil // the end of the statement
			}
		case c == '+', c == '-', c == 'e', c == 'E':
		default:
			if !digits {
				return s.wrong("%q begins no term", c)
			}
			return nil
		}
		s.next()
	}
}
