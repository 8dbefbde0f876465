package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"tagnet/formats/workspace/manifest"
)

// Mismatch is the reason why a complete folder cannot be used: it was made with another configuration
// than this run's, or from other inputs than there are now.
type Mismatch struct {
	Folder string
	// Differences lists the fields of the configuration that differ; it is empty if Input, the
	// folder of an input that has changed, is the reason.
	Differences []string
	Input       string
}

// Error says what differs.
func (m *Mismatch) Error() string {
	if m.Input != "" {
		return fmt.Sprintf("%s was made from another version of %s", m.Folder, m.Input)
	}
	return fmt.Sprintf("%s was written with another configuration (%s)", m.Folder, strings.Join(m.Differences, "; "))
}

// Unusable is the error of a folder that has a manifest but cannot be used: it is damaged, or a *Mismatch.
type Unusable struct {
	Reason error
	// Command with --force overwrites the folder.
	Command Command
}

// Error says why the folder cannot be used and which command overwrites it.
func (u *Unusable) Error() string {
	mismatch := new(Mismatch)
	switch {
	case errors.As(u.Reason, &mismatch) && len(mismatch.Differences) > 0:
		if another := u.Command.another(); another != "" {
			return fmt.Sprintf("%v: choose another --%s, or %s to overwrite it", u.Reason, another, u.Command.With("--force"))
		}
	case u.Command.Pipeline == "preprocess" && !slices.Contains(u.Command.Flags, "--dataset"): // it would take the sample
		return fmt.Sprintf("%v: %s with the same --dataset and --force overwrites it", u.Reason, u.Command)
	}
	return fmt.Sprintf("%v: %s overwrites it", u.Reason, u.Command.With("--force"))
}

// Unwrap returns the reason.
func (u *Unusable) Unwrap() error { return u.Reason }

// remedied adds the command that overwrites a damaged folder. One that cannot be read, for lack of
// permission or credentials, is not damaged.
func remedied(err error, command Command) error {
	if !errors.Is(err, manifest.ErrDamaged) && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return &Unusable{err, command}
}

// compare returns nil if a run with the output's configuration, seed and inputs wrote the manifest, else
// an *Unusable error.
func (s *Output) compare(m manifest.Manifest) error {
	different, err := Differences(m.Configuration, s.Configuration)
	if err != nil {
		return fmt.Errorf("reading the configuration in %s: %w", index(s.folderURL()), err)
	}
	if m.Seed != s.Seed {
		different = append(different, fmt.Sprintf("seed is %d there, %d here", m.Seed, s.Seed))
	}
	if len(different) > 0 {
		return &Unusable{&Mismatch{Folder: s.folderURL(), Differences: different}, s.Command}
	}
	if stale := changed(m.Inputs, s.Inputs); stale != "" {
		return &Unusable{&Mismatch{Folder: s.folderURL(), Input: s.Workspace.Path(stale)}, s.Command}
	}
	return nil
}

// changed returns the first folder whose checksum differs, also one that only one of the maps has, or "".
func changed(then, now map[string]string) string {
	for _, folder := range slices.Concat(slices.Sorted(maps.Keys(now)), slices.Sorted(maps.Keys(then))) {
		if then[folder] != now[folder] {
			return folder
		}
	}
	return ""
}
