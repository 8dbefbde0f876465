package preprocess

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"tagnet/formats/input/facts"
	"tagnet/formats/input/triples"
	"tagnet/formats/storage"
	"tagnet/formats/workspace/counts"
	"tagnet/model/graph/kg"
	"tagnet/pipelines/internal/cli/command"
)

// dataset lists the files that a run reads, and their hashes.
type dataset struct {
	name             string
	inductive        bool
	inferenceName    string // empty in the transductive setting
	layout           bool   // one folder has the files of both graphs
	validOnInference bool   // the validation queries are about the inference graph
	files            []text
	types            types
	// labels are the hashes of the files of names, by their key in the configuration.
	labels map[string]string
	// unread are the names of the files of the folders that are not read.
	unread []string
	// converted counts lines, columns and names that the conversion of the files found.
	converted counts.Conversion
	rejects   []triples.Rejects
	// divisions say how tables are divided, and which files have no facts, for people.
	divisions []string
}

// text is one file of facts, with its key in the configuration.
type text struct {
	triples.Text
	graph, split, key string
	url, name         string   // the name is for people: the file's or, of several files, all of them
	listed            bool     // one of several names
	number            int      // among them
	parts             []string // the files of a folder that is one table, or none
	options           facts.Options
	first             int // the line of a table's first row or heading
	// convert says that the file is not read where it is, but first written as tab-separated text; divide, that it is
	// then divided. Until then Text has one chunk, the file.
	convert, divide bool
	judged          bool // has a column of verdicts
}

// splits are the splits that a file of facts can be of.
var splits = append(slices.Clone(kg.Splits), triples.Background)

// divided is the key of a file that is to be divided.
const divided = "all"

// bytesPerEdgeShard is the size of training texts for each file of edges: about a million facts.
const bytesPerEdgeShard = 64 << 20

// The size of the chunks of a text, which are read in parallel. A chunk takes about a second of a core. Each has a
// spill file in every table, so there are not many.
const (
	chunkBytes = 16 << 20
	maxChunks  = 64
)

// openDataset finds and hashes the files of the training graph and, unless inference is empty, of the inference graph.
// A graph may stand alone, without validation and test facts.
func (f *flags) openDataset(ctx context.Context, name string, training []string, inferenceName string, inference []string) (dataset, error) {
	d, err := f.openGraphs(ctx, name, training, inferenceName, inference)
	if err != nil {
		return d, err
	}
	has := func(graph string) bool {
		return slices.ContainsFunc(d.files, func(t text) bool { return t.graph == graph && t.split == "valid" })
	}
	d.validOnInference = f.validateOn == triples.Inference || f.validateOn == "" && d.layout && !has(triples.Training) && has(triples.Inference)
	if f.validateOn == triples.Inference && !has(triples.Inference) {
		return d, command.Usage("--validate_on inference: there is no inference graph with validation facts (valid.txt)")
	}
	return d, nil
}

// openGraphs finds the files of the training graph and, if there is one, of the inference graph.
func (f *flags) openGraphs(ctx context.Context, name string, training []string, inferenceName string, inference []string) (dataset, error) {
	d := dataset{name: name, labels: map[string]string{}}
	if err := f.openGraph(ctx, &d, training, triples.Training); err != nil || len(inference) == 0 {
		if err == nil && f.inferenceOnly && !d.layout {
			err = command.Usage("--inference_only: %s does not have the files of two graphs, train.txt with inference.txt or msg.txt",
				strings.Join(training, ","))
		}
		return d, err
	}
	d.inductive, d.inferenceName = true, inferenceName
	return d, f.openGraph(ctx, &d, inference, triples.Inference)
}

// openGraph adds the files of one graph: a folder of splits, or one or several tables, each of them a file of facts or
// a folder with its parts.
func (f *flags) openGraph(ctx context.Context, d *dataset, urls []string, graph string) error {
	before := len(d.files)
	for i, url := range urls {
		// Each URL has a key, by which the manifest records its hash.
		t := text{graph: graph, split: "train", key: "train", url: url, name: bases(urls), listed: len(urls) > 1, number: i, divide: f.split != ""}
		switch {
		case t.divide:
			t.key = divided
		case graph == triples.Inference:
			t.key = "inference/train"
		}
		if i > 0 {
			t.key += fmt.Sprintf("-%d", i+1)
		}
		// A folder holds splits, if it is the only URL, or the parts of one table.
		single, err := isFile(ctx, url)
		if err != nil {
			return err
		}
		if single {
			err = checkReadable(url)
		} else {
			var files folder
			if files, err = openFolder(ctx, url, f.format); err == nil {
				t.parts, err = files.partitions(ctx, f.columns)
			}
			if err == nil && t.parts == nil {
				if len(urls) == 1 {
					return f.openSplits(ctx, d, files, graph)
				}
				err = fmt.Errorf("%s is a folder, and several names are those of files of facts: name its files, or give it alone", url)
			}
		}
		if err == nil {
			err = f.add(ctx, d, t, false)
		}
		if err != nil {
			return err
		}
	}
	return f.label(ctx, d, d.files[before:], folder{})
}

