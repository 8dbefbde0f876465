package preprocess

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"

	"tagnet/formats/input/facts"
	"tagnet/formats/input/triples"
	"tagnet/formats/storage"
	"tagnet/model/graph/kg"
)

// stems are the names of a dataset's files without their endings, with the split of each.
var stems = map[string]string{
	"train": "train", "valid": "valid", "validation": "valid", "val": "valid", "dev": "valid", "test": "test", "facts": triples.Background,
}

// The files of OpenKE, and of datasets with numbers in place of names.
const (
	openKEEntities, openKERelations = "entity2id.txt", "relation2id.txt"
	dictEntities, dictRelations     = "entities.dict", "relations.dict"
)

var openKESplits = map[string]string{"train2id.txt": "train", "valid2id.txt": "valid", "test2id.txt": "test"}

// isLocal reports whether a path or URL leads to this machine, and returns the path.
func isLocal(url string) (path string, local bool) {
	scheme, path, found := strings.Cut(url, "://")
	if !found {
		return url, true
	}
	return path, scheme == "file"
}

// checkReadable returns an error if a path is no regular file. Opening a pipe would wait for its writer, a device may
// never end, and preprocess reads its input several times.
func checkReadable(url string) error {
	path, local := isLocal(url)
	if !local {
		return nil
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("reading %s: %w", url, fs.ErrNotExist)
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%s is a folder where a file of facts is needed", url)
	case !info.Mode().IsRegular():
		kind := "device"
		if info.Mode()&fs.ModeNamedPipe != 0 {
			kind = "pipe"
		}
		return fmt.Errorf("%s is a %s, and preprocess reads its input several times: copy it to a file first", url, kind)
	}
	return nil
}

// isFile reports whether a path or URL of a dataset is one file instead of a folder.
func isFile(ctx context.Context, url string) (bool, error) {
	if path, local := isLocal(url); local {
		info, err := os.Stat(path)
		return err == nil && !info.IsDir(), nil
	}
	return storage.Exists(ctx, url)
}

// exists reports whether a path or URL is a file, or a folder with files.
func exists(ctx context.Context, url string) (bool, error) {
	if single, err := isFile(ctx, url); single || err != nil || url == "" {
		return single, err
	}
	names, err := list(ctx, url)
	return len(names) > 0, err
}

// list returns the names of the files in a folder, not below it, in order. Of a folder on this machine they include
// folders, which a later check tells from files.
func list(ctx context.Context, folder string) (names []string, err error) {
	if path, local := isLocal(folder); local {
		entries, err := os.ReadDir(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENAMETOOLONG) { // as of a list of files
			return nil, fmt.Errorf("reading %s: %w", folder, err)
		}
		for _, entry := range entries {
			names = append(names, entry.Name())
		}
		return names, nil
	}
	urls, err := storage.List(ctx, folder)
	if err != nil {
		return nil, err
	}
	for _, url := range urls {
		name := storage.Below(folder, url)
		if !strings.Contains(name, "/") {
			names = append(names, name)
		}
	}
	return names, nil
}

// folder lists the contents of a dataset's folder.
type folder struct {
	url string
	// files are the names of the files of each split.
	files map[string]string
	// others are the names of all other files, folders the names of folders.
	others, folders []string
	openKE          bool
}

// openFolder finds the files of a folder. format is --format, or empty.
func openFolder(ctx context.Context, url string, format facts.Format) (folder, error) {
	f := folder{url: url, files: map[string]string{}}
	names, err := list(ctx, url)
	if err != nil {
		return f, err
	}
	hasTrain := slices.ContainsFunc(names, func(name string) bool {
		stem, ok := facts.Stem(name)
		return ok && stems[stem] == "train"
	})
	f.openKE = format == facts.OpenKE || format == "" && !hasTrain && slices.Contains(names, "train2id.txt")
	for _, name := range names {
		split := f.splitOf(name, format)
		switch {
		case split == "" && strings.HasPrefix(name, "."):
		case split == "" && f.isFolder(name):
			f.folders = append(f.folders, name)
		case split == "":
			f.others = append(f.others, name)
		case f.files[split] != "":
			return f, fmt.Errorf("%s and %s both exist: remove one, or choose with --format", storage.Join(url, f.files[split]), storage.Join(url, name))
		default:
			f.files[split] = name
		}
	}
	if format == "" || f.openKE {
		return f, nil
	}
	return f, f.override(format)
}

// override adds the files whose ending belongs to another text format than --format, for splits that
// have no other file.
func (f *folder) override(format facts.Format) error {
	found := map[string]string{}
	for _, name := range f.others {
		stem, ok := facts.Stem(name)
		split := stems[stem]
		if !ok || split == "" || f.files[split] != "" || (format == facts.Parquet) != facts.MayBe(name, facts.Parquet) {
			continue
		}
		if found[split] != "" {
			return fmt.Errorf("%s and %s both exist, and --format %s fits both: remove one", storage.Join(f.url, found[split]), storage.Join(f.url, name),
				format)
		}
		found[split] = name
	}
	maps.Copy(f.files, found)
	f.others = slices.DeleteFunc(f.others, func(name string) bool { return slices.Contains(slices.Collect(maps.Values(found)), name) })
	return nil
}

