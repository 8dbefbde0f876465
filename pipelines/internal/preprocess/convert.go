package preprocess

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tagnet/formats/input/facts"
	"tagnet/formats/input/rdf"
	"tagnet/formats/input/triples"
	"tagnet/formats/storage"
	"tagnet/formats/storage/lock"
	"tagnet/model/graph/kg"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/progress"
	"tagnet/pipelines/internal/preprocess/split"
)

// inputFolder is the folder of converted texts, below spillFolder, which is removed when the tables are written.
const inputFolder = "input"

// convert writes the files that the Beam job cannot read as tab-separated text, below the folder of the tables, where
// the workers of a cluster find it. It returns the dataset with these texts.
func (f *flags) convert(ctx context.Context, e *command.Environment, folder string, source dataset, held lock.Lock) (dataset, error) {
	c := converter{flags: f, folder: storage.Join(folder, spillFolder, inputFolder), source: &source, prefixes: &rdf.Prefixes{}}
	ctx = held.Guard(ctx)
	if f.types != "" && f.onBadLine == reject {
		if err := source.types.rejectTypes(ctx, &source, storage.Join(c.folder, "types.rejects")); err != nil {
			return source, err
		}
	}
	if err := c.refuse(ctx); err != nil || !source.toConvert() {
		return source, err
	}
	source.documents()
	// IRIs are shortened by the prefixes of all files, so these are read first.
	for _, t := range source.files {
		if err := facts.Prefixes(ctx, t.url, t.options.Format, c.prefixes); err != nil {
			return source, err
		}
	}
	c.bar = e.Progress.Begin("read files", 0, "facts")
	defer c.bar.End()
	// Files that are divided are adjacent and are converted to one text.
	var files []text
	for left := source.files; len(left) > 0; {
		n := 1
		for left[0].divide && n < len(left) && left[n].divide {
			n++
		}
		converted := left[:n]
		if left[0].convert {
			var err error
			if converted, err = c.text(ctx, left[:n]...); err != nil {
				return source, err
			}
		}
		files, left = append(files, converted...), left[n:]
	}
	source.converted.Formats, source.converted.Headers = source.formats(), f.headers(source)
	if err := c.note(files); err != nil {
		return source, err
	}
	source.files = files
	return source, source.countUnlabeled()
}

// refuse leaves out of all files the facts that the verdicts in one of them judge false: who judged a fact knew that
// another file states it.
func (c *converter) refuse(ctx context.Context) error {
	c.refused = map[facts.Fact]bool{}
	for _, t := range c.source.files {
		if !t.judged {
			continue
		}
		t.options.Entities, t.options.Relations = nil, nil // labels count the ids without a name
		found, err := facts.Read(ctx, t.url, t.options, func(int, facts.Fact) error { return nil }, func(triples.BadLine) error { return nil })
		if err != nil && !errors.Is(err, triples.ErrEmpty) {
			return err
		}
		for _, f := range found.JudgedFalse {
			c.refused[f] = true
		}
	}
	for i := range c.source.files {
		c.source.files[i].convert = c.source.files[i].convert || len(c.refused) > 0
	}
	return nil
}

// note adds what several files are said to have, or to lack. It is an error if no file of a graph has facts.
func (c *converter) note(files []text) error {
	d := c.source
	if len(c.empty) > 0 {
		d.divisions = append(d.divisions, "no facts in "+shortList(c.empty))
	}
	if c.blank > 0 && d.listed() {
		d.divisions = append(d.divisions, fmt.Sprintf("blank nodes (%s) are others in each file, although labels are equal", plural(c.blank, "statement")))
	}
	for _, t := range d.files {
		has := func(o text) bool { return o.graph == t.graph && o.split == "train" }
		if t.listed && t.split == "train" && !slices.ContainsFunc(files, has) && len(d.rejects) == 0 {
			return triples.EmptyError(t.name, "head, relation and tail")
		}
	}
	return nil
}