// openSplits adds the files of the graph in a folder, or of the two graphs.
func (f *flags) openSplits(ctx context.Context, d *dataset, files folder, graph string) error {
	if f.split != "" {
		url, background, err := files.toSplit()
		if err != nil {
			return err
		}
		return f.addDivided(ctx, d, url, files, background)
	}
	files, inference, err := f.graphs(ctx, files)
	if err != nil {
		return err
	}
	d.layout = inference.url != ""
	if d.layout && f.inferenceOnly {
		return f.addFolder(ctx, d, inference, graph)
	}
	if err := f.addFolder(ctx, d, files, graph); err != nil || !d.layout {
		return err
	}
	d.inductive, d.inferenceName = true, d.name
	return f.addFolder(ctx, d, inference, triples.Inference)
}

func (f *flags) addFolder(ctx context.Context, d *dataset, files folder, graph string) (err error) {
	before, urls := len(d.files), map[string]string{} // "" for a split without a file
	for _, split := range splits {
		if urls[split], err = files.file(split, split == "train"); err != nil {
			return err
		}
	}
	for _, split := range splits {
		if urls[split] == "" {
			continue
		}
		t := text{graph: graph, split: split, key: split, url: urls[split]}
		if graph == triples.Inference {
			t.key = "inference/" + split
		}
		if err := f.add(ctx, d, t, files.openKE); err != nil {
			return err
		}
	}
	return f.label(ctx, d, d.files[before:], files)
}

// addDivided adds a file that --split divides, and one of background facts unless it is empty.
func (f *flags) addDivided(ctx context.Context, d *dataset, url string, files folder, background string) error {
	t := text{graph: triples.Training, split: "train", key: divided, url: url, divide: true}
	if err := f.add(ctx, d, t, files.openKE); err != nil {
		return err
	}
	if background != "" {
		t := text{graph: triples.Training, split: triples.Background, key: triples.Background, url: background}
		if err := f.add(ctx, d, t, files.openKE); err != nil {
			return err
		}
	}
	return f.label(ctx, d, d.files, files)
}

// add hashes a file and finds out how to read it.
func (f *flags) add(ctx context.Context, d *dataset, t text, openKE bool) error {
	var err error
	t.name = cmp.Or(t.name, storage.Base(t.url))
	if t.options, err = f.options(ctx, t, openKE); err != nil {
		return err
	}
	// A table may begin with comments and the names of columns.
	plain := false
	if isTable(t.options.Format) {
		division, err := facts.Divide(ctx, t.url, t.options)
		if err != nil {
			return err
		}
		t.options.Header = t.options.Header || division.Heading
		t.first = division.Skipped + 1
		t.judged = division.Verdicts
		plain = division == facts.Division{Separator: '\t'}
	}
	// Only plain tab-separated facts are read by the job where they are.
	t.convert = t.divide || !plain || len(f.columns) > 0 || t.options.Header || f.entityNames != "" || f.relationNames != ""
	// The file is read once, for its hash and its chunks.
	bytes, chunks := int64(chunkBytes), int64(maxChunks)
	if t.convert {
		bytes, chunks = math.MaxInt64, 1
	}
	if whole := (triples.Chunk{URL: t.url, Graph: t.graph, Split: t.split, Number: t.number}); len(t.parts) > 0 {
		t.Chunks = []triples.Chunk{whole}
		t.SHA256, err = t.hash(ctx)
	} else {
		t.Text, err = triples.Scan(ctx, whole, bytes, chunks)
	}
	if err != nil {
		return err
	}
	if t.convert {
		t.Lines = 0 // they are not the facts
	}
	d.files = append(d.files, t)
	return nil
}

