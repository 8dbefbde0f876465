package preprocess

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"tagnet/formats/storage"
	"tagnet/stages/graph"
	"tagnet/stages/triples"
)

// dataset is the texts that a run reads.
type dataset struct {
	name, folder             string
	inferenceName, inference string // empty in the transductive setting
	files                    []text
}

// text is one file: what it is for, its hash, and how many lines it seems to have.
type text struct {
	triples.File
	key, sha256 string
	lines       int64 // 0 if packed
	size        int64
}

// bytesPerEdgeShard bounds the edges that a worker sorts in memory: about a million facts.
const bytesPerEdgeShard = 64 << 20

// open finds the files of a dataset and hashes them. Of the graph that is trained on, train
// and valid must be there, and test if it is what is asked; of the inference graph train and
// test.
func open(ctx context.Context, name, folder, inferenceName, inference string) (dataset, error) {
	d := dataset{name: name, folder: folder}
	inductive := inference != ""
	for _, split := range graph.Splits {
		if err := d.add(ctx, folder, triples.Training, split, split != "test" || !inductive); err != nil {
			return d, err
		}
	}
	if !inductive {
		return d, nil
	}
	d.inferenceName, d.inference = inferenceName, inference
	for _, split := range graph.Splits {
		if err := d.add(ctx, inference, triples.Inference, split, split != "valid"); err != nil {
			return d, err
		}
	}
	return d, nil
}

// add finds SPLIT.txt or SPLIT.txt.gz.
func (d *dataset) add(ctx context.Context, folder, of, split string, needed bool) error {
	var found []string
	for _, suffix := range []string{".txt", ".txt.gz"} {
		url := storage.Join(folder, split+suffix)
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
	if err := t.hash(ctx); err != nil {
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

// hash reads the file once.
func (t *text) hash(ctx context.Context) error {
	r, err := storage.Open(ctx, t.URL)
	if err != nil {
		return err
	}
	defer r.Close()
	sum := sha256.New()
	buffer := make([]byte, 1<<20)
	packed, last := false, byte('\n')
	for {
		n, err := r.Read(buffer)
		if n > 0 {
			if t.size == 0 {
				packed = bytes.HasPrefix(buffer[:n], []byte("\x1f\x8b"))
			}
			t.size += int64(n)
			t.lines += int64(bytes.Count(buffer[:n], []byte("\n")))
			last = buffer[n-1]
			sum.Write(buffer[:n])
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("reading %s: %w", t.URL, err)
		}
	}
	if last != '\n' {
		t.lines++
	}
	if packed {
		t.lines = 0
	}
	t.sha256 = hex.EncodeToString(sum.Sum(nil))
	return nil
}

// hashes is the part of the configuration that the texts decide.
func (d dataset) hashes() map[string]string {
	hashes := map[string]string{}
	for _, t := range d.files {
		hashes[t.key] = t.sha256
	}
	return hashes
}

// texts are the elements of the pipeline's input.
func (d dataset) texts() []triples.File {
	files := make([]triples.File, len(d.files))
	for i, t := range d.files {
		files[i] = t.File
	}
	return files
}

// lines is how many facts there are to be read, or 0 if that can't be told.
func (d dataset) lines() int64 {
	sum := int64(0)
	for _, t := range d.files {
		if t.lines == 0 {
			return 0
		}
		sum += t.lines
	}
	return sum
}

// edgeShards depends on the texts alone, so that the same texts make the same files.
func (d dataset) edgeShards() int {
	size := int64(0)
	for _, t := range d.files {
		if t.Split == "train" {
			size += t.size
		}
	}
	return 1 + int(size/bytesPerEdgeShard)
}
