package workspace

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sort"
	"strings"

	"tagnet/formats/manifest"
	"tagnet/formats/storage"
)

// Stage is one folder that a pipeline is about to make, and all that decides its content.
type Stage struct {
	// Workspace is the one the folder is in.
	Workspace Workspace
	// Name is the pipeline's.
	Name string
	// Folder is the path below the workspace, for example distances/test.
	Folder string
	// Configuration is marshalled to JSON; two runs with equal JSON make equal content.
	Configuration any
	// Seed is recorded and compared; leave it 0 where nothing is drawn.
	Seed int64
	// Vocabulary is the hash of the entity and relation names the content speaks of.
	Vocabulary string
	// Inputs are the folders the content is made from, with their manifests' hashes, as
	// Inputs gives them.
	Inputs map[string]string
	// Guarded tells that whoever writes there looks at the mark before each file, and that what is
	// left is looked at before it is published: a run that is displaced then mixes nothing.
	Guarded bool
	// Command makes the folder: "go run ./pipelines/NAME" with the flags that matter. It is
	// quoted in errors.
	Command string
}

// url is the folder's URL.
func (s Stage) url() string { return s.Workspace.Path(s.Folder) }

// marker is the URL of the folder's mark, index that of its manifest.
func (s Stage) marker() string { return storage.Join(s.url(), unfinished) }
func (s Stage) index() string  { return storage.Join(s.url(), manifest.FileName) }

// Begin decides what to do before anything is built. It returns true when the folder is
// complete with exactly this configuration and from these inputs: nothing is to be done.
// It returns an error when another configuration or other inputs made it, or when it is
// damaged, unless force is true. Otherwise it removes what an interrupted run left behind,
// and makes sure that the folder can be written.
func (s Stage) Begin(ctx context.Context, force bool) (done bool, err error) {
	m, err := manifest.Read(ctx, s.url())
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case force:
	case err != nil:
		return false, remedied(err, s.command())
	default:
		if err := s.compare(m); err != nil {
			return false, err
		}
		if err := manifest.Verify(ctx, s.url(), m); err != nil {
			return false, remedied(err, s.command())
		}
		return true, storage.Remove(ctx, s.marker())
	}
	return false, s.clear(ctx)
}

// remedied adds the command that makes a damaged folder anew. A folder that cannot be read, be it
// for a permission, credentials or the URL, is not damaged.
func remedied(err error, command string) error {
	if !errors.Is(err, manifest.ErrDamaged) && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if strings.Contains(command, "/preprocess") && !strings.Contains(command, "--dataset") {
		command += " with the same --dataset and" // without it, it would take the sample
	}
	return fmt.Errorf("%w: %s --force makes it anew", err, command)
}

func (s Stage) command() string { return s.Workspace.Command(s.Command) }

// compare returns nil if the manifest is of a run like this one, or an error that says what
// differs and how to go on.
func (s Stage) compare(m manifest.Manifest) error {
	wanted, err := json.Marshal(s.Configuration)
	if err != nil {
		return fmt.Errorf("encoding the configuration of %s: %w", s.Name, err)
	}
	different, err := Differences(m.Configuration, wanted)
	if err != nil {
		return fmt.Errorf("reading the configuration in %s: %w", s.index(), err)
	}
	if m.Seed != s.Seed {
		different = append(different, fmt.Sprintf("seed is %d there, %d here", m.Seed, s.Seed))
	}
	if len(different) > 0 {
		return fmt.Errorf("%s was written with another configuration (%s): choose another --workspace, or %s --force replaces it", s.url(), strings.Join(different, "; "), s.command())
	}
	if stale := changed(m.Inputs, s.Inputs); stale != "" {
		return fmt.Errorf("%s was made from another %s than the one that is there now: %s --force makes it anew", s.url(), s.Workspace.Path(stale), s.command())
	}
	return nil
}

