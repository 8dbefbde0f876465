package manifest

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
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

// VocabularyHash names a vocabulary by the SHA-256 of its names in the order of their ids:
// the number of entities and each entity, then the same of relations, every name after its
// length. Numbers are 8 bytes, little-endian.
func VocabularyHash(entities, relations []string) string {
	sum := sha256.New()
	var number [8]byte
	write := func(n int) {
		binary.LittleEndian.PutUint64(number[:], uint64(n))
		sum.Write(number[:])
	}
	for _, names := range [][]string{entities, relations} {
		write(len(names))
		for _, name := range names {
			write(len(name))
			io.WriteString(sum, name)
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}
