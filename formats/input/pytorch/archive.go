package pytorch

import (
	"archive/zip"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Bounds of what a file may have. Checkpoints of some hundred tensors have a hundredth of them.
const (
	maxEntries = 4096
	maxPickle  = 1 << 20 // bytes of data.pkl
	maxShort   = 64      // bytes of byteorder and of version
	maxVersion = 10      // of the archive, that PyTorch writes so far
)

const pickleEntry = "data.pkl"

// File is a checkpoint whose archive and pickle are read, and whose storages are not.
type File struct {
	entries map[string]*zip.File // without the folder that all of them share
	root    value
}

// Open reads the archive and the pickle of a checkpoint of size bytes. Its error names the entry that is damaged
// or refused, and what mends the file if there is a way.
func Open(r io.ReaderAt, size int64) (*File, error) {
	archive, err := zip.NewReader(r, size)
	if err != nil {
		return nil, notArchive(r, err)
	}
	f := &File{}
	if f.entries, err = listEntries(archive.File, size); err != nil {
		return nil, err
	}
	if err := f.checkVersion(); err != nil {
		return nil, err
	}
	pickle, err := f.read(pickleEntry, maxPickle)
	if err != nil {
		return nil, err
	}
	if f.root, err = unpickle(pickle); err != nil {
		return nil, fmt.Errorf("%s: %w", pickleEntry, err)
	}
	return f, nil
}

// notArchive returns the error of a file that is no zip archive.
func notArchive(r io.ReaderAt, err error) error {
	begin := make([]byte, 64)
	n, _ := r.ReadAt(begin, 0) // a shorter file is no archive either
	switch begin = begin[:n]; {
	case bytes.HasPrefix(begin, []byte{protocol}):
		return errors.New("it is in the format that PyTorch wrote before version 1.6: " +
			"save it again with torch.save(torch.load(file), file) of a later version")
	case bytes.HasPrefix(begin, []byte("PK")):
		return fmt.Errorf("its zip archive is cut short or damaged (%w)", err)
	case bytes.HasPrefix(bytes.TrimSpace(begin), []byte("<")):
		return errors.New("it is a web page, not a file of torch.save: download the file itself, on GitHub by its link with /raw/")
	case bytes.HasPrefix(begin, []byte("version https://git-lfs")):
		return errors.New("it is a pointer of Git LFS: git lfs pull fetches the file")
	}
	return errors.New("it is not a file of torch.save (no zip archive)")
}

// listEntries returns the entries of an archive by name. It is an error unless they are stored one after the other
// in one folder, as torch.save writes them.
func listEntries(files []*zip.File, size int64) (map[string]*zip.File, error) {
	if len(files) > maxEntries {
		return nil, fmt.Errorf("its archive has %d entries, at most %d are read", len(files), maxEntries)
	}
	type span struct {
		name       string
		begin, end int64
	}
	spans := make([]span, 0, len(files))
	entries := make(map[string]*zip.File, len(files))
	folder := ""
	// Each entry must be stored plainly in the one folder, and lie within the file.
	for i, file := range files {
		in, name, ok := strings.Cut(file.Name, "/")
		if i == 0 {
			folder = in
		}
		switch {
		case !ok || in != folder || !isEntry(name):
			return nil, fmt.Errorf("its archive has an entry %.80q, which torch.save does not write for tensors: "+
				"save the weights alone, torch.save(model.state_dict(), file)", file.Name)
		case entries[name] != nil:
			return nil, fmt.Errorf("its archive has two entries %.80q", name)
		case file.Method != zip.Store || file.CompressedSize64 != file.UncompressedSize64:
			return nil, fmt.Errorf("its entry %.80q is compressed, which torch.save never does", name)
		case file.Flags&1 != 0:
			return nil, fmt.Errorf("its entry %.80q is encrypted, which torch.save never does", name)
		}
		begin, err := file.DataOffset()
		if err != nil {
			return nil, fmt.Errorf("its entry %.80q is damaged (%w)", name, err)
		}
		if begin < 0 || begin > size || file.CompressedSize64 > uint64(size-begin) {
			return nil, fmt.Errorf("its entry %.80q has %d bytes, more than the file: it is cut short or damaged", name, file.CompressedSize64)
		}
		entries[name] = file
		spans = append(spans, span{name, begin, begin + int64(file.CompressedSize64)})
	}
	// Entries that overlap could unpack to more than the file has.
	slices.SortFunc(spans, func(a, b span) int { return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.end, b.end)) })
	for i := range spans {
		if i > 0 && spans[i].begin < spans[i-1].end {
			return nil, fmt.Errorf("its entries %.80q and %.80q overlap", spans[i-1].name, spans[i].name)
		}
	}
	if entries[pickleEntry] == nil {
		return nil, fmt.Errorf("its archive has no %s: it is not a file of torch.save", pickleEntry)
	}
	return entries, nil
}

// isEntry reports whether torch.save writes an entry of this name for tensors. Names that begin with a dot are those
// of notes, which differ between versions of PyTorch and are not read.
func isEntry(name string) bool {
	switch name {
	case pickleEntry, "version", "byteorder":
		return true
	}
	if key, ok := strings.CutPrefix(name, "data/"); ok {
		return isKey(key)
	}
	return strings.HasPrefix(name, ".") && !strings.HasPrefix(name, "..")
}

// isKey reports whether text is a storage's number as torch.save writes it.
func isKey(text string) bool {
	n, err := strconv.ParseUint(text, 10, 31)
	return err == nil && strconv.FormatUint(n, 10) == text
}

// checkVersion compares the version of the format and the order of bytes, if the file says them.
func (f *File) checkVersion() error {
	if f.entries["version"] != nil {
		text, err := f.read("version", maxShort)
		if err != nil {
			return err
		}
		version, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 31)
		if err != nil || version > maxVersion {
			return fmt.Errorf("its entry version is %.20q, at most %d is known", text, maxVersion)
		}
	}
	if f.entries["byteorder"] != nil {
		text, err := f.read("byteorder", maxShort)
		if err != nil {
			return err
		}
		if string(text) != "little" {
			return fmt.Errorf("its entry byteorder is %.20q: save it on a little-endian machine", text)
		}
	}
	return nil
}

// read returns the content of an entry of at most limit bytes, and verifies its checksum.
func (f *File) read(name string, limit int64) ([]byte, error) {
	entry := f.entries[name]
	if entry.UncompressedSize64 > uint64(limit) {
		return nil, fmt.Errorf("its entry %s has %d bytes, at most %d are read", name, entry.UncompressedSize64, limit)
	}
	r, err := entry.Open()
	if err != nil {
		return nil, fmt.Errorf("its entry %s is damaged (%w)", name, err)
	}
	defer r.Close()
	content := make([]byte, entry.UncompressedSize64) // no more than the file has
	if _, err := io.ReadFull(r, content); err != nil {
		return nil, fmt.Errorf("its entry %s is cut short (%w)", name, err)
	}
	if _, err := r.Read(make([]byte, 1)); err != io.EOF { // verifies the checksum
		return nil, fmt.Errorf("its entry %s is damaged (%w)", name, err)
	}
	return content, nil
}
