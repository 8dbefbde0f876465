//go:build linux && (amd64 || arm64) && !nocuda

package cuda

import (
	"bytes"
	"fmt"
	"math"
	"runtime"
	"strings"
	"unsafe"

	"tagnet/formats/remedy"
	"tagnet/model/engine/device"
)

// Options of cuModuleLoadDataEx (CUjit_option).
const (
	errorLogBuffer     = 5
	errorLogBufferSize = 6
)

// Limits of a launch: CUDA's, but for the number of arguments.
const (
	maximalThreads   = 1024
	maximalBlocks    = math.MaxInt32
	maximalArguments = 64
)

// Positions of cuLaunchKernel's arguments. The rest, shared memory and other ways to pass parameters, is 0.
const (
	launchFunction   = 0
	gridX            = 1
	gridY            = 2
	gridZ            = 3
	blockX           = 4
	blockY           = 5
	blockZ           = 6
	launchStream     = 8
	launchParameters = 9
)

// oldest is the first version of the driver that loads PTX 8.4, as the kernels are.
const oldest = 12040

type kernel struct {
	name     string
	function uintptr
	// sizes holds the bytes of each parameter; nil if the driver does not say.
	sizes []uintptr
}

// parameters is the memory that the driver reads a launch's arguments from: their addresses, and at these the
// arguments. Its memory must not move.
type parameters struct {
	values    [maximalArguments]uint64
	addresses [maximalArguments]uintptr
}

func (p *parameters) initialize() {
	for i := range p.values {
		p.addresses[i] = uintptr(unsafe.Pointer(&p.values[i]))
	}
}

// Load has the driver compile PTX and returns the kernels with the given names; a second time it returns the same ones.
// The error wraps device.ErrOldDriver if the driver does not know the version of the PTX, and device.ErrRefused with
// the first line of the compiler's log otherwise.
func (g *gpu) Load(ptx string, names ...string) ([]device.Kernel, error) {
	if err := g.usable(); err != nil {
		return nil, err
	}
	key := strings.Join(names, " ") + "\n" + ptx
	if kernels, ok := g.loaded[key]; ok {
		return kernels, nil
	}
	module, err := g.compile(ptx)
	if err != nil {
		return nil, err
	}
	loaded := make([]kernel, len(names))
	for i, name := range names {
		if loaded[i], err = g.find(module, name); err != nil {
			g.call(g.driver.moduleUnload, module)
			return nil, err
		}
	}
	g.modules = append(g.modules, module)
	kernels := make([]device.Kernel, len(names))
	for i, k := range loaded {
		g.kernels = append(g.kernels, k)
		kernels[i] = device.Kernel(len(g.kernels)) // from 1: 0 is no kernel
	}
	g.loaded[key] = kernels
	return kernels, nil
}

// compile loads a module of PTX.
func (g *gpu) compile(ptx string) (module uintptr, err error) {
	image, log := append([]byte(ptx), 0), make([]byte, 8<<10)
	options := [2]int32{errorLogBuffer, errorLogBufferSize}
	var pinner runtime.Pinner
	defer pinner.Unpin()
	pinner.Pin(&log[0])
	values := [2]uintptr{uintptr(unsafe.Pointer(&log[0])), uintptr(len(log))}
	r := g.call(g.driver.moduleLoad, uintptr(unsafe.Pointer(&module)), uintptr(unsafe.Pointer(&image[0])),
		uintptr(len(options)), uintptr(unsafe.Pointer(&options)), uintptr(unsafe.Pointer(&values)))
	switch {
	case r == success:
		return module, nil
	case r == unsupportedPTXVersion, r == invalidPTX && g.driverVersion < oldest: // old drivers return either
		return 0, remedy.Errorf(update, "loading kernels on CUDA device %d: %w: it is for CUDA %s and returned %s",
			g.properties.Ordinal, device.ErrOldDriver, g.properties.Driver, g.driver.describe(r))
	case r == outOfMemory, r.lost():
		return 0, g.fail("loading kernels on", r)
	}
	text, _, _ := bytes.Cut(log, []byte{0})
	line, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	if line = strings.TrimSpace(line); line == "" {
		line = "the driver gave no reason"
	}
	return 0, remedy.Errorf(device.UseCPU, "loading kernels on CUDA device %d (%s): %w: %s: %s",
		g.properties.Ordinal, g.properties.Name, device.ErrRefused, g.driver.describe(r), line)
}

