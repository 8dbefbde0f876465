package manifest

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"tagnet/formats/storage"
	"tagnet/formats/storage/storagetest"
)

func sample() Manifest {
	return Manifest{
		FormatVersion: FormatVersion,
		Stage:         "distances",
		Configuration: json.RawMessage(`{"split":"test","max_hops":6}`),
		Seed:          -9007199254740993,
		Rows:          map[string]int64{"sources": 3, "queries": 9007199254740993},
		Vocabulary:    VocabularyHash([]string{"a", "b"}, []string{"r"}),
		Inputs:        map[string]string{"graph": strings.Repeat("ab", 32)},
		Files:         []File{{"a.arrow", 4, strings.Repeat("0", 64)}, {"test/b.arrow", 0, strings.Repeat("f", 64)}},
	}
}

func write(ctx context.Context) func(url string) error {
	return func(url string) error { return Write(ctx, strings.TrimSuffix(url, "/"+FileName), sample()) }
}

func TestRoundTrip(t *testing.T) {
	ctx := t.Context()
	m := sample()
	m.Files[0], m.Files[1] = m.Files[1], m.Files[0] // Write sorts them
	m.FormatVersion = 0
	if err := Write(ctx, "mem://manifest/round", m); err != nil {
		t.Fatal(err)
	}
	got, err := Read(ctx, "mem://manifest/round")
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Checksum) != 64 {
		t.Errorf("checksum %q", got.Checksum)
	}
	want := sample()
	want.Checksum = got.Checksum
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestEmptyManifest(t *testing.T) {
	ctx := t.Context()
	if err := Write(ctx, "mem://manifest/empty", Manifest{}); err != nil {
		t.Fatal(err)
	}
	if m, err := Read(ctx, "mem://manifest/empty"); err != nil || m.FormatVersion != 1 || string(m.Configuration) != "{}" {
		t.Errorf("%+v, error %v", m, err)
	}
}

func TestEveryDamageIsNoticed(t *testing.T) {
	ctx := t.Context()
	folder := "mem://manifest/damage"
	if err := Write(ctx, folder, sample()); err != nil {
		t.Fatal(err)
	}
	storagetest.EveryDamage(t, folder+"/"+FileName, func(url string) error {
		_, err := Read(ctx, strings.TrimSuffix(url, "/"+FileName))
		if err != nil && !errors.Is(err, ErrDamaged) {
			t.Errorf("%v is not ErrDamaged", err)
		}
		return err
	})
}

func TestSameManifestGivesSameBytes(t *testing.T) {
	storagetest.SameBytes(t, func(url string) error {
		if err := Write(t.Context(), url+"-folder", sample()); err != nil {
			return err
		}
		data, err := storage.ReadFile(t.Context(), url+"-folder/"+FileName)
		if err != nil {
			return err
		}
		return storage.WriteFile(t.Context(), url, data)
	})
}

func TestGoldenFile(t *testing.T) {
	golden := storagetest.Golden(t, FileName, write(t.Context()))
	m, err := Read(t.Context(), filepath.Dir(golden))
	want := sample()
	want.Checksum = m.Checksum
	if err != nil || !reflect.DeepEqual(m, want) {
		t.Errorf("%+v, error %v", m, err)
	}
}

func TestReadOfNone(t *testing.T) {
	if _, err := Read(t.Context(), t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

func TestReadOfANewerVersion(t *testing.T) {
	m := sample()
	m.FormatVersion = 2
	if err := Write(t.Context(), "mem://manifest/newer", m); err != nil {
		t.Fatal(err)
	}
	_, err := Read(t.Context(), "mem://manifest/newer")
	if err == nil || !strings.Contains(err.Error(), "format version 2, this program reads 1") || errors.Is(err, ErrDamaged) {
		t.Errorf("error %v", err)
	}
}

func TestWriteRefusesFilesOfOtherFolders(t *testing.T) {
	for _, names := range [][]string{{"../a"}, {"/a"}, {"a", "a"}, {"manifest.json"}, {""}, {"."}, {".."}, {"a//b"}} {
		m := sample()
		m.Files = nil
		for _, name := range names {
			m.Files = append(m.Files, File{Name: name})
		}
		if err := Write(t.Context(), "mem://manifest/refused", m); err == nil {
			t.Errorf("files %q were accepted", names)
		}
	}
}

func TestVerify(t *testing.T) {
	ctx := t.Context()
	folder := t.TempDir()
	path := func(name string) string { return filepath.Join(folder, filepath.FromSlash(name)) }
	set := func(name, content string) {
		t.Helper()
		if err := storage.WriteFile(ctx, path(name), []byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	set("a.txt", "one")
	set("test/b.txt", "two")
	set(FileName, "not hashed")
	files, err := HashFolder(ctx, folder+"/")
	if err != nil {
		t.Fatal(err)
	}
	want := []File{
		{"a.txt", 3, "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed"},
		{"test/b.txt", 3, "3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3"},
	}
	if !reflect.DeepEqual(files, want) {
		t.Fatalf("files %+v, want %+v", files, want)
	}
	m := Manifest{Files: files}
	if err := Verify(ctx, folder, m); err != nil {
		t.Errorf("untouched: %v", err)
	}
	set("test/b.txt", "twO")
	if err := Verify(ctx, folder, m); !errors.Is(err, ErrDamaged) ||
		!strings.Contains(err.Error(), "the SHA-256 of "+path("test/b.txt")+" is not that in the manifest") {
		t.Errorf("a byte changed: %v", err)
	}
	set("test/b.txt", "tw")
	if err := Verify(ctx, folder, m); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "has 2 bytes instead of 3") {
		t.Errorf("cut short: %v", err)
	}
	os.Remove(path("a.txt"))
	if err := Verify(ctx, folder, m); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), path("a.txt")+" is missing") {
		t.Errorf("removed: %v", err)
	}
}

func TestVocabularyHashTellsVocabulariesApart(t *testing.T) {
	seen := map[string]int{}
	for i, v := range [][2][]string{
		{{}, {}}, {{""}, {}}, {{}, {""}}, {{"a"}, {}}, {{}, {"a"}}, {{"a", "b"}, {}}, {{"b", "a"}, {}}, {{"ab"}, {}}, {{"a"}, {"b"}},
	} {
		hash := VocabularyHash(v[0], v[1])
		if j, found := seen[hash]; found {
			t.Errorf("vocabularies %d and %d have the same hash", j, i)
		}
		seen[hash] = i
	}
}

// FuzzRead checks that no text makes the reader panic, and that Write accepts every manifest that Read returns.
func FuzzRead(f *testing.F) {
	text, err := encode(sample())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"manifest_sha256":"`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if m, err := decode(storagetest.Repair(text, checksumKey)); err == nil {
			if _, err := encode(m); err != nil {
				t.Fatalf("a manifest can be read but not written: %v", err)
			}
		}
	})
}
