//go:build linux && (amd64 || arm64) && !nocuda

package cuda

import (
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"
)

//go:embed testdata/fake.c
var fakeSource []byte

// fakes holds the library of testdata/fake.c by the macros that it was built with; empty without a C compiler.
var fakes = map[string][]byte{}

func TestMain(m *testing.M) {
	if err := build(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// build compiles the variants of the fake library. Without a C compiler it does nothing.
func build() error {
	compiler, err := exec.LookPath("gcc")
	if err != nil {
		if compiler, err = exec.LookPath("cc"); err != nil {
			return nil
		}
	}
	folder, err := os.MkdirTemp("", "fake")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	source := filepath.Join(folder, "fake.c")
	if err := os.WriteFile(source, fakeSource, 0o600); err != nil {
		return err
	}
	for _, macro := range []string{"COMPLETE", "NO_PARAMETERS", "NO_WAIT"} {
		path := filepath.Join(folder, macro+".so")
		if out, err := exec.Command(compiler, "-O1", "-Wall", "-Werror", "-shared", "-fPIC", "-D"+macro, "-o", path, source).CombinedOutput(); err != nil {
			return fmt.Errorf("compiling testdata/fake.c: %w\n%s", err, out)
		}
		if fakes[macro], err = os.ReadFile(path); err != nil {
			return err
		}
	}
	return nil
}

// fake is a driver's library of a test's own, with its own state.
type fake struct {
	path   string
	handle uintptr
}

func newFake(t testing.TB) fake { return newVariant(t, "COMPLETE") }

func newVariant(t testing.TB, macro string) fake {
	t.Helper()
	library, found := fakes[macro]
	if !found {
		if os.Getenv("TAGNET_GCC") != "" {
			t.Fatal("no C compiler (gcc or cc) for the fake CUDA driver: install gcc")
		}
		t.Skip("needs a C compiler (gcc or cc) for the fake CUDA driver")
	}
	f := fake{path: filepath.Join(t.TempDir(), "libcuda.so.1")}
	if err := os.WriteFile(f.path, library, 0o700); err != nil {
		t.Fatal(err)
	}
	var err error
	if f.handle, err = purego.Dlopen(f.path, purego.RTLD_NOW|purego.RTLD_LOCAL); err != nil {
		t.Fatal(err)
	}
	return f
}

// open opens device 0 of the library and closes it after the test.
func (f fake) open(t testing.TB) *gpu {
	t.Helper()
	g, err := open(f.path, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g
}

// control calls a control function of the library.
//
//go:uintptrescapes
func (f fake) control(name string, arguments ...uintptr) int {
	at, err := purego.Dlsym(f.handle, "fake_"+name)
	if err != nil {
		panic(err)
	}
	r, _, _ := purego.SyscallN(at, arguments...)
	return int(r)
}

// fail makes a function of the driver fail at its nth call from now on.
func (f fake) fail(function string, nth int, code result) {
	name := append([]byte(function), 0)
	f.control("fail", uintptr(unsafe.Pointer(&name[0])), uintptr(nth), uintptr(code))
}

// calls returns the number of calls of a function of the driver, or of all for "".
func (f fake) calls(function string) int {
	name := append([]byte(function), 0)
	return f.control("calls", uintptr(unsafe.Pointer(&name[0])))
}