// documents gives the files of RDF in a list names by which their blank nodes differ: the file's, with as many folders
// as tell them apart. The splits in a folder are parts of one graph, and have its labels.
func (d *dataset) documents() {
	names, folders := map[string]int{}, 1
	suffix := func(t text) string {
		words := strings.Split(t.url, "/")
		return strings.Join(words[max(0, len(words)-folders):], "/")
	}
	for ; len(names) < len(d.files) && folders < 64; folders++ {
		clear(names)
		for _, t := range d.files {
			names[suffix(t)]++
		}
		if len(names) == len(d.files) {
			break
		}
	}
	for i := range d.files {
		if d.files[i].listed && isRDF(d.files[i].options.Format) {
			d.files[i].options.Document = suffix(d.files[i])
		}
	}
}

// division says how a table is divided.
func division(name string, header bool, c facts.Counts, found int64) string {
	quotes, heading := "", "no heading"
	if c.Division.Quoted && c.Division.Separator == '\t' {
		quotes = "quoted "
	}
	if header {
		heading = fmt.Sprintf("heading in line %d", c.Division.Skipped+1)
	}
	separator := fmt.Sprintf("%q", string(c.Division.Separator))
	if c.Division.Separator == '\t' {
		separator = "tabs"
	}
	return fmt.Sprintf("%s: %d %scolumns by %s, %s, %s", name, c.Columns, quotes, separator, heading, plural(found, "fact"))
}

// countUnlabeled counts the ids without a name, after all files have been read. It is an error if no id of the training
// graph has one.
func (d *dataset) countUnlabeled() error {
	counted := map[*facts.Labels]bool{}
	for _, t := range d.files {
		for _, labels := range []*facts.Labels{t.options.Entities, t.options.Relations} {
			if labels == nil || counted[labels] {
				continue
			}
			counted[labels] = true
			d.converted.Unlabeled += labels.Missing
			if !labels.Found && labels.Missing > 0 && t.graph == triples.Training {
				return fmt.Errorf("%s: none of its ids is in the facts; %s has to hold the ids that the facts have", labels.URL(), labels.Columns.Key())
			}
		}
	}
	return nil
}

// converter converts the files of a dataset, one after the other.
type converter struct {
	flags    *flags
	folder   string
	source   *dataset
	prefixes *rdf.Prefixes
	bar      *progress.Bar
	facts    int64
	refused  map[facts.Fact]bool
	blank    int64    // statements about labeled blank nodes
	empty    []string // files of several, or parts, without facts
}

// text converts a file, or converts all files that --split divides to one text and divides it.
func (c *converter) text(ctx context.Context, texts ...text) ([]text, error) {
	t := texts[0]
	url := storage.Join(c.folder, strings.ReplaceAll(t.key, "/", "-")+".tsv")
	if err := c.write(ctx, texts, url); err != nil {
		return nil, err
	}
	for _, t := range texts {
		if err := t.unchanged(ctx); err != nil {
			return nil, err
		}
	}
	whole := triples.Chunk{URL: url, Original: t.url, Graph: t.graph, Split: t.split, Number: t.number}
	if len(texts) > 1 {
		whole.Original = t.name
	}
	if !t.divide {
		return c.scan(ctx, t, whole)
	}
	p := split.Params{From: whole, Shares: c.flags.shares, Seed: c.flags.seed, Kept: c.flags.typeRelation}
	chunks := []triples.Chunk{whole, whole, whole}
	for i, name := range kg.Splits {
		chunks[i].Split, chunks[i].URL = name, storage.Join(c.folder, "divided-"+name+".tsv")
		p.To[i] = chunks[i].URL
	}
	divided, err := split.Divide(ctx, p)
	if err != nil {
		return nil, err
	}
	c.source.converted.Split = &divided
	return c.scan(ctx, t, chunks...)
}

// scan returns the texts that stand for a file. One without lines is left out.
func (c *converter) scan(ctx context.Context, t text, chunks ...triples.Chunk) ([]text, error) {
	var texts []text
	for _, chunk := range chunks {
		scanned, err := triples.Scan(ctx, chunk, chunkBytes, maxChunks)
		if err != nil {
			return nil, err
		}
		if scanned.Size == 0 {
			continue
		}
		converted := t
		converted.Text, converted.split = scanned, chunk.Split
		texts = append(texts, converted)
	}
	return texts, nil
}

