package configuration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"tagnet/formats/storage"
	"tagnet/formats/strict"
)

// presetFile is the content of a preset file. Hyperparameters that are not in it come from another preset,
// or from the default.
type presetFile struct {
	// Preset is the name of that preset, empty for the default.
	Preset string `json:"preset"`
	Configuration
	// Provenance names the source of the values, for people: any JSON.
	Provenance json.RawMessage `json:"provenance"`
}

// IsPresetFile reports whether a preset is given as a file rather than by its name: it ends in .json or
// has a path separator.
func IsPresetFile(preset string) bool {
	return strings.HasSuffix(preset, ".json") || strings.ContainsAny(preset, `/\`)
}

// OpenPreset returns the configuration of a preset, by its name or as a local file or URL.
func OpenPreset(ctx context.Context, preset string) (Configuration, error) {
	if !IsPresetFile(preset) {
		return Preset(preset)
	}
	text, err := storage.ReadText(ctx, preset)
	if err != nil {
		return Configuration{}, fmt.Errorf("reading the preset %s: %w", preset, err)
	}
	return ParsePreset(preset, text)
}

// ParsePreset returns the configuration of a preset file. Errors begin with the place of the mistake, file:line:column.
func ParsePreset(file string, text []byte) (Configuration, error) {
	return parsePreset(file, text, Preset)
}

// parsePreset reads a preset file, which changes one of the presets that preset returns.
func parsePreset(file string, text []byte, preset func(name string) (Configuration, error)) (Configuration, error) {
	var p presetFile
	if err := strict.Decode(file, text, &p); err != nil {
		return Configuration{}, err
	}
	base := Default()
	if p.Preset != "" {
		var err error
		if base, err = preset(p.Preset); err != nil {
			return Configuration{}, strict.Mistake(file, text, err.Error(), "preset")
		}
	}
	p.Configuration = base
	if err := strict.Decode(file, text, &p); err != nil {
		return Configuration{}, err
	}
	var mistakes []error
	p.Configuration = p.Normalized()
	for _, v := range p.Violations() {
		mistakes = append(mistakes, strict.Mistake(file, text, v.Error(), v.Field))
	}
	return p.Configuration, errors.Join(mistakes...)
}
