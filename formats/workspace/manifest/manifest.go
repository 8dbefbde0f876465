package manifest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"tagnet/formats/remedy"
	"tagnet/formats/storage"
	"tagnet/formats/strict"
)

// FileName is the manifest's name in its folder.
const FileName = "manifest.json"

// FormatVersion is the version of the manifests that this package writes and reads.
const FormatVersion = 1

// Manifest describes what made a folder and its files.
type Manifest struct {
	// FormatVersion is set by Write if it is 0.
	FormatVersion int `json:"format_version"`
	// Stage is the pipeline that wrote the folder.
	Stage string `json:"stage"`
	// Configuration determines the content, together with Inputs and Seed.
	Configuration json.RawMessage `json:"configuration"`
	Seed          int64           `json:"seed"`
	// Rows counts what the stage read, wrote and left out, by name.
	Rows map[string]int64 `json:"rows"`
	// Vocabulary is the VocabularyHash of the names that the folder's ids refer to.
	Vocabulary string `json:"vocabulary"`
	// Inputs holds, for each folder or file read, the hash of its manifest or content.
	Inputs map[string]string `json:"inputs"`
	// Files lists all files of the folder except the manifest, sorted by name.
	Files []File `json:"files"`
	// Checksum is the SHA-256 of the manifest itself, with zeros for these 64 digits. Read and
	// Write set it. It identifies the content of the whole folder in the Inputs of other folders.
	Checksum string `json:"manifest_sha256"`
}

// File records a file of a folder, by which Verify checks it.
type File struct {
	// Name is the file's path in the folder, with slashes.
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// ErrDamaged is wrapped by the errors of a manifest, or of a file that it lists, that was changed since
// it was written.
var ErrDamaged = errors.New("cut short or changed since it was written")

const checksumKey = "manifest_sha256"

// Write writes a folder's manifest. The same content gives the same bytes.
func Write(ctx context.Context, folder string, m Manifest) error {
	text, err := encode(m)
	if err != nil {
		return fmt.Errorf("writing %s: %w", storage.Join(folder, FileName), err)
	}
	return storage.WriteFile(ctx, storage.Join(folder, FileName), text)
}

// encode returns the text of a manifest with its defaults, files in order and its checksum.
func encode(m Manifest) ([]byte, error) {
	m.FormatVersion = cmp.Or(m.FormatVersion, FormatVersion)
	if len(m.Configuration) == 0 {
		m.Configuration = json.RawMessage("{}")
	}
	if m.Rows == nil {
		m.Rows = map[string]int64{}
	}
	if m.Inputs == nil {
		m.Inputs = map[string]string{}
	}
	m.Files = append([]File{}, m.Files...)
	slices.SortFunc(m.Files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	if err := m.Check(); err != nil {
		return nil, err
	}
	m.Checksum = storage.BlankChecksum
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, err
	}
	text = append(text, '\n')
	return text, storage.SetChecksum(text, checksumKey)
}

// Check returns an error for counts and files that no stage writes.
func (m Manifest) Check() error {
	for i, f := range m.Files {
		key := fmt.Sprintf("files[%d]", i)
		if err := strict.First(strict.FileName(key+".name", f.Name), strict.Count(key+".size", f.Size)); err != nil {
			return err
		}
		if f.Name == FileName {
			return fmt.Errorf("%s.name is %s, which is the manifest itself", key, FileName)
		}
		if i > 0 && m.Files[i-1].Name >= f.Name {
			return fmt.Errorf("%s.name is %q after %q: names are in byte order, each once", key, f.Name, m.Files[i-1].Name)
		}
	}
	return strict.Counts("rows", m.Rows)
}

// Read reads a folder's manifest. If there is none, because the folder is absent or incomplete, the
// error wraps fs.ErrNotExist. If the manifest is damaged, it wraps ErrDamaged.
func Read(ctx context.Context, folder string) (Manifest, error) {
	url := storage.Join(folder, FileName)
	text, err := storage.ReadText(ctx, url)
	if err != nil {
		return Manifest{}, err
	}
	m, err := decode(text)
	if err != nil {
		return Manifest{}, fmt.Errorf("reading %s: %w", url, err)
	}
	return m, nil
}

// decode verifies and reads the text of a manifest. text is changed meanwhile and restored.
func decode(text []byte) (Manifest, error) {
	if err := storage.VerifyChecksum(text, checksumKey); err != nil {
		return Manifest{}, fmt.Errorf("the manifest is %w (%w)", ErrDamaged, err)
	}
	var m Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return Manifest{}, fmt.Errorf("the manifest is %w (%w)", ErrDamaged, err)
	}
	if m.FormatVersion != FormatVersion {
		return Manifest{}, remedy.Errorf(remedy.Do("run the command that makes the folder with %v", remedy.Flag("force")),
			"it has format version %d, this program reads %d", m.FormatVersion, FormatVersion)
	}
	if err := m.Check(); err != nil {
		return Manifest{}, fmt.Errorf("the manifest is %w (%w)", ErrDamaged, err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, m.Configuration); err != nil {
		return Manifest{}, fmt.Errorf("the manifest is %w (%w)", ErrDamaged, err)
	}
	m.Configuration = compact.Bytes()
	return m, nil
}

// Verify compares every file of a folder with its manifest: it exists and has the same size and hash.
// The error names the first file that differs and wraps fs.ErrNotExist or ErrDamaged, or is a *Replaced error.
func Verify(ctx context.Context, folder string, m Manifest) error {
	if err := compareFiles(ctx, folder, m); err != nil {
		return Confirm(ctx, folder, m.Checksum, err)
	}
	return nil
}

// compareFiles compares the size and the SHA-256 of every file with the manifest.
func compareFiles(ctx context.Context, folder string, m Manifest) error {
	for _, want := range m.Files {
		url := storage.Join(folder, want.Name)
		got, err := HashFile(ctx, url)
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s is missing, though the folder's manifest lists it: %w", url, fs.ErrNotExist)
		}
		if err != nil {
			return err
		}
		if got.Size != want.Size {
			return fmt.Errorf("%s has %d bytes instead of %d: %w", url, got.Size, want.Size, ErrDamaged)
		}
		if got.SHA256 != want.SHA256 {
			return fmt.Errorf("the SHA-256 of %s is not that in the manifest: %w", url, ErrDamaged)
		}
	}
	return nil
}
