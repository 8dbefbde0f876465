package lint

import (
	"slices"
	"strings"
	"testing"
)

// layers lists the layers from the lowest: a package imports its own layer and those before it.
var layers = []string{"formats", "model", "stages", "pipelines"}

// forbidden returns the reason why a package must not import another, or "" if it may.
func forbidden(importer, imported string) string {
	from, _, _ := strings.Cut(importer, "/")
	to, _, _ := strings.Cut(imported, "/")
	switch {
	case from == "infra":
		return ""
	case to == "infra":
		return "nothing outside of infra imports it"
	case slices.Index(layers, from) < slices.Index(layers, to):
		return "imports go pipelines -> stages -> model -> formats"
	}
	return ""
}

func TestImportsGoOneWay(t *testing.T) {
	for _, p := range packages(t) {
		if p.layer() != "infra" && !slices.Contains(layers, p.layer()) {
			t.Errorf("%s is in no layer: want one of %s or infra", p.ImportPath, strings.Join(layers, ", "))
		}
		for _, imported := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			other, ours := strings.CutPrefix(imported, module+"/")
			if !ours {
				continue
			}
			if why := forbidden(p.below(), other); why != "" {
				t.Errorf("%s imports %s: %s", p.below(), other, why)
			}
		}
	}
}

// apart lists packages, the first of which does not depend on the second, not even by another.
var apart = [][2]string{
	{"model/graph/kg", "model/study"}, {"model/graph/kg", "model/engine/kernel"}, {"model/graph/kg", "model/budget"},
	{"model/engine/inference", "model/answer/ranking"},
}

func TestPackagesStayApart(t *testing.T) {
	found := 0
	for _, p := range packages(t) {
		for _, pair := range apart {
			if p.below() != pair[0] {
				continue
			}
			found++
			if slices.Contains(p.Deps, module+"/"+pair[1]) {
				t.Errorf("%s depends on %s", pair[0], pair[1])
			}
		}
	}
	if found != len(apart) {
		t.Errorf("%d of %d pairs begin with a package of the module", found, len(apart))
	}
}

func TestForbidden(t *testing.T) {
	for _, test := range []struct {
		importer, imported string
		want               bool
	}{
		{"pipelines/train", "stages/train", false},
		{"stages/train", "pipelines/train", true},
		{"stages/encode", "model/graph", false},
		{"model/graph", "stages/encode", true},
		{"model/graph", "formats/workspace/tables", false},
		{"formats/workspace/tables", "model/graph", true},
		{"formats/workspace/tables", "formats/storage", false},
		{"pipelines/preprocess", "infra/zero", true},
		{"pipelines/tagnet", "infra/experiments", true},
		{"stages/encode", "infra/generate", true},
		{"formats/input/datasets", "infra/generate", true},
		{"infra/zero", "stages/encode", false},
	} {
		if got := forbidden(test.importer, test.imported) != ""; got != test.want {
			t.Errorf("%s imports %s: forbidden %v, want %v", test.importer, test.imported, got, test.want)
		}
	}
}

// cloudSDKs lists the import paths of clients of cloud storage.
var cloudSDKs = []string{
	"cloud.google.com/", "google.golang.org/api/", "github.com/aws/", "github.com/Azure/azure-", "github.com/minio/", "gocloud.dev/",
}

func cloudSDK(path string) bool {
	return slices.ContainsFunc(cloudSDKs, func(prefix string) bool { return strings.HasPrefix(path, prefix) })
}

// TestLayersStaySeparate checks whole dependency trees for model and formats, and direct
// imports for stages, since Beam itself depends on flag and on terminals.
func TestLayersStaySeparate(t *testing.T) {
	terminal := []string{"golang.org/x/term", "github.com/mattn/go-isatty", "github.com/charmbracelet/", "github.com/schollz/progressbar",
		"github.com/cheggaaa/pb"}
	for _, p := range packages(t) {
		layer := p.layer()
		if layer == "model" || layer == "formats" {
			for _, dep := range p.Deps {
				if strings.HasPrefix(dep, "github.com/apache/beam/") {
					t.Errorf("%s depends on %s: %s must not depend on Beam", p.below(), dep, layer)
				}
				if cloudSDK(dep) && !strings.HasPrefix(p.below(), "formats/storage/") {
					t.Errorf("%s depends on %s: only packages below formats/storage depend on cloud SDKs, and only programs import them", p.below(), dep)
				}
			}
		}
		if layer == "pipelines" || layer == "infra" {
			continue
		}
		if strings.HasSuffix(p.Name, "test") {
			continue // serves tests, which may have flags
		}
		for _, imported := range p.Imports {
			if imported == "flag" {
				t.Errorf("%s imports flag: only pipelines have flags", p.below())
			}
			if slices.ContainsFunc(terminal, func(prefix string) bool { return strings.HasPrefix(imported, prefix) }) {
				t.Errorf("%s imports %s: only pipelines use terminals", p.below(), imported)
			}
		}
	}
}

