package manifest

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"strings"

	"tagnet/formats/storage"
)

// HashFile returns the size and hash of a file, and the last part of its URL as its name.
func HashFile(ctx context.Context, url string) (File, error) {
	r, err := storage.Open(ctx, url)
	if err != nil {
		return File{}, err
	}
	defer r.Close()
	sum := sha256.New()
	size, err := io.CopyBuffer(sum, r, make([]byte, 1<<20))
	if err != nil {
		return File{}, fmt.Errorf("reading %s: %w", url, err)
	}
	return File{Name: storage.Base(url), Size: size, SHA256: hex.EncodeToString(sum.Sum(nil))}, nil
}

// HashFolder returns all files below a folder, but for its manifest, as Files lists them.
func HashFolder(ctx context.Context, folder string) ([]File, error) {
	urls, err := storage.List(ctx, folder)
	if err != nil {
		return nil, err
	}
	root := storage.Join(folder)
	var files []File
	for _, url := range urls {
		name := strings.TrimLeft(strings.ReplaceAll(strings.TrimPrefix(url, root), "\\", "/"), "/")
		if name == FileName {
			continue
		}
		f, err := HashFile(ctx, url)
		if err != nil {
			return nil, err
		}
		f.Name = name
		files = append(files, f)
	}
	return files, nil
}

// Vocabulary hashes names as they come, in the order of their ids. The hash in a manifest is of all
// entities, then all relations, each kind after its number. Numbers are 8 bytes, little-endian.
type Vocabulary struct {
	sum  hash.Hash
	text []byte
}

// NewVocabulary is the hash of no names.
func NewVocabulary() *Vocabulary { return &Vocabulary{sum: sha256.New()} }

// Count begins names of a kind, of which there are so many.
func (v *Vocabulary) Count(names int64) {
	v.text = binary.LittleEndian.AppendUint64(v.text, uint64(names))
}

// Add takes the next name, after its length.
func (v *Vocabulary) Add(name []byte) {
	v.text = binary.LittleEndian.AppendUint64(v.text, uint64(len(name)))
	v.text = append(v.text, name...)
	if len(v.text) >= 1<<16 {
		v.sum.Write(v.text)
		v.text = v.text[:0]
	}
}

// Hex is the hash of all that was taken, in hexadecimal digits.
func (v *Vocabulary) Hex() string {
	v.sum.Write(v.text)
	v.text = v.text[:0]
	return hex.EncodeToString(v.sum.Sum(nil))
}

// VocabularyHash names a vocabulary by the Vocabulary of names at hand.
func VocabularyHash(entities, relations []string) string {
	v := NewVocabulary()
	for _, names := range [][]string{entities, relations} {
		v.Count(int64(len(names)))
		for _, name := range names {
			v.Add([]byte(name))
		}
	}
	return v.Hex()
}
