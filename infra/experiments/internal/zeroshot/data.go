package zeroshot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"tagnet/formats/input/datasets"
	"tagnet/formats/storage"
	"tagnet/formats/workspace/manifest"
)

// The files of a folder of facts.
const (
	trainFile = "train.txt"
	validFile = "valid.txt"
	testFile  = "test.txt"
)

// dataset is what is known of the files of a graph.
type dataset struct {
	// sums are the SHA-256 of the files by their names below the folder of the data.
	sums map[string]string
	// facts counts those of the graph, and queried those that are queried.
	facts, queried int
}

// readDataset reads the files of a graph, and of the one that a fine-tuning trains on.
func readDataset(ctx context.Context, data string, g Graph) (dataset, error) {
	d := dataset{sums: map[string]string{}}
	for _, folder := range []string{g.Folder, g.Training} {
		if folder == "" {
			continue
		}
		for _, file := range []string{trainFile, validFile, testFile} {
			needed := file == trainFile || file == testFile && folder == g.Folder
			text, err := storage.ReadFile(ctx, filepath.Join(data, folder, file))
			switch {
			case errors.Is(err, fs.ErrNotExist) && !needed:
				continue
			case errors.Is(err, fs.ErrNotExist):
				return d, fmt.Errorf("%w; put the data of the graph there, or name the folder with %s by --data or %s", err, folder, datasets.DataVariable)
			case err != nil:
				return d, err
			}
			d.sums[path.Join(folder, file)] = manifest.HashBytes(file, text).SHA256
			switch {
			case folder != g.Folder:
			case file == trainFile:
				d.facts = len(lines(text))
			case file == testFile || g.Protocol != "":
				d.queried += len(lines(text))
			}
		}
	}
	return d, nil
}

// lines returns the lines of a text that are not empty, with their ends.
func lines(text []byte) []string {
	return slices.DeleteFunc(slices.Collect(strings.Lines(string(text))), func(line string) bool { return strings.TrimSpace(line) == "" })
}

// limited writes the files of a folder to another one, where test has so many of the facts, evenly taken, and valid the others, too: these remain
// known facts. preprocess refuses an empty file, so a split without facts has none.
func limited(ctx context.Context, from, to string, limit int) error {
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	text := map[string][]byte{}
	for _, file := range []string{trainFile, validFile, testFile} {
		var err error
		if text[file], err = storage.ReadFile(ctx, filepath.Join(from, file)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	all := lines(text[testFile])
	limit = min(limit, len(all))
	var queried, known []string
	for i, line := range all {
		if (i+1)*limit/len(all) > i*limit/len(all) {
			queried = append(queried, line)
		} else {
			known = append(known, line)
		}
	}
	text[validFile] = whole(append(lines(text[validFile]), known...))
	text[testFile] = whole(queried)
	for file, content := range text {
		if len(content) == 0 {
			continue
		}
		if err := storage.WriteFile(ctx, filepath.Join(to, file), content); err != nil {
			return err
		}
	}
	return nil
}

// whole returns lines as a text in which each has an end.
func whole(lines []string) []byte {
	var text bytes.Buffer
	for _, line := range lines {
		text.WriteString(strings.TrimRight(line, "\r\n") + "\n")
	}
	return text.Bytes()
}
