package configuration

import (
	"embed"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
)

// foundFiles holds the preset files that searches of this project found, and a README.
//
//go:embed presets
var foundFiles embed.FS

// FoundPresetNames returns the names of the presets that were found by searches of this project, in alphabetical order.
func FoundPresetNames() []string { return slices.Sorted(maps.Keys(allFound())) }

var allFound = sync.OnceValue(func() map[string]Configuration {
	found, err := readFound(foundFiles)
	if err != nil {
		panic(err) // the files are part of the program, and tested
	}
	return found
})

// readFound reads the folder presets: a preset has the name of its file without the extension. It may be based on one
// of the authors' presets, but not on another preset of the folder.
func readFound(files fs.FS) (map[string]Configuration, error) {
	byName := map[string]Configuration{}
	found, err := fs.Glob(files, "presets/*.json")
	if err != nil {
		return nil, err
	}
	for _, file := range found {
		text, err := fs.ReadFile(files, file)
		if err != nil {
			return nil, err
		}
		name := strings.TrimSuffix(path.Base(file), ".json")
		byName[name], err = parsePreset(file, text, func(base string) (Configuration, error) {
			if c, ok := authorsPreset(base); ok {
				return c, nil
			}
			return Configuration{}, unknownPreset(base, AuthorsPresetNames())
		})
		if err != nil {
			return nil, err
		}
	}
	return byName, nil
}
