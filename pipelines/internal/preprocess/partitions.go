package preprocess

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"tagnet/formats/input/facts"
	"tagnet/formats/input/triples"
	"tagnet/formats/storage"
	"tagnet/formats/workspace/manifest"
)

// partitions returns the Parquet files of a folder that is one table in parts, as DuckDB and Spark write it: such files
// are in the folder, or below folders such as year=2020, and there are no other files of facts.
func (f folder) partitions(ctx context.Context, columns []string) ([]string, error) {
	names, err := list(ctx, f.url)
	isPart := func(name string) bool { return isParquet(name) || strings.Contains(name, "=") && f.isFolder(name) }
	_, local := isLocal(f.url)
	if err != nil || len(f.files) > 0 || local && !slices.ContainsFunc(names, isPart) { // before a whole disk is listed
		return nil, err
	}
	files, err := storage.List(ctx, f.url)
	if err != nil {
		return nil, err
	}
	files = slices.DeleteFunc(files, func(url string) bool { _, known := facts.Stem(storage.Base(url)); return !known })
	if len(files) == 0 || slices.ContainsFunc(files, func(url string) bool { return !isParquet(storage.Base(url)) }) {
		return nil, nil
	}
	for _, url := range files {
		for name := range strings.SplitSeq(storage.Below(f.url, url), "/") {
			words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) })
			if len(words) > 0 && stems[words[0]] != "" {
				return nil, fmt.Errorf("%s: the facts of a split are in parts; write them to one file: train.parquet, valid.parquet, test.parquet", url)
			}
			key, _, hive := strings.Cut(name, "=")
			if hive && (facts.IsHeading(key) || slices.Contains(columns, key)) {
				return nil, fmt.Errorf("%s: the column %q is in the name of the folder, not in the file; write the table without it as a partition", url, key)
			}
		}
	}
	return files, nil
}

func isParquet(name string) bool {
	_, known := facts.Stem(name)
	return known && facts.MayBe(name, facts.Parquet) && !facts.MayBe(name, facts.TSV)
}

func (t text) urls() []string {
	if len(t.parts) > 0 {
		return t.parts
	}
	return []string{t.url}
}

// unchanged returns an error if a file is no longer the one that was hashed: the manifest would record the hash of
// other facts.
func (t text) unchanged(ctx context.Context) error {
	now, err := t.hash(ctx)
	if err == nil && now != t.SHA256 {
		return fmt.Errorf("%s: %w", t.url, triples.ErrChanged)
	}
	return err
}

// hash returns the SHA-256 of the file, or of the hashes of its parts.
func (t text) hash(ctx context.Context) (string, error) {
	sum := sha256.New()
	for _, url := range t.urls() {
		file, err := manifest.HashFile(ctx, url)
		if err != nil || len(t.parts) == 0 {
			return file.SHA256, err
		}
		sum.Write([]byte(file.SHA256))
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
