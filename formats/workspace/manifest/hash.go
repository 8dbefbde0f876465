package manifest

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
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
	size, err := io.CopyBuffer(sum, storage.Interruptible(ctx, r), make([]byte, 1<<20))
	if err != nil {
		return File{}, err
	}
	return File{Name: storage.Base(url), Size: size, SHA256: hex.EncodeToString(sum.Sum(nil))}, nil
}

// HashBytes returns the size and SHA-256 of a file with this name and content.
func HashBytes(name string, content []byte) File {
	sum := sha256.Sum256(content)
	return File{Name: name, Size: int64(len(content)), SHA256: hex.EncodeToString(sum[:])}
}

// HashFolder returns all files below a folder, except its manifest, as Manifest.Files lists them.
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

// Vocabulary hashes names one by one, in the order of their ids. The hash in a manifest covers the number of entities,
// all entities, the number of relations and all relations. Numbers have 8 bytes, little-endian.
type Vocabulary struct {
	sum  hash.Hash
	text []byte
}

// NewVocabulary returns the hash of no names.
func NewVocabulary() *Vocabulary { return &Vocabulary{sum: sha256.New()} }

// Begin begins the entities or the relations with their number.
func (v *Vocabulary) Begin(names int64) {
	v.text = binary.LittleEndian.AppendUint64(v.text, uint64(names))
}

// Add hashes the length of the next name and the name.
func (v *Vocabulary) Add(name []byte) {
	v.text = binary.LittleEndian.AppendUint64(v.text, uint64(len(name)))
	v.text = append(v.text, name...)
	if len(v.text) >= 1<<16 {
		v.sum.Write(v.text)
		v.text = v.text[:0]
	}
}

// Hex returns the hash in hexadecimal digits.
func (v *Vocabulary) Hex() string {
	v.sum.Write(v.text)
	v.text = v.text[:0]
	return hex.EncodeToString(v.sum.Sum(nil))
}

// VocabularyHash returns the hash that identifies a vocabulary.
func VocabularyHash(entities, relations []string) string {
	v := NewVocabulary()
	for _, names := range [][]string{entities, relations} {
		v.Begin(int64(len(names)))
		for _, name := range names {
			v.Add([]byte(name))
		}
	}
	return v.Hex()
}
