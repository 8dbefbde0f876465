package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"tagnet/formats/names"
	"tagnet/formats/remedy"
	"tagnet/model/accelerator"
	"tagnet/model/engine/kernel"
)

// release is the version of a release, which the linker sets: go build -ldflags='-X main.release=v1.2.3'.
var release string

// info is the output of the command.
type info struct {
	// Version is the release, else the module's version, else devel.
	Version string `json:"version"`
	// Commit is the revision that the program was built from, with +dirty if files had changed; empty where the build
	// does not know it.
	Commit string `json:"commit"`
	// Go is the version of Go, and Platform the operating system and the architecture.
	Go       string `json:"go"`
	Platform string `json:"platform"`
	// Kernel is the variant of the kernels that is used without --kernel, or why there is none, and Kernels are the
	// ones that this processor has.
	Kernel  string   `json:"kernel"`
	Kernels []string `json:"kernels"`
	// Devices are the values that --device takes here, and NoDevice says why there is none.
	Devices  []string     `json:"devices"`
	NoDevice string       `json:"no_device,omitempty"`
	Formats  []fileFormat `json:"formats"`
}

// versionFlags returns the flags of the command.
func versionFlags() *flag.FlagSet { return newVersionFlags(new(bool)) }

// newVersionFlags returns the flags, of which --json sets asJSON.
func newVersionFlags(asJSON *bool) *flag.FlagSet {
	set := flag.NewFlagSet("version", flag.ContinueOnError)
	set.BoolVar(asJSON, "json", false, "print a JSON object")
	return set
}

const versionDoes = `Prints the version of this program, what it computes with on this machine, and the versions of the files that it writes.

usage: %s [flags]

  --json    print a JSON object
`

// runVersion runs the command, which the words start, with arguments.
func runVersion(words string, arguments []string, out io.Writer) error {
	var asJSON bool
	set := newVersionFlags(&asJSON)
	set.SetOutput(io.Discard)
	set.Usage = func() {}
	switch err := set.Parse(arguments); {
	case errors.Is(err, flag.ErrHelp):
		_, err := fmt.Fprintf(out, versionDoes, words)
		return err
	case err != nil:
		return &versionUsageError{fmt.Sprintf("%v; want %s [--json]", err, words)}
	case set.NArg() > 0:
		return &versionUsageError{fmt.Sprintf("unexpected argument %q; want %s [--json]", set.Arg(0), words)}
	}
	i := readInfo()
	if asJSON {
		text, err := json.MarshalIndent(i, "", "  ")
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(out, string(text))
		return err
	}
	_, err := io.WriteString(out, i.String())
	return err
}

// versionUsageError is a mistake in the arguments.
type versionUsageError struct{ text string }

// Error returns the text.
func (e *versionUsageError) Error() string { return e.text }

// readInfo returns the version of this program, and what it can compute on here.
func readInfo() info {
	build, _ := debug.ReadBuildInfo()
	i := info{Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Formats: formats(), Kernels: []string{}, Devices: []string{}}
	i.Version, i.Commit = built(release, build)
	for _, k := range kernel.Available() {
		i.Kernels = append(i.Kernels, k.Name())
	}
	if k, err := kernel.Named(""); err == nil {
		i.Kernel = k.Name()
	} else {
		i.Kernel = "none: " + err.Error()
	}
	i.Devices, i.NoDevice = devices(accelerator.Process)
	return i
}

// built returns the version and the commit of a build, whose information may be nil.
func built(release string, build *debug.BuildInfo) (version, commit string) {
	if build == nil {
		return cmp.Or(release, "devel"), ""
	}
	settings := map[string]string{}
	for _, s := range build.Settings {
		settings[s.Key] = s.Value
	}
	commit = settings["vcs.revision"]
	if commit != "" && settings["vcs.modified"] == "true" {
		commit += "+dirty"
	}
	module := build.Main.Version
	if module == "(devel)" {
		module = ""
	}
	return cmp.Or(release, module, commit, "devel"), commit
}

// devices returns the devices of a machine, and why there is none.
func devices(found accelerator.Devices) (list []string, none string) {
	list = []string{}
	for {
		a, err := found.Open(len(list))
		if err != nil {
			if len(list) == 0 {
				none = remedy.Without(err)
			}
			return list, none
		}
		list = append(list, a.String())
		_ = a.Close() // nothing was computed on it
	}
}

// String returns the lines for a person.
func (i info) String() string {
	found := strings.Join(i.Devices, ", ")
	if found == "" {
		found = "none: " + i.NoDevice
	}
	var written []string
	for _, f := range i.Formats {
		written = append(written, f.Name+" "+f.Version)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "tagnet %s\n", i.Version)
	for _, line := range [][2]string{
		{"commit", cmp.Or(i.Commit, "unknown: built outside of a repository, or with -buildvcs=false")},
		{"Go", i.Go},
		{"platform", i.Platform},
		{"kernel", i.Kernel + ", of " + strings.Join(i.Kernels, ", ")},
		{"devices", found},
		{"formats", strings.Join(written, ", ")},
	} {
		fmt.Fprintf(&text, "  %-9s %s\n", line[0], names.Escape(line[1]))
	}
	return text.String()
}
