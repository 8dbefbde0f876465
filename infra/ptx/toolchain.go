package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// wheel is a Python package of binaries, pinned by its checksum.
type wheel struct{ project, version, sha256 string }

// wheels lists those with the compiler (libnvrtc.so.12) and the assembler (ptxas). CUDA 12.4 writes PTX 8.4, so newer
// wheels would exclude drivers that load it.
var wheels = []wheel{
	{"nvidia-cuda-nvrtc-cu12", "12.4.127", "a178759ebb095827bd30ef56598ec182b85547f1508941a3d560eb7ea1fbf338"},
	{"nvidia-cuda-nvcc-cu12", "12.4.131", "e4c9a35435c3b0e36c6397c5696334c9ea6650e524736cbd1c5d345ea099bb04"},
}

// toolchain holds the paths of NVIDIA's compiler and assembler.
type toolchain struct{ nvrtc, ptxas string }

// within returns the toolchain in the folder "nvidia" of unpacked wheels.
func within(folder string) (toolchain, error) {
	t := toolchain{
		nvrtc: filepath.Join(folder, "cuda_nvrtc", "lib", "libnvrtc.so.12"),
		ptxas: filepath.Join(folder, "cuda_nvcc", "bin", "ptxas"),
	}
	for _, path := range []string{t.nvrtc, t.ptxas} {
		if _, err := os.Stat(path); err != nil {
			return toolchain{}, fmt.Errorf("reading the toolchain: %w", err)
		}
	}
	return t, nil
}

// locate returns the toolchain of a folder, or, if none is named, the downloaded one in the user's cache.
func locate(ctx context.Context, folder string, diagnostics io.Writer) (toolchain, error) {
	if folder != "" {
		return within(folder)
	}
	caches, err := os.UserCacheDir()
	if err != nil {
		return toolchain{}, fmt.Errorf("finding a folder for the toolchain: %w; name an unpacked one with --toolchain", err)
	}
	return obtain(ctx, filepath.Join(caches, "tagnet"), wheels, pip, diagnostics)
}

// installFunc downloads wheels, verifies their checksums and unpacks them into a folder.
type installFunc func(ctx context.Context, wheels []wheel, folder string) error

// obtain returns the toolchain of wheels that were unpacked below a folder, which it downloads if it is the first time.
// They are unpacked beside their final place and renamed, so that a folder with their name is complete.
func obtain(ctx context.Context, caches string, wheels []wheel, install installFunc, diagnostics io.Writer) (toolchain, error) {
	name := "cuda"
	for _, w := range wheels {
		name += "-" + w.version
	}
	final := filepath.Join(caches, name)
	if t, err := within(filepath.Join(final, "nvidia")); err == nil {
		return t, nil
	}
	if err := os.MkdirAll(caches, 0o755); err != nil {
		return toolchain{}, fmt.Errorf("making a folder for the toolchain: %w", err)
	}
	working, err := os.MkdirTemp(caches, name+"-*")
	if err != nil {
		return toolchain{}, fmt.Errorf("making a folder for the toolchain: %w", err)
	}
	defer os.RemoveAll(working)
	for _, w := range wheels {
		fmt.Fprintf(diagnostics, "downloading %s %s\n", w.project, w.version)
	}
	unpacked := filepath.Join(working, "unpacked")
	if err := install(ctx, wheels, unpacked); err != nil {
		return toolchain{}, err
	}
	// A folder that exists by now is that of another process, which is as good, unless files were deleted from it.
	if err := os.Rename(unpacked, final); err != nil && !errors.Is(err, os.ErrExist) {
		return toolchain{}, fmt.Errorf("keeping the toolchain: %w", err)
	}
	t, err := within(filepath.Join(final, "nvidia"))
	if err != nil {
		return toolchain{}, fmt.Errorf("%w; remove %s and run again", err, final)
	}
	fmt.Fprintf(diagnostics, "keeping the toolchain in %s\n", final)
	return t, nil
}

// pip installs wheels with Python's package installer, from the index that it is configured for. It refuses files with
// another checksum.
func pip(ctx context.Context, wheels []wheel, folder string) error {
	const otherwise = "or name an unpacked toolchain with --toolchain"
	if _, err := exec.LookPath("python3"); err != nil {
		return fmt.Errorf("downloading the toolchain: python3 was not found; install Python with pip, %s", otherwise)
	}
	if err := exec.CommandContext(ctx, "python3", "-m", "pip", "--version").Run(); err != nil {
		return fmt.Errorf("downloading the toolchain: python3 has no pip; install it (python3 -m ensurepip, or the package python3-pip), %s", otherwise)
	}
	command := exec.CommandContext(ctx, "python3", "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check", "--no-compile",
		"--no-deps", "--only-binary=:all:", "--platform=manylinux2014_x86_64", "--require-hashes", "--target="+folder, "--requirement=/dev/stdin")
	command.Stdin = strings.NewReader(requirements(wheels))
	if text, err := command.CombinedOutput(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("downloading the toolchain: pip install failed (%s); check that pip reaches its package index, %s", strings.Join(strings.Fields(string(text)), " "), otherwise)
	}
	return nil
}

// requirements returns the wheels as lines of a requirements file.
func requirements(wheels []wheel) string {
	var lines strings.Builder
	for _, w := range wheels {
		fmt.Fprintf(&lines, "%s==%s --hash=sha256:%s\n", w.project, w.version, w.sha256)
	}
	return lines.String()
}
