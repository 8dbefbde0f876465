package configuration

import (
	"embed"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
)

// ownFiles holds the preset files that searches of this project found, and a README.
//
//go:embed presets
var ownFiles embed.FS

// own holds the presets of a folder: the name of a preset is the name of its file without the extension. A preset may be based on one of
// the authors' presets, but not on another preset of the folder.
type own struct {
	byName map[string]Configuration
	names  []string // in alphabetical order
}

// OwnPresetNames returns the names of the presets that were found by searches of this project.
func OwnPresetNames() []string { return slices.Clone(ownPresets().names) }

var ownPresets = sync.OnceValue(func() own {
	o, err := readOwn(ownFiles)
	if err != nil {
		panic(err) // the files are part of the program, and tested
	}
	return o
})

// readOwn reads the folder presets.
func readOwn(files fs.FS) (own, error) {
	o := own{byName: map[string]Configuration{}}
	found, err := fs.Glob(files, "presets/*.json") // sorted
	if err != nil {
		return o, err
	}
	for _, file := range found {
		text, err := fs.ReadFile(files, file)
		if err != nil {
			return o, err
		}
		name := strings.TrimSuffix(path.Base(file), ".json")
		o.byName[name], err = parsePreset(file, text, func(base string) (Configuration, error) {
			if c, ok := authorsPreset(base); ok {
				return c, nil
			}
			return Configuration{}, unknownPreset(base, AuthorsPresetNames())
		})
		if err != nil {
			return o, err
		}
		o.names = append(o.names, name)
	}
	return o, nil
}
