package datasets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"tagnet/formats/names"
)

// Entry is a dataset of the catalog.
type Entry struct {
	// Name is also the name of its folder.
	Name string
	// Inference names the folder of its inference graph; empty if test queries use the training graph.
	Inference string
	// Source is where to download its files.
	Source string
}

// DataVariable is the environment variable with the folder of the datasets.
const DataVariable = "TAGNET_DATA"

// ErrUnknown is the error for a name that is neither a folder nor a file nor in the catalog.
var ErrUnknown = errors.New("neither a folder nor a file nor a dataset of the catalog")

// ErrAbsent is the error for a dataset of the catalog whose files are not on this machine.
var ErrAbsent = errors.New("its files are not found")

// Catalog lists the datasets that Resolve knows by name.
func Catalog() []Entry {
	const (
		embeddings = "https://github.com/DeepGraphLearning/KnowledgeGraphEmbedding (folder data)"
		pykeen     = "https://github.com/pykeen/pykeen (folder src/pykeen/datasets)"
		grail      = "https://github.com/kkteru/grail (folder data)"
	)
	entries := []Entry{
		{Name: "fb15k-237", Source: embeddings},
		{Name: "wn18rr", Source: embeddings},
		{Name: "umls", Source: pykeen},
		{Name: "kinship", Source: pykeen},
		{Name: "nations", Source: pykeen},
	}
	for _, family := range []string{"fb237", "WN18RR"} {
		for version := 1; version <= 4; version++ {
			name := fmt.Sprintf("%s_v%d", family, version)
			entries = append(entries,
				Entry{Name: name, Inference: name + "_ind", Source: grail},
				Entry{Name: name + "_ind", Source: grail})
		}
	}
	return entries
}

// Resolve returns a folder, a file or a URL unchanged, and for the name of a dataset of the catalog its folder
// on this machine. It downloads nothing: an error that wraps ErrAbsent names the source of the files and
// the folder to put them into, one that wraps ErrUnknown the closest name. A folder without facts, such
// as a workspace, does not hide a dataset of the same name.
func Resolve(_ context.Context, nameOrFolder string) (string, error) {
	if strings.Contains(nameOrFolder, "://") {
		return nameOrFolder, nil
	}
	switch info, err := os.Stat(nameOrFolder); {
	case err == nil && info.IsDir():
		if entry, ok := Named(nameOrFolder); ok && !HoldsFacts(nameOrFolder) {
			if folder, err := entry.find(); err == nil {
				return folder, nil
			}
		}
		return nameOrFolder, nil
	case err == nil:
		return nameOrFolder, nil
	case !errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("looking for dataset %q: %w", nameOrFolder, err)
	}
	if entry, ok := Named(nameOrFolder); ok {
		return entry.find()
	}
	return "", unknown(nameOrFolder)
}

// Named returns the dataset of a name in the catalog, ignoring case.
func Named(name string) (Entry, bool) {
	for _, entry := range Catalog() {
		if strings.EqualFold(entry.Name, name) {
			return entry, true
		}
	}
	return Entry{}, false
}

// HoldsFacts reports whether a folder is a dataset, which has a file of training facts, such as train.txt.
func HoldsFacts(folder string) bool {
	for _, pattern := range []string{"train.*", "train2id.txt"} {
		if found, err := filepath.Glob(filepath.Join(folder, pattern)); err == nil && len(found) > 0 {
			return true
		}
	}
	return false
}

// find returns the first folder of the dataset that exists.
func (e Entry) find() (string, error) {
	root := cmp.Or(os.Getenv(DataVariable), "data")
	tried := []string{filepath.Join(root, e.Name), filepath.Join(root, "inductive", e.Name)}
	for _, folder := range tried {
		if info, err := os.Stat(folder); err == nil && info.IsDir() {
			return folder, nil
		}
	}
	return "",
		fmt.Errorf("%s: %w (looked in %s); download them from %s and put train.txt, valid.txt and test.txt into %s, or set %s to the folder that holds %s",
			e.Name, ErrAbsent, strings.Join(tried, " and "), e.Source, tried[0], DataVariable, e.Name)
}

// unknown returns the error for an unknown name, with the closest known one.
func unknown(name string) error {
	if strings.ContainsAny(name, `/\`) {
		return fmt.Errorf("%s is %w: give a folder that holds train.txt, valid.txt and test.txt, or a file of facts", name, ErrUnknown)
	}
	if dot := strings.LastIndexByte(name, '.'); dot > 0 {
		return fmt.Errorf("%q is %w: no file of this name is in this folder; give its path", name, ErrUnknown)
	}
	known := make([]string, 0, len(Catalog()))
	for _, entry := range Catalog() {
		known = append(known, entry.Name)
	}
	return fmt.Errorf("%q is %w; closest is %q, of %s", name, ErrUnknown, names.Closest(name, known, 1)[0], strings.Join(known, ", "))
}