// write writes the facts of files, each with its line, and their bad lines to rejects.
func (c *converter) write(ctx context.Context, texts []text, url string) error {
	file, err := storage.Create(ctx, url)
	if err != nil {
		return err
	}
	defer file.Abort()
	out := bufio.NewWriterSize(file, 1<<16)
	for i, t := range texts {
		err := c.each(ctx, t, fmt.Sprintf("%s-%d.rejects", url, i), func(line int, f facts.Fact) error {
			return triples.WriteNumbered(out, triples.Triple{Head: []byte(f.Head), Relation: []byte(f.Relation), Tail: []byte(f.Tail)}, line)
		})
		if err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return file.Commit()
}

// each calls each for the facts of a file, and writes its bad lines to a file of rejects.
func (c *converter) each(ctx context.Context, t text, rejected string, each facts.Each) error {
	rejects := triples.NewRejectsWriter(rejected, triples.Chunk{Original: t.url})
	defer rejects.Abort()
	t.options.Prefixes = c.prefixes
	before := c.facts
	const update = 1 << 12
	count := func(line int, fact facts.Fact) error {
		if c.refused[fact] {
			c.source.converted.Refused++
			return nil
		}
		if c.facts++; c.facts%update == 0 {
			c.bar.Set(c.facts)
			if err := context.Cause(ctx); err != nil {
				return err
			}
		}
		return each(line, fact)
	}
	// A text may have several parts, which share the file of rejects.
	literals := int64(0)
	for _, part := range t.urls() {
		partBefore := c.facts
		found, err := facts.Read(ctx, part, t.options, count, func(b triples.BadLine) error {
			if c.flags.onBadLine == fail {
				return triples.Refuse(b)
			}
			return rejects.Write(ctx, b)
		})
		several := t.listed || len(t.parts) > 0
		if several && c.facts == partBefore && found.Literals == 0 && (err == nil || errors.Is(err, triples.ErrEmpty)) {
			c.empty = append(c.empty, storage.Base(part))
			err = nil
		}
		if err != nil {
			return err
		}
		literals += found.Literals
		c.blank += found.Blank
		c.source.converted.Qualifiers += found.Qualifiers
		c.source.converted.Comments += found.Comments
		c.source.converted.HeadersAgain += found.HeadersAgain
		c.source.converted.JudgedFalse += int64(len(found.JudgedFalse))
		c.source.converted.Unjudged += found.Unjudged
		c.addUnread(found.Unread)
		if found.Columns > 0 {
			c.source.divisions = append(c.source.divisions, division(storage.Base(part), t.options.Header, found, c.facts-partBefore))
		}
	}
	c.source.converted.Literals += literals
	written, any, err := rejects.Commit()
	if err != nil {
		return err
	}
	if any {
		c.source.rejects = append(c.source.rejects, written)
	}
	if t.split == "train" && c.facts == before && !any && !t.listed {
		if literals > 0 {
			return fmt.Errorf("%s has no facts: every object is a literal, and a fact leads to an IRI or a blank node", t.url)
		}
		return triples.EmptyError(t.url, "head, relation and tail")
	}
	return nil
}

// addUnread adds the columns of a file that are not read. Those of one name are one.
func (c *converter) addUnread(columns []facts.Column) {
	list, positions := &c.source.converted.Unread, map[string]int{}
	for i, known := range *list {
		positions[known.Name] = i
	}
	for _, column := range columns {
		if at, known := positions[column.Name]; known {
			(*list)[at].False += column.False
			continue
		}
		positions[column.Name] = len(*list)
		*list = append(*list, column)
	}
}

// isTable reports whether a file of a format may begin with the names of its columns.
func isTable(format facts.Format) bool { return format == facts.TSV || format == facts.CSV }

func isRDF(format facts.Format) bool {
	return slices.Contains([]facts.Format{facts.Turtle, facts.NTriples, facts.NQuads}, format)
}