// fileNames returns the names of the files of splits, and of the inference graph's facts, by their keys in
// counts.Dataset.Repeated.
func (d dataset) fileNames() map[string]string {
	names := map[string]string{}
	for _, t := range d.files {
		split, name := t.split, t.name
		if t.graph == triples.Inference && split == "train" {
			split, name = "inference", "the inference graph's "+name
		}
		ofInference := split == "test" || split == "inference" || split == "valid" && d.validOnInference
		if (t.graph == triples.Inference) == ofInference || split == "test" {
			names[split] = name
		}
		if t.divide {
			for _, split := range kg.Splits {
				names[split] = name
			}
		}
	}
	return names
}

// options says how a file is read.
func (f *flags) options(ctx context.Context, t text, openKE bool) (o facts.Options, err error) {
	o = facts.Options{Format: f.format, Columns: f.columns, Header: f.header == yes || facts.NamedColumns(f.columns), NoHeader: f.header == no}
	switch {
	case openKE:
		o.Format = facts.OpenKE
	case len(t.parts) > 0:
		o.Format = facts.Parquet
	case f.format == "":
		o.Format, err = facts.Detect(ctx, t.url)
	}
	return o, err
}

// headers counts the first lines that are skipped as headers, except where --columns names columns.
func (f *flags) headers(d dataset) (n int64) {
	for _, t := range d.files {
		if t.options.Header && isTable(t.options.Format) && !facts.NamedColumns(f.columns) {
			n++
		}
	}
	return n
}

// listed reports whether a flag named several files.
func (d dataset) listed() bool {
	return slices.ContainsFunc(d.files, func(t text) bool { return t.listed })
}

// hashes returns the SHA-256 of each text by its key.
func (d dataset) hashes() map[string]string {
	hashes := map[string]string{}
	for _, t := range d.files {
		hashes[t.key] = t.SHA256
	}
	if d.types.url != "" {
		hashes["types"] = d.types.sha256
	}
	maps.Copy(hashes, d.labels)
	return hashes
}

func (d dataset) chunks() []triples.Chunk {
	var chunks []triples.Chunk
	for _, t := range d.files {
		chunks = append(chunks, t.Chunks...)
	}
	return chunks
}

// formats returns the formats of the files, or "" if all are tab-separated text.
func (d dataset) formats() string {
	var formats []string
	for _, t := range d.files {
		if format := string(t.options.Format); t.options.Format != facts.TSV && !slices.Contains(formats, format) {
			formats = append(formats, format)
		}
	}
	slices.Sort(formats)
	return strings.Join(formats, ",")
}

// inColumns reports whether the facts are in columns whose order --columns may change: in RDF and OpenKE it is fixed.
func (d dataset) inColumns() bool {
	return slices.ContainsFunc(d.files, func(t text) bool {
		return t.split == "train" && t.options.Format != facts.OpenKE && !isRDF(t.options.Format)
	})
}

// toConvert reports whether a file is written as tab-separated text first.
func (d dataset) toConvert() bool {
	return slices.ContainsFunc(d.files, func(t text) bool { return t.convert })
}

// lines returns the number of lines of a split, or 0 if it is unknown because a file is compressed.
func (d dataset) lines(split string) int64 {
	sum := int64(0)
	for _, t := range d.files {
		if t.split == split {
			if t.Lines == 0 {
				return 0
			}
			sum += t.Lines
		}
	}
	return sum
}

// rows returns how many lines and rows the steps process, or 0 if it is unknown: each line is read twice,
// for names and for ids, and is two rows in each of two or three tables.
func (d dataset) rows() int64 {
	sum := int64(0)
	for _, split := range splits {
		lines := d.lines(split)
		if lines == 0 && slices.ContainsFunc(d.files, func(t text) bool { return t.split == split }) {
			return 0
		}
		tables := int64(2) // answers, and queries or, of background facts, edges
		if split == "train" {
			tables = 3
		}
		sum += 2*lines + 2*tables*lines
	}
	return sum
}

// loads returns the input of the first step: the lines of all texts, 0 if a compressed one hides their number.
func (d dataset) loads() []command.Load {
	lines := int64(0)
	for _, split := range splits {
		lines += d.lines(split)
	}
	return []command.Load{{Step: "encode.names", Elements: lines, Unit: "lines of text", Parts: int64(len(d.chunks()))}}
}

// edgeShards returns the number of files of edges. It depends on the texts only, so that the same texts
// give the same files.
func (d dataset) edgeShards() int {
	size := int64(0)
	for _, t := range d.files {
		if t.split == "train" || t.split == triples.Background {
			size += t.Size
		}
	}
	return 1 + int(size/bytesPerEdgeShard)
}
