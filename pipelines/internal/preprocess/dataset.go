package preprocess

import (
	"context"
	"fmt"
	"io/fs"
	"slices"

	"tagnet/formats/storage"
	"tagnet/infra/datasets"
	"tagnet/model/kg"
	"tagnet/stages/triples"
)

// dataset is the texts that a run reads.
type dataset struct {
	name, folder             string
	inferenceName, inference string // empty in the transductive setting
	files                    []text
}

// text is one file: its key in the configuration, what it is for, and what a look at it told.
type text struct {
	triples.File
	triples.Text
	key string
}

// bytesPerEdgeShard bounds the edges of a file: about a million facts, on average.
const bytesPerEdgeShard = 64 << 20

// Parts of a text are read side by side. Each has a run in every table, so there are not many.
const (
	bytesPerPart = 64 << 20
	mostParts    = 64
)

// open finds the files of a dataset and hashes them. Of the graph that is trained on, train
// and valid must be there, and test if it is what is asked; of the inference graph train and
// test.
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
func (d *dataset) add(ctx context.Context, folder, of, split string, needed bool) error {
	var found []string
	for _, ending := range datasets.Endings {
		url := storage.Join(folder, split+ending)
		there, err := storage.Exists(ctx, url)
		if err != nil {
			return err
		}
		if there {
			found = append(found, url)
		}
	}
	switch {
	case len(found) > 1:
		return fmt.Errorf("%s and %s are both there: remove one", found[0], found[1])
	case len(found) == 0 && needed:
		return d.missing(ctx, folder, split)
	case len(found) == 0:
		return nil
	}
	t := text{File: triples.File{URL: found[0], Graph: of, Split: split}, key: split}
	if of == triples.Inference {
		t.key = "inference/" + split
	}
	var err error
	if t.Text, err = triples.Cut(ctx, t.File, bytesPerPart, mostParts); err != nil {
		return err
	}
	d.files = append(d.files, t)
	return nil
}

// missing tells an absent folder from one without the file.
func (d *dataset) missing(ctx context.Context, folder, split string) error {
	urls, err := storage.List(ctx, folder)
	if err != nil {
		return err
	}
	if len(urls) == 0 {
		return fmt.Errorf("%s: there is no such folder, or nothing in it; a dataset is a folder with train.txt, valid.txt and test.txt: %w", folder, fs.ErrNotExist)
	}
	return fmt.Errorf("%s is missing; a dataset is a folder with train.txt, valid.txt and test.txt (or .txt.gz), lines of head, relation and tail, separated by tabs: %w",
		storage.Join(folder, split+".txt"), fs.ErrNotExist)
}

// hashes is the part of the configuration that the texts decide.
func (d dataset) hashes() map[string]string {
	hashes := map[string]string{}
	for _, t := range d.files {
		hashes[t.key] = t.SHA256
	}
	return hashes
}

// parts are the elements of the pipeline's input.
func (d dataset) parts() []triples.File {
	var parts []triples.File
	for _, t := range d.files {
		parts = append(parts, t.Parts...)
	}
	return parts
}

// lines is how many lines of a split there are to be read, or 0 if that can't be told.
func (d dataset) lines(split string) int64 {
	sum := int64(0)
	for _, t := range d.files {
		if t.Split == split {
			if t.Lines == 0 {
				return 0
			}
			sum += t.Lines
		}
	}
	return sum
}

// rows is how many lines and rows the steps deal with, or 0 if that can't be told: a line is read
// for its names and for its ids, and is two rows in each of two to four tables.
func (d dataset) rows() int64 {
	sum := int64(0)
	for _, split := range kg.Splits {
		lines := d.lines(split)
		if lines == 0 && slices.ContainsFunc(d.files, func(t text) bool { return t.Split == split }) {
			return 0
		}
		tables := int64(2) // queries, answers
		if split == "train" {
			tables = 4 // edges, and the answers known while training
		}
		sum += 2*lines + 2*tables*lines
	}
	return sum
}

// edgeShards depends on the texts alone, so that the same texts make the same files.
func (d dataset) edgeShards() int {
	size := int64(0)
	for _, t := range d.files {
		if t.Split == "train" {
			size += t.Size
		}
	}
	return 1 + int(size/bytesPerEdgeShard)
}