// TestTheWorkerHasEveryStage fails where a new stage is not imported: its transforms would be unknown on a cluster.
func TestTheWorkerHasEveryStage(t *testing.T) {
	all := packages(t)
	worker := slices.IndexFunc(all, func(p goPackage) bool { return p.below() == "infra/worker" })
	if worker < 0 {
		t.Fatal("there is no infra/worker")
	}
	for _, p := range all {
		if p.layer() == "stages" && !strings.HasSuffix(p.Name, "test") && !slices.Contains(all[worker].Deps, p.ImportPath) {
			t.Errorf("%s is not part of the worker; import it in its main.go", p.below())
		}
	}
}

// TestOnlyProgramsImportTheGPU holds that what computes knows the interfaces that package gpu implements, not the
// package: programs register it.
func TestOnlyProgramsImportTheGPU(t *testing.T) {
	registered := 0
	for _, p := range packages(t) {
		program := p.layer() == "pipelines" || p.layer() == "infra"
		if below(p.below(), gpu) || strings.HasSuffix(p.Name, "test") {
			continue // serves tests
		}
		for _, imported := range p.Imports {
			if !below(strings.TrimPrefix(imported, module+"/"), gpu) {
				continue
			}
			if registered++; !program {
				t.Errorf("%s imports %s: only programs and tests do", p.below(), imported)
			}
		}
	}
	if registered == 0 {
		t.Errorf("no program imports %s", gpu)
	}
}

// below reports whether a path is a folder or below it.
func below(path, folder string) bool { return path == folder || strings.HasPrefix(path, folder+"/") }

// gpu is the package that computes on GPUs.
const gpu = "model/gpu"

// TestTheInterpreterTestsTheGPU holds that no program links the interpreter of PTX, and that tests above package gpu
// take imaginary devices, which need no kernels: those of package learntest.
func TestTheInterpreterTestsTheGPU(t *testing.T) {
	found := false
	for _, p := range packages(t) {
		found = found || p.below() == interpreter
		if p.Name == "main" && slices.Contains(p.Deps, module+"/"+interpreter) {
			t.Errorf("%s depends on %s, which is for tests", p.below(), interpreter)
		}
		tests := slices.Concat(p.Imports, p.TestImports, p.XTestImports)
		if slices.Contains(tests, module+"/"+interpreter) && !below(p.below(), gpu) && p.below() != "infra/gpu" {
			t.Errorf("%s imports %s: tests of what calls a device take learntest.NewMachine", p.below(), interpreter)
		}
	}
	if !found {
		t.Errorf("there is no package %s", interpreter)
	}
}

// interpreter is the package of the interpreter of PTX.
const interpreter = gpu + "/interpreter"

// driverUsers are the programs that load the CUDA driver at run time.
var driverUsers = []string{
	"pipelines/train", "pipelines/score", "pipelines/ask", "pipelines/discover", "pipelines/serve", "pipelines/quickstart", "pipelines/playground",
	"pipelines/tagnet", "infra/gpu",
}

// TestDriversAreLinkedWhereNeeded holds that purego, which makes a program dynamic, is not part of the others.
func TestDriversAreLinkedWhereNeeded(t *testing.T) {
	found := 0
	for _, p := range packages(t) {
		if p.Name != "main" || !slices.Contains(p.Deps, "github.com/ebitengine/purego") {
			continue
		}
		if found++; !slices.Contains(driverUsers, p.below()) {
			t.Errorf("%s depends on purego: only %s do", p.below(), strings.Join(driverUsers, ", "))
		}
	}
	if found != len(driverUsers) {
		t.Errorf("%d programs depend on purego, want %d", found, len(driverUsers))
	}
}
