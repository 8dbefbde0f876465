package benchmark

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"tagnet/formats/storage"
	"tagnet/formats/storage/check"
	"tagnet/formats/strict"
	"tagnet/formats/workspace/results"
)

// FormatVersion is the version of the files of results.
const FormatVersion = 1

// Result has the measured time and memory of an entry.
type Result struct {
	FormatVersion int `json:"format_version"`
	Entry
	// Seconds is the elapsed time, CPUSeconds the processor time in user and system mode, PeakMiB the peak resident memory.
	Seconds    float64 `json:"seconds"`
	CPUSeconds float64 `json:"cpu_seconds"`
	PeakMiB    float64 `json:"peak_mib"`
	// Load is the mean number of processes that wanted to run in the minute before, and Kernel the default variant of the kernels.
	Load   float64 `json:"load"`
	Kernel string  `json:"kernel"`
	// Printed is the last line that the command printed, if the entry asks for it.
	Printed string `json:"printed,omitempty"`
	// Commit is that of the program, Modified reports changes beside it, and Machine is where it ran.
	Commit   string          `json:"commit,omitempty"`
	Modified bool            `json:"modified"`
	Machine  results.Machine `json:"machine"`
}

// ReadResult reads the result of an entry below the folder of the list. It is nil if there is none, or one of other commands than the
// entry has now.
func ReadResult(ctx context.Context, folder string, e Entry) (*Result, error) {
	path := file(folder, e)
	text, err := storage.ReadFile(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var r Result
	if err := strict.Decode(path, text, &r); err != nil {
		return nil, err
	}
	if r.FormatVersion != FormatVersion {
		return nil, fmt.Errorf("%s:1: format_version is %d, want %d", path, r.FormatVersion, FormatVersion)
	}
	if err := check.First(check.AtLeastZero("seconds", r.Seconds), check.AtLeastZero("cpu_seconds", r.CPUSeconds), check.AtLeastZero("peak_mib", r.PeakMiB), check.AtLeastZero("load", r.Load)); err != nil {
		return nil, fmt.Errorf("%s:1: %w", path, err)
	}
	if r.Measure != e.Measure || r.Count != e.Count || !slices.Equal(r.Prepare, e.Prepare) {
		return nil, nil
	}
	r.Entry = e // what is said to readers may have changed
	return &r, nil
}

func file(folder string, e Entry) string {
	return filepath.Join(folder, ResultsFolder, e.Name+".json")
}
