package preprocess

import (
	"context"
	"fmt"
	"io/fs"
	"slices"

	"tagnet/formats/storage"
	"tagnet/infra/datasets"
	"tagnet/model/kg"
	"tagnet/pipelines/internal/command"
	"tagnet/stages/triples"
)

// dataset is the texts of a run.
type dataset struct {
	name, folder             string
	inferenceName, inference string // empty in the transductive setting
	files                    []text
	types                    types
}

// text is one file, with its key in the configuration.
type text struct {
	triples.Text
	split, key string
}

// bytesPerEdgeShard is the size of training texts for each file of edges: about a million facts.
const bytesPerEdgeShard = 64 << 20

// The size of the chunks of a text, which are read in parallel. A chunk takes about a second of a core. Each has a spill
// file in every table, so there are not many.
const (
	chunkBytes = 16 << 20
	maxChunks  = 64
)

// open finds the files of a dataset and hashes them. It requires train and valid of the training graph,
// and test of it or of the inference graph, of which it also requires train.
func open(ctx context.Context, name, folder, inferenceName, inference string) (dataset, error) {
	d := dataset{name: name, folder: folder}
	inductive := inference != ""
	for _, split := range kg.Splits {
		if err := d.add(ctx, folder, triples.Training, split, split != "test" || !inductive); err != nil {
			return d, err
		}
	}
	if !inductive {
		return d, nil
	}
	d.inferenceName, d.inference = inferenceName, inference
	for _, split := range kg.Splits {
		if err := d.add(ctx, inference, triples.Inference, split, split != "valid"); err != nil {
			return d, err
		}
	}
	return d, nil
}

// add finds SPLIT.txt or SPLIT.txt.gz.
func (d *dataset) add(ctx context.Context, folder, graph, split string, required bool) error {
	var found []string
	for _, ending := range datasets.Endings {
		url := storage.Join(folder, split+ending)
		exists, err := storage.Exists(ctx, url)
		if err != nil {
			return err
		}
		if exists {
			found = append(found, url)
		}
	}
	switch {
	case len(found) > 1:
		return fmt.Errorf("%s and %s both exist: remove one", found[0], found[1])
	case len(found) == 0 && required:
		return d.missing(ctx, folder, split)
	case len(found) == 0:
		return nil
	}
	t := text{split: split, key: split}
	if graph == triples.Inference {
		t.key = "inference/" + split
	}
	var err error
	t.Text, err = triples.Scan(ctx, triples.Chunk{URL: found[0], Graph: graph, Split: split}, chunkBytes, maxChunks)
	if err != nil {
		return err
	}
	d.files = append(d.files, t)
	return nil
}

// missing returns the error of a missing file, or of a missing folder.
func (d *dataset) missing(ctx context.Context, folder, split string) error {
	urls, err := storage.List(ctx, folder)
	if err != nil {
		return err
	}
	if len(urls) == 0 {
		return fmt.Errorf("%s: the folder does not exist or is empty; a dataset is a folder with train.txt, valid.txt and test.txt: %w", folder, fs.ErrNotExist)
	}
	return fmt.Errorf("%s not found; a dataset is a folder with train.txt, valid.txt and test.txt (or .txt.gz), lines of head, relation and tail, separated by tabs: %w",
		storage.Join(folder, split+".txt"), fs.ErrNotExist)
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
	return hashes
}

// chunks returns the chunks of all texts.
func (d dataset) chunks() []triples.Chunk {
	var chunks []triples.Chunk
	for _, t := range d.files {
		chunks = append(chunks, t.Chunks...)
	}
	return chunks
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
// for names and for ids, and is two rows in each of two to four tables.
func (d dataset) rows() int64 {
	sum := int64(0)
	for _, split := range kg.Splits {
		lines := d.lines(split)
		if lines == 0 && slices.ContainsFunc(d.files, func(t text) bool { return t.split == split }) {
			return 0
		}
		tables := int64(2) // queries, answers
		if split == "train" {
			tables = 4 // and edges and training answers
		}
		sum += 2*lines + 2*tables*lines
	}
	return sum
}

// loads returns what the first step works on: the lines of all texts, 0 if a compressed one hides their number.
func (d dataset) loads() []command.Load {
	lines := int64(0)
	for _, split := range kg.Splits {
		lines += d.lines(split)
	}
	return []command.Load{{Step: "vocabulary.names", Elements: lines, Unit: "lines of text", Parts: int64(len(d.chunks()))}}
}

// edgeShards returns the number of files of edges. It depends on the texts only, so that the same texts
// give the same files.
func (d dataset) edgeShards() int {
	size := int64(0)
	for _, t := range d.files {
		if t.split == "train" {
			size += t.Size
		}
	}
	return 1 + int(size/bytesPerEdgeShard)
}