// splitOf returns the split whose facts a file has by its name, or "".
func (f folder) splitOf(name string, format facts.Format) string {
	if f.openKE {
		return openKESplits[name]
	}
	stem, ok := facts.Stem(name)
	if !ok || format != "" && !facts.MayBe(name, format) {
		return ""
	}
	return stems[stem]
}

// isFolder reports whether a name in the folder is a folder of a local disk.
func (f folder) isFolder(name string) bool {
	path, local := isLocal(storage.Join(f.url, name))
	if !local {
		return false
	}
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// file returns the file of a split, or an error if it is required and missing.
func (f folder) file(split string, required bool) (string, error) {
	if name := f.files[split]; name != "" {
		url := storage.Join(f.url, name)
		return url, checkReadable(url)
	}
	if !required {
		return "", nil
	}
	return "", f.lacks(split)
}

// lacks returns the error of a split whose file is missing.
func (f folder) lacks(split string) error {
	const wantedFiles = "a dataset is one file of facts, or a folder with train.txt and, to measure models, valid.txt and test.txt"
	switch {
	case len(f.files)+len(f.others) == 0 && len(f.folders) > 0:
		return missing(fmt.Sprintf("%s: the folder has only folders (%s); %s; give one of them", f.url, shortList(f.folders), wantedFiles))
	case len(f.files)+len(f.others) == 0:
		return missing(fmt.Sprintf("%s: the folder does not exist or is empty; %s", f.url, wantedFiles))
	}
	for _, name := range f.others {
		if other := facts.Foreign(name); other != "" {
			return missing(fmt.Sprintf("%s not found: %s has %s, which is %s", storage.Join(f.url, f.usual(split)), f.url, name, other))
		}
	}
	return missing(fmt.Sprintf("%s not found: %s has %s; %s (or .tsv, .csv, .jsonl, .nt, .nq, .ttl, .parquet); give the path of "+
		"the file of facts, or rename it",
		storage.Join(f.url, f.usual(split)), f.url, shortList(f.all()), wantedFiles))
}

// usual returns the usual name of a split's file, for messages.
func (f folder) usual(split string) string {
	if f.openKE {
		return split + "2id.txt"
	}
	return split + ".txt"
}

// missing is the error of a file or folder that does not exist. Its text ends with the remedy.
type missing string

// Error returns the text.
func (m missing) Error() string { return string(m) }

// Unwrap returns fs.ErrNotExist, which the text does not repeat.
func (m missing) Unwrap() error { return fs.ErrNotExist }

func (f folder) all() []string {
	names := slices.Clone(f.others)
	for _, name := range f.files {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// unread returns the names of the files that none of these reads.
func (f folder) unread(used ...string) []string {
	return slices.DeleteFunc(slices.Clone(f.others), func(name string) bool {
		return slices.Contains(used, storage.Join(f.url, name))
	})
}

// shortList lists names, of many the first.
func shortList(names []string) string {
	const shown = 8
	if len(names) <= shown {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
}

// divided returns the error of --split for a folder that has validation or test facts.
func (f folder) divided() error {
	var has []string
	for _, split := range kg.Splits[1:] {
		if name := f.files[split]; name != "" {
			has = append(has, name)
		}
	}
	remedy := "leave --split out"
	if f.files["train"] == "" {
		remedy = "give --dataset the file to divide"
	} else if !f.openKE {
		remedy += fmt.Sprintf(", or give the file with --dataset %s, which reads no other file", storage.Join(f.url, f.files["train"]))
	}
	return fmt.Errorf("--split divides one file, and %s has %s already: %s", f.url, strings.Join(has, " and "), remedy)
}

// toSplit returns the file that --split divides: the training facts, if the folder has no other splits, or the only
// file whose name has an ending of facts. It also returns the file of background facts, if there is another one.
func (f folder) toSplit() (url, background string, err error) {
	if f.files["valid"]+f.files["test"] != "" {
		return "", "", f.divided()
	}
	candidates := slices.DeleteFunc(slices.Clone(f.others), func(name string) bool { _, ok := facts.Stem(name); return !ok })
	switch {
	case f.files["train"] != "":
		url = storage.Join(f.url, f.files["train"])
	case len(candidates) == 1:
		url = storage.Join(f.url, candidates[0])
	case len(candidates) == 0 && f.files[triples.Background] != "":
		url, err = f.file(triples.Background, true)
		return url, "", err
	default:
		if len(f.all()) == 0 {
			return "", "", f.lacks("train")
		}
		return "", "", fmt.Errorf("--split divides one file, and %s has %s: give the file", f.url, shortList(f.all()))
	}
	if err := checkReadable(url); err != nil {
		return "", "", err
	}
	background, err = f.file(triples.Background, false)
	return url, background, err
}