// Publish hashes every file below the folder and writes the manifest, which makes it complete.
// The rows are the counts a reader may want to check: rows["edges"] and the like.
//
// Where another run has begun the same folder meanwhile it is an error, and nothing is published.
func (s Stage) Publish(ctx context.Context, rows map[string]int64) error {
	if err := s.alone(ctx); err != nil {
		return err
	}
	configuration, err := json.Marshal(s.Configuration)
	if err != nil {
		return fmt.Errorf("encoding the configuration of %s: %w", s.Name, err)
	}
	files, err := manifest.HashFolder(ctx, s.url())
	if err != nil {
		return fmt.Errorf("hashing the files of %s: %w", s.url(), err)
	}
	files = slices.DeleteFunc(files, func(f manifest.File) bool { return f.Name == unfinished })
	m := manifest.Manifest{
		Stage: s.Name, Configuration: configuration, Seed: s.Seed, Rows: rows,
		Vocabulary: s.Vocabulary, Inputs: s.Inputs, Files: files,
	}
	if err := manifest.Write(ctx, s.url(), m); err != nil {
		return err
	}
	// It is complete: an interrupt from here on does not leave the mark. A run that has begun the
	// folder while its files were hashed may not find the manifest there; one that begins it from
	// here on removes the manifest itself.
	ctx = context.WithoutCancel(ctx)
	if err := s.alone(ctx); err != nil {
		return errors.Join(err, storage.Remove(ctx, s.index()))
	}
	return storage.Remove(ctx, s.marker())
}

// Require reads and verifies the manifest of a folder that a pipeline needs: all files are
// there with the recorded SHA-256, and the folder was made from what its own inputs are now.
// The error names the command that makes or remakes it.
func (w Workspace) Require(ctx context.Context, folder, command string) (manifest.Manifest, error) {
	url := w.Path(folder)
	m, err := manifest.Read(ctx, url)
	if errors.Is(err, fs.ErrNotExist) {
		return m, fmt.Errorf("%s is not there or not complete: run %s first", url, w.Command(command))
	}
	if err != nil {
		return m, remedied(err, w.Command(command))
	}
	if err := manifest.Verify(ctx, url, m); err != nil {
		return m, remedied(err, w.Command(command))
	}
	for _, input := range sorted(m.Inputs) {
		now, err := w.hash(ctx, input)
		if err != nil || now != m.Inputs[input] {
			return m, fmt.Errorf("%s was made from another %s than the one that is there now: %s --force makes it anew", url, w.Path(input), w.Command(command))
		}
	}
	return m, nil
}

// Inputs has the checksums of folders' manifests, for Stage.Inputs. They are Required before.
func (w Workspace) Inputs(ctx context.Context, folders ...string) (map[string]string, error) {
	inputs := map[string]string{}
	for _, folder := range folders {
		hash, err := w.hash(ctx, folder)
		if err != nil {
			return nil, err
		}
		inputs[folder] = hash
	}
	return inputs, nil
}

func (w Workspace) hash(ctx context.Context, folder string) (string, error) {
	m, err := manifest.Read(ctx, w.Path(folder))
	if err != nil {
		return "", err
	}
	return m.Checksum, nil
}

// changed names an input whose hash differs, or "".
func changed(then, now map[string]string) string {
	for _, folder := range sorted(now) {
		if then[folder] != now[folder] {
			return folder
		}
	}
	for _, folder := range sorted(then) {
		if _, ok := now[folder]; !ok {
			return folder
		}
	}
	return ""
}

func sorted(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// Differences lists the fields in which two JSON objects differ, nested ones by their path:
// "layers is 6 there, 3 here".
func Differences(there, here []byte) ([]string, error) {
	var a, b any
	if err := decode(there, &a); err != nil {
		return nil, err
	}
	if err := decode(here, &b); err != nil {
		return nil, err
	}
	var out []string
	differ("", a, b, &out)
	return out, nil
}

func decode(text []byte, into *any) error {
	if len(text) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode(into)
}

// longest is the longest value that is worth showing; a hash is not.
const longest = 40

func differ(path string, a, b any, out *[]string) {
	x, ok1 := a.(map[string]any)
	y, ok2 := b.(map[string]any)
	if ok1 && ok2 {
		keys := map[string]string{}
		for k := range x {
			keys[k] = ""
		}
		for k := range y {
			keys[k] = ""
		}
		for _, k := range sorted(keys) {
			inner := k
			if path != "" {
				inner = path + "." + k
			}
			differ(inner, x[k], y[k], out)
		}
		return
	}
	if s, t := text(a), text(b); s != t {
		if path == "" {
			path = "configuration"
		}
		if len(s) > longest || len(t) > longest {
			*out = append(*out, path+" differs")
			return
		}
		*out = append(*out, fmt.Sprintf("%s is %s there, %s here", path, s, t))
	}
}

// text is a value as JSON.
func text(v any) string {
	if v == nil {
		return "absent"
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}
