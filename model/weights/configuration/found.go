package configuration

import (
	"embed"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
)

// foundFiles holds the preset files that searches of this project found, and a README.
//
//go:embed presets
var foundFiles embed.FS

// foundPresets holds the presets of a folder: the name of a preset is the name of its file without the extension. A
// preset may be based on one of the authors' presets, but not on another preset of the folder.
type foundPresets struct {
	byName map[string]Configuration
	names  []string // in alphabetical order
}

// FoundPresetNames returns the names of the presets that were found by searches of this project.
func FoundPresetNames() []string { return slices.Clone(allFound().names) }

var allFound = sync.OnceValue(func() foundPresets {
	o, err := readFound(foundFiles)
	if err != nil {
		panic(err) // the files are part of the program, and tested
	}
	return o
})

// readFound reads the folder presets.
func readFound(files fs.FS) (foundPresets, error) {
	o := foundPresets{byName: map[string]Configuration{}}
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
