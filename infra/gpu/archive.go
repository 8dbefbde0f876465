package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tagnet/formats/history"
	"tagnet/formats/manifest"
	"tagnet/formats/storage"
	"tagnet/model/checkpoint"
)

// The files of an archive beside its parts.
const (
	indexFile   = "checkpoint.json"
	historyFile = history.File
	partPrefix  = "checkpoint-"
)

// largestPart is a little less than 15 MiB, which a file may have to be brought back.
const largestPart = 15<<20 - 1<<16

// index describes a checkpoint whose files lie one behind the other in parts.
type index struct {
	Checkpoint string          `json:"checkpoint"`
	Files      []manifest.File `json:"files"`
	Parts      []manifest.File `json:"parts"`
}

// archive is a folder with the newest checkpoint of a training and the weights of the best one, in parts of a limited size.
type archive struct {
	folder string
	part   int // largest size of a part
}

// pack replaces the archive's checkpoint by the newest of a folder and returns its name. The old one stays complete until the new one is.
func (a archive) pack(ctx context.Context, from checkpoint.Folder, history string) (string, error) {
	names, err := chosen(ctx, from)
	if err != nil {
		return "", err
	}
	x := index{Checkpoint: strings.TrimSuffix(names[0], ".safetensors")}
	var content []byte
	for _, name := range names {
		data, err := storage.ReadFile(ctx, storage.Join(string(from), name))
		if err != nil {
			return "", err
		}
		x.Files = append(x.Files, manifest.HashBytes(name, data))
		content = append(content, data...)
	}
	for i, part := range slices.Collect(slices.Chunk(content, a.part)) {
		described := manifest.HashBytes(fmt.Sprintf("%s%s-%d", partPrefix, x.Checkpoint, i+1), part)
		x.Parts = append(x.Parts, described)
		if err := storage.WriteFile(ctx, filepath.Join(a.folder, described.Name), part); err != nil {
			return "", err
		}
	}
	if err := copyHistory(ctx, history, filepath.Join(a.folder, historyFile)); err != nil {
		return "", err
	}
	if err := storage.WriteJSON(ctx, filepath.Join(a.folder, indexFile), x); err != nil {
		return "", err
	}
	return x.Checkpoint, a.prune(x)
}

// chosen returns the files of the newest checkpoint, its weights first, and those of the best one that scoring takes.
func chosen(ctx context.Context, folder checkpoint.Folder) ([]string, error) {
	records, _, err := folder.Records(ctx)
	if err != nil {
		return nil, err
	}
	if len(records) == 0 {
		return nil, fmt.Errorf("%w in %s", checkpoint.ErrNone, folder)
	}
	newest := records[len(records)-1]
	names := []string{newest.Weights.Name, newest.Optimizer.Name, newest.Name() + ".json"}
	best, err := folder.Best(ctx)
	switch {
	case errors.Is(err, checkpoint.ErrNone):
		return names, nil
	case err != nil:
		return nil, err
	}
	if best != newest.Name() {
		names = append(names, best+".safetensors", best+".json")
	}
	return append(names, checkpoint.BestFile), nil
}

// copyHistory copies training.jsonl, which does not exist before the first epoch is finished.
func copyHistory(ctx context.Context, from, to string) error {
	data, err := storage.ReadFile(ctx, from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return storage.WriteFile(ctx, to, data)
}

// prune removes the parts that the index does not name.
func (a archive) prune(x index) error {
	parts, err := filepath.Glob(filepath.Join(a.folder, partPrefix+"*"))
	if err != nil {
		return err
	}
	for _, part := range parts {
		named := slices.ContainsFunc(x.Parts, func(f manifest.File) bool { return f.Name == filepath.Base(part) })
		if !named {
			if err := os.Remove(part); err != nil {
				return err
			}
		}
	}
	return nil
}

// exists reports whether the folder has an archive.
func (a archive) exists() bool {
	_, err := os.Stat(filepath.Join(a.folder, indexFile))
	return err == nil
}

// unpack writes the archive's checkpoints to a folder without any, and training.jsonl to a file.
func (a archive) unpack(ctx context.Context, to checkpoint.Folder, history string) error {
	records, damaged, err := to.Records(ctx)
	if err != nil {
		return err
	}
	if len(records)+len(damaged) > 0 {
		return fmt.Errorf("%s has checkpoints already: remove them, or name another --workspace", to)
	}
	x, err := a.index(ctx)
	if err != nil {
		return err
	}
	files, err := a.read(ctx, x)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(string(to), 0o755); err != nil {
		return err
	}
	// Records come last: without them the other files are ignored.
	for _, records := range []bool{false, true} {
		for i, f := range x.Files {
			if strings.HasSuffix(f.Name, ".json") != records {
				continue
			}
			if err := storage.WriteFile(ctx, storage.Join(string(to), f.Name), files[i]); err != nil {
				return err
			}
		}
	}
	return copyHistory(ctx, filepath.Join(a.folder, historyFile), history)
}

// index reads the archive's index.
func (a archive) index(ctx context.Context) (index, error) {
	url := filepath.Join(a.folder, indexFile)
	data, err := storage.ReadFile(ctx, url)
	if errors.Is(err, fs.ErrNotExist) {
		return index{}, fmt.Errorf("%s is missing: %s has no checkpoint of this program", indexFile, a.folder)
	}
	if err != nil {
		return index{}, err
	}
	var x index
	if err := json.Unmarshal(data, &x); err != nil {
		return index{}, fmt.Errorf("%s is damaged: %w; copy the folder again", url, err)
	}
	for _, f := range slices.Concat(x.Files, x.Parts) {
		if f.Name != filepath.Base(f.Name) || f.Size < 0 {
			return index{}, fmt.Errorf("%s is damaged: it names a file %.40q of %d bytes; copy the folder again", url, f.Name, f.Size)
		}
	}
	return x, nil
}

// read joins the parts and returns the content of the files.
func (a archive) read(ctx context.Context, x index) ([][]byte, error) {
	var content []byte
	for i, part := range x.Parts {
		url := filepath.Join(a.folder, part.Name)
		data, err := storage.ReadFile(ctx, url)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s is missing, part %d of %d of %s; copy the folder again", url, i+1, len(x.Parts), x.Checkpoint)
		}
		if err != nil {
			return nil, err
		}
		if found := manifest.HashBytes(part.Name, data); found != part {
			return nil, fmt.Errorf("%s is damaged: it has %d bytes with SHA-256 %.12s, %s says %d and %.12s; copy the folder again",
				url, found.Size, found.SHA256, indexFile, part.Size, part.SHA256)
		}
		content = append(content, data...)
	}
	var files [][]byte
	for _, f := range x.Files {
		if int64(len(content)) < f.Size || manifest.HashBytes(f.Name, content[:f.Size]) != f {
			return nil, fmt.Errorf("%s is damaged: the parts do not give %s; copy the folder again", filepath.Join(a.folder, indexFile), f.Name)
		}
		files, content = append(files, content[:f.Size]), content[f.Size:]
	}
	return files, nil
}