func (g *gpu) find(module uintptr, name string) (kernel, error) {
	k, text := kernel{name: name}, append([]byte(name), 0)
	switch r := g.call(g.driver.function, uintptr(unsafe.Pointer(&k.function)), module, uintptr(unsafe.Pointer(&text[0]))); r {
	case success:
	case notFound:
		return k, fmt.Errorf("loading kernels on CUDA device %d: %w: the PTX has no kernel %s", g.properties.Ordinal, device.ErrRefused, name)
	default:
		return k, g.fail("loading kernel "+name+" on", r)
	}
	for g.driver.parameterInfo != 0 {
		var offset, size uintptr
		if g.call(g.driver.parameterInfo, k.function, uintptr(len(k.sizes)), uintptr(unsafe.Pointer(&offset)), uintptr(unsafe.Pointer(&size))) != success {
			break // no further parameter
		}
		k.sizes = append(k.sizes, size)
	}
	return k, nil
}

// Launch starts a kernel and returns before it ends. With 0 blocks it does nothing. The driver copies the arguments
// before it returns.
func (g *gpu) Launch(k device.Kernel, blocks, threads int, arguments ...any) error {
	if err := g.usable(); err != nil || blocks == 0 {
		return err
	}
	if k == 0 || int(k) > len(g.kernels) {
		return fmt.Errorf("launching on CUDA device %d: %d is not a loaded kernel", g.properties.Ordinal, k)
	}
	kernel := &g.kernels[k-1]
	if blocks < 0 || blocks > maximalBlocks || threads < 1 || threads > maximalThreads {
		return fmt.Errorf("launching %s on CUDA device %d: %d blocks of %d threads are out of range: blocks are 0 to %d, threads 1 to %d",
			kernel.name, g.properties.Ordinal, blocks, threads, maximalBlocks, maximalThreads)
	}
	if err := g.set(kernel, arguments); err != nil {
		return err
	}
	g.launch[launchFunction], g.launch[gridX], g.launch[blockX] = kernel.function, uintptr(blocks), uintptr(threads)
	if r := g.call(g.driver.launch, g.launch[:]...); r != success {
		return g.fail("launching "+kernel.name+" on", r)
	}
	return nil
}

// set writes the arguments of a launch to the memory that the driver reads.
func (g *gpu) set(k *kernel, arguments []any) error {
	if n := len(k.sizes); n > 0 && n != len(arguments) {
		return fmt.Errorf("launching %s on CUDA device %d: %d arguments, the kernel has %d parameters", k.name, g.properties.Ordinal, len(arguments), n)
	}
	if len(arguments) > maximalArguments {
		return fmt.Errorf("launching %s on CUDA device %d: %d arguments, %d are possible", k.name, g.properties.Ordinal, len(arguments), maximalArguments)
	}
	// Where the driver tells the kernel's parameters, each argument must have its size.
	for i, argument := range arguments {
		value, size := uint64(0), uintptr(4)
		switch a := argument.(type) {
		case int32:
			value = uint64(uint32(a))
		case uint32:
			value = uint64(a)
		case float32:
			value = uint64(math.Float32bits(a))
		case uint64:
			value, size = a, 8
		case device.Pointer:
			value, size = uint64(a), 8
		default:
			return fmt.Errorf("launching %s on CUDA device %d: argument %d is of type %T, not int32, uint32, uint64, float32 or device.Pointer",
				k.name, g.properties.Ordinal, i, argument)
		}
		if len(k.sizes) > 0 && k.sizes[i] != size {
			return fmt.Errorf("launching %s on CUDA device %d: argument %d is of type %T, %d bytes, the kernel's parameter has %d",
				k.name, g.properties.Ordinal, i, argument, size, k.sizes[i])
		}
		g.parameters.values[i] = value // of 4 bytes the driver reads the low ones: both architectures are little-endian
	}
	return nil
}
