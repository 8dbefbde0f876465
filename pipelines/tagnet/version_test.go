package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/model/engine/device"
	"tagnet/model/engine/kernel"
	"tagnet/model/gpu"
	"tagnet/model/learn/learntest"
	"tagnet/pipelines/internal/pipelinetest"
)

func TestBuilt(t *testing.T) {
	t.Parallel()
	stamped := func(module, revision, modified string) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Version: module},
			Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: revision}, {Key: "vcs.modified", Value: modified}}}
	}
	for name, test := range map[string]struct {
		release         string
		build           *debug.BuildInfo
		version, commit string
	}{
		"a release":      {"v1.2.3", stamped("v0.0.0-2026", "abc", "false"), "v1.2.3", "abc"},
		"a module":       {"", stamped("v1.0.0", "", ""), "v1.0.0", ""},
		"a repository":   {"", stamped("(devel)", "abc", "false"), "abc", "abc"},
		"changed files":  {"", stamped("(devel)", "abc", "true"), "abc+dirty", "abc+dirty"},
		"go run":         {"", stamped("(devel)", "", ""), "devel", ""},
		"no information": {"", nil, "devel", ""},
		"only a release": {"v1.2.3", nil, "v1.2.3", ""},
	} {
		version, commit := built(test.release, test.build)
		if version != test.version || commit != test.commit {
			t.Errorf("%s: %q, %q, want %q, %q", name, version, commit, test.version, test.commit)
		}
	}
}

func TestDevices(t *testing.T) {
	t.Parallel()
	if list, none := devices(learntest.NewMachine(2, nil)); len(list) != 2 || !strings.HasPrefix(list[1], "cuda:1 (") || none != "" {
		t.Errorf("%q, %q", list, none)
	}
	old := gpu.Driver(func(int) (device.Device, error) { return nil, fmt.Errorf("opening: %w", device.ErrOldDriver) })
	if list, none := devices(old); len(list) != 0 || none != "opening: the CUDA driver is too old" {
		t.Errorf("%q, %q", list, none)
	}
}

func TestRun(t *testing.T) {
	t.Setenv("TAGNET_KERNEL", "portable")
	var text, object strings.Builder
	if err := errors.Join(runVersion("tagnet version", nil, &text), runVersion("tagnet version", []string{"--json"}, &object)); err != nil {
		t.Fatal(err)
	}
	var i info
	if err := json.Unmarshal([]byte(object.String()), &i); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(readInfo(), i); diff != "" {
		t.Errorf("the object lacks (-want +got):\n%s", diff)
	}
	available := kernel.Available()
	if i.Kernel != "portable" || len(i.Kernels) != len(available) || !slices.Contains(i.Kernels, available[len(available)-1].Name()) {
		t.Errorf("kernel %q of %q", i.Kernel, i.Kernels)
	}
	for _, want := range []string{"tagnet " + i.Version, i.Go, i.Platform, "portable, of portable", "none: ", "parquet predictions 3"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	for _, arguments := range [][]string{{"--yaml"}, {"more"}} {
		if err := runVersion("tagnet version", arguments, &text); !errors.As(err, new(*versionUsageError)) ||
			!strings.Contains(err.Error(), "want tagnet version [--json]") {
			t.Errorf("%q: %v", arguments, err)
		}
	}
}

// row matches a row of the table of versions in formats/README.md: the format and its version.
var row = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (\\S+) \\|")

// TestTheTableHasEveryVersion compares the table in formats/README.md with the constants of the packages
// that write the files.
func TestTheTableHasEveryVersion(t *testing.T) {
	t.Parallel()
	_, text, found := strings.Cut(pipelinetest.Read(t, "..", "..", "formats", "README.md"), "## Versions\n")
	if !found {
		t.Fatal("formats/README.md has no heading Versions")
	}
	text, _, _ = strings.Cut(text, "\n## ")
	var got []fileFormat
	for _, cells := range row.FindAllStringSubmatch(text, -1) {
		got = append(got, fileFormat{cells[1], cells[2]})
	}
	if diff := cmp.Diff(formats(), got); diff != "" {
		t.Errorf("the table of formats/README.md (-constants +table):\n%s", diff)
	}
}
