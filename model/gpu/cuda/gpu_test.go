//go:build linux && (amd64 || arm64) && !nocuda

package cuda

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tagnet/model/engine/device"
)

var _ device.Device = (*gpu)(nil)

// source is PTX for the fake library, which reads only the parameters, and for a GPU.
const source = `.version 8.4
.target sm_80
.address_size 64
.visible .entry scale(
	.param .u64 scale_param_0,
	.param .u32 scale_param_1,
	.param .f32 scale_param_2
)
{
	.reg .pred %p<2>;
	.reg .b32 %r<6>;
	.reg .f32 %f<4>;
	.reg .b64 %rd<5>;
	ld.param.u64 %rd1, [scale_param_0];
	ld.param.u32 %r1, [scale_param_1];
	ld.param.f32 %f1, [scale_param_2];
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %ntid.x;
	mov.u32 %r4, %tid.x;
	mad.lo.s32 %r5, %r2, %r3, %r4;
	setp.ge.u32 %p1, %r5, %r1;
	@%p1 bra done;
	cvta.to.global.u64 %rd2, %rd1;
	mul.wide.u32 %rd3, %r5, 4;
	add.s64 %rd4, %rd2, %rd3;
	ld.global.f32 %f2, [%rd4];
	mul.f32 %f3, %f2, %f1;
	st.global.f32 [%rd4], %f3;
done:
	ret;
}
.visible .entry record(
	.param .u64 record_param_0,
	.param .u64 record_param_1,
	.param .u32 record_param_2,
	.param .u32 record_param_3,
	.param .f32 record_param_4
)
{
	ret;
}
.visible .entry bare(
)
{
	ret;
}
`

func load(t testing.TB, g *gpu, names ...string) []device.Kernel {
	t.Helper()
	kernels, err := g.Load(source, names...)
	if err != nil {
		t.Fatal(err)
	}
	return kernels
}

func allocate(t testing.TB, g *gpu, bytes int64) device.Pointer {
	t.Helper()
	p, err := g.Allocate(bytes)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantError compares an error's kind (nil for one without) and its text.
func wantError(t *testing.T, err, kind error, text string) {
	t.Helper()
	switch {
	case err == nil:
		t.Errorf("no error, want %q", text)
	case kind != nil && !errors.Is(err, kind):
		t.Errorf("%q does not wrap %q", err, kind)
	case err.Error() != text:
		t.Errorf("error (-want +got):\n%s", cmp.Diff(text, err.Error()))
	}
}

func TestProperties(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.control("devices", 3)
	g, err := open(f.path, 2)
	must(t, err)
	defer g.Close()
	want := device.Properties{Name: "Fake GPU 2", Ordinal: 2, Driver: "12.4", Memory: 1 << 20, Free: 1 << 20, Processors: 132}
	if diff := cmp.Diff(want, g.Properties()); diff != "" {
		t.Errorf("properties (-want +got):\n%s", diff)
	}
}

func TestPropertiesThatAreNotKnown(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	for _, function := range []string{"cuDeviceGetName", "cuDeviceGetAttribute", "cuDeviceTotalMem_v2", "cuMemGetInfo_v2"} {
		f.fail(function, 1, 1)
	}
	want := device.Properties{Driver: "12.4"}
	if diff := cmp.Diff(want, f.open(t).Properties()); diff != "" {
		t.Errorf("properties (-want +got):\n%s", diff)
	}
}

func TestOpenWithoutADriver(t *testing.T) {
	t.Parallel()
	_, err := open("libnothing.so.1", 0)
	wantError(t, err, device.ErrNoDriver, "opening CUDA device 0: no CUDA driver: libnothing.so.1: cannot open shared object file: No such file or "+
		"directory; install NVIDIA's driver or use --device cpu")
}

func TestOpenWithAFunctionMissing(t *testing.T) {
	t.Parallel()
	_, err := open(newVariant(t, "NO_WAIT").path, 0)
	wantError(t, err, device.ErrOldDriver, "opening CUDA device 0: the CUDA driver is too old: it has no function cuStreamWaitEvent; CUDA 12.4 (driver "+
		"550) or later is needed; update NVIDIA's driver or use --device cpu")
}

func TestOpenErrors(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, function string
		code           result
		kind           error
		text           string
	}{
		{"no GPU", "cuInit", noDevice, device.ErrNoDevice, "no CUDA device: the driver finds no GPU; use --device cpu"},
		{"no start", "cuInit", unknown, device.ErrNoDevice, "no CUDA device: the driver does not start: CUDA_ERROR_UNKNOWN (999); use --device cpu"},
		{"no count", "cuDeviceGetCount", 1, device.ErrNoDevice,
			"no CUDA device: the driver does not count its devices: CUDA_ERROR_INVALID_VALUE (1); use --device cpu"},
		{"stub", "cuInit", stubLibrary, device.ErrNoDriver, "no CUDA driver: libcuda.so.1 is the toolkit's stub; install NVIDIA's driver or use --device cpu"},
		{"get", "cuDeviceGet", 1, device.ErrNoDevice, "no CUDA device: the driver returned CUDA_ERROR_INVALID_VALUE (1); use --device cpu"},
		{"in use", "cuDevicePrimaryCtxRetain", deviceUnavailable, device.ErrNoDevice,
			"no CUDA device: it is in use by another process; wait for that to end or use --device cpu"},
		{"full", "cuDevicePrimaryCtxRetain", outOfMemory, device.ErrMemory,
			"out of device memory: other processes have taken it; wait for them to end or use --device cpu"},
		{"damaged", "cuDevicePrimaryCtxRetain", uncorrectableECC, device.ErrNoDevice,
			"no CUDA device: the driver returned CUDA_ERROR_ECC_UNCORRECTABLE (214); use --device cpu"},
		{"stream", "cuStreamCreate", outOfMemory, device.ErrMemory,
			"out of device memory: other processes have taken it; wait for them to end or use --device cpu"},
		{"without a name", "cuStreamCreate", 12345, device.ErrNoDevice, "no CUDA device: the driver returned CUDA error 12345; use --device cpu"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.fail(test.function, 1, test.code)
			_, err := open(f.path, 0)
			wantError(t, err, test.kind, "opening CUDA device 0: "+test.text)
			if n := f.control("held"); n != 0 {
				t.Errorf("%d things were not given back", n)
			}
		})
	}
}

func TestOpenOutOfRange(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.control("devices", 2)
	_, err := open(f.path, 2)
	wantError(t, err, device.ErrNoDevice, "opening CUDA device 2: no CUDA device: out of range, this machine has 2, numbered from 0; use --device cuda:0")
	_, err = open(f.path, -1)
	wantError(t, err, device.ErrNoDevice, "opening CUDA device -1: no CUDA device: out of range, this machine has 2, numbered from 0; use --device cuda:0")
}

// TestWork runs work on the fake library, which checks each call.
func TestWork(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	work(t, f.open(t))
	if n := f.control("held"); n != 0 {
		t.Errorf("%d things were not given back", n)
	}
}

// TestCard runs work on a GPU, provokes each kind of error once and logs the time of a launch. It is skipped on a
// machine without a GPU.
func TestCard(t *testing.T) {
	first, err := Open(0)
	if errors.Is(err, device.ErrNoDriver) || errors.Is(err, device.ErrNoDevice) || errors.Is(err, device.ErrOldDriver) {
		t.Skipf("needs a CUDA device: %v", err)
	}
	must(t, err)
	must(t, first.Close())
	start := func() *gpu {
		d, err := Open(0)
		must(t, err)
		t.Logf("%+v", d.Properties())
		return d.(*gpu)
	}
	work(t, start())

	g := start()
	_, err = g.Load(strings.Replace(source, "mad.lo", "mad.low", 1), "scale")
	t.Log(err)
	if !errors.Is(err, device.ErrRefused) {
		t.Errorf("damaged PTX: %v", err)
	}
	_, err = g.Load(strings.Replace(source, "8.4", "99.0", 1), "scale")
	t.Log(err)
	if !errors.Is(err, device.ErrOldDriver) {
		t.Errorf("PTX of the future: %v", err)
	}
	_, err = g.Allocate(1 << 42)
	t.Log(err)
	if !errors.Is(err, device.ErrMemory) {
		t.Errorf("4 TiB: %v", err)
	}
	k := load(t, g, "scale")[0]
	if sizes := g.kernels[k-1].sizes; !slices.Equal(sizes, []uintptr{8, 4, 4}) {
		t.Errorf("the driver gives %v as the sizes of scale's parameters", sizes)
	}
	p := allocate(t, g, 4)
	const launches = 10000
	begin := time.Now()
	for range launches {
		must(t, g.Launch(k, 1, 32, p, int32(1), float32(1)))
	}
	t.Logf("a launch takes %v of the host", time.Since(begin)/launches)

	must(t, g.Launch(k, 1, 1, device.Pointer(0), int32(1), float32(1))) // breaks CUDA in this process
	err = g.Synchronize()
	t.Log(err)
	if !errors.Is(err, device.ErrLost) {
		t.Errorf("access to address 0: %v", err)
	}
	must(t, g.Close())
}

// work allocates, clears, copies in, loads, launches, copies out, frees and closes, each on a thread that has
// never had the context.
func work(t *testing.T, g *gpu) {
	step := func(do func()) {
		t.Helper()
		done := make(chan struct{})
		go func() {
			defer close(done)
			runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
			do()
		}()
		<-done
	}
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
	}
	values, result := []float32{1, 2, 3, 4}, make([]float32, 6)
	var p device.Pointer
	var kernels []device.Kernel
	var err error
	step(func() { p, err = g.Allocate(24); check(err) })
	step(func() { check(g.Clear(p, 24)) })
	step(func() { check(g.CopyIn(p.Offset(4), device.Bytes(values))) })
	values[0] = 100 // CopyIn promises that this comes too late
	step(func() { kernels, err = g.Load(source, "record", "scale"); check(err) })
	if t.Failed() {
		t.FailNow()
	}
	step(func() { check(g.Launch(kernels[1], 2, 2, p, int32(6), float32(0.5))) })
	step(func() { check(g.CopyOut(device.Bytes(result), p)) })
	if diff := cmp.Diff([]float32{0, 0.5, 1, 1.5, 4, 0}, result); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	step(func() { check(g.Free(p)) })
	step(func() { check(g.Close()) })
}

func TestLaunchPassesArguments(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	g := f.open(t)
	kernels := load(t, g, "scale", "record")
	must(t, g.Launch(kernels[1], maximalBlocks, 1024, device.Pointer(1<<40+3), uint64(math.MaxUint64), int32(-2), uint32(math.MaxUint32), float32(-1.5)))
	want := []uint64{1<<40 + 3, math.MaxUint64, 0xfffffffe, math.MaxUint32, uint64(math.Float32bits(-1.5)), 0}
	for i, v := range want {
		if got := uint64(f.control("value", uintptr(i))); got != v {
			t.Errorf("argument %d: %#x, want %#x", i, got, v)
		}
	}
	for i, v := range []int{maximalBlocks, 1, 1} {
		if got := f.control("grid", uintptr(i)); got != v {
			t.Errorf("grid %d: %d, want %d", i, got, v)
		}
	}
	for i, v := range []int{1024, 1, 1} {
		if got := f.control("block", uintptr(i)); got != v {
			t.Errorf("block %d: %d, want %d", i, got, v)
		}
	}
}

func TestLaunchErrors(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	g := f.open(t)
	kernels := load(t, g, "scale", "bare")
	p := allocate(t, g, 4)
	launch := func(k device.Kernel, blocks, threads int, text string, arguments ...any) {
		t.Helper()
		wantError(t, g.Launch(k, blocks, threads, arguments...), nil, text)
	}
	many := make([]any, maximalArguments+1)
	for i := range many {
		many[i] = int32(i)
	}
	launch(0, 1, 1, "launching on CUDA device 0: 0 is not a loaded kernel")
	launch(3, 1, 1, "launching on CUDA device 0: 3 is not a loaded kernel")
	const limits = " are out of range: blocks are 0 to 2147483647, threads 1 to 1024"
	launch(kernels[0], -1, 1, "launching scale on CUDA device 0: -1 blocks of 1 threads"+limits, p, int32(1), float32(1))
	launch(kernels[0], 1<<31, 1, "launching scale on CUDA device 0: 2147483648 blocks of 1 threads"+limits, p, int32(1), float32(1))
	launch(kernels[0], 1, 0, "launching scale on CUDA device 0: 1 blocks of 0 threads"+limits, p, int32(1), float32(1))
	launch(kernels[0], 1, 1025, "launching scale on CUDA device 0: 1 blocks of 1025 threads"+limits, p, int32(1), float32(1))
	launch(kernels[0], 1, 1, "launching scale on CUDA device 0: argument 1 is of type int, not int32, uint32, uint64, float32 or device.Pointer", p, 1,
		float32(1))
	launch(kernels[0], 1, 1, "launching scale on CUDA device 0: argument 2 is of type float64, not int32, uint32, uint64, float32 or device.Pointer", p,
		int32(1), 1.0)
	launch(kernels[0], 1, 1, "launching scale on CUDA device 0: argument 1 is of type device.Pointer, 8 bytes, the kernel's parameter has 4", p, p, float32(1))
	launch(kernels[0], 1, 1, "launching scale on CUDA device 0: argument 0 is of type int32, 4 bytes, the kernel's parameter has 8", int32(1), int32(1),
		float32(1))
	launch(kernels[0], 1, 1, "launching scale on CUDA device 0: 2 arguments, the kernel has 3 parameters", p, int32(1))
	launch(kernels[1], 1, 1, "launching bare on CUDA device 0: 65 arguments, 64 are possible", many...)
	must(t, g.Launch(kernels[0], 0, 1, p, int32(1), float32(1)))
	if n := f.control("launches"); n != 0 {
		t.Errorf("%d launches reached the driver", n)
	}
	f.fail("cuLaunchKernel", 1, 1)
	launch(kernels[0], 1, 1, "launching scale on CUDA device 0: the driver returned CUDA_ERROR_INVALID_VALUE (1)", p, int32(1), float32(1))
	must(t, g.Launch(kernels[0], 1, 1, p, int32(1), float32(1)))
}

// TestDriverWithoutParameterSizes checks that a driver before 12.4 still launches, unchecked.
func TestDriverWithoutParameterSizes(t *testing.T) {
	t.Parallel()
	f := newVariant(t, "NO_PARAMETERS")
	g := f.open(t)
	k := load(t, g, "scale")[0]
	p := allocate(t, g, 4)
	must(t, g.Launch(k, 1, 1, p, int32(1), float32(1)))
	must(t, g.Launch(k, 1, 1, p, int32(1), p))
}

func TestLoadErrors(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	g := f.open(t)
	_, err := g.Load("nonsense", "scale")
	wantError(t, err, device.ErrRefused, "loading kernels on CUDA device 0 (Fake GPU 0): the driver refused the kernels: CUDA_ERROR_INVALID_PTX (218): "+
		"ptxas application ptx input, line 3; error   : no version; use --device cpu")
	_, err = g.Load(".version 9.9", "scale")
	const old = "; CUDA 12.4 (driver 550) or later is needed; update NVIDIA's driver or use --device cpu"
	wantError(t, err, device.ErrOldDriver, "loading kernels on CUDA device 0: the CUDA driver is too old: it is for CUDA 12.4 and returned "+
		"CUDA_ERROR_UNSUPPORTED_PTX_VERSION (222)"+old)
	f.fail("cuModuleLoadDataEx", 1, 209)
	_, err = g.Load(source, "scale")
	wantError(t, err, device.ErrRefused, "loading kernels on CUDA device 0 (Fake GPU 0): the driver refused the kernels: CUDA_ERROR_NO_BINARY_FOR_GPU "+
		"(209): the driver gave no reason; use --device cpu")
	_, err = g.Load(source, "scale", "absent")
	wantError(t, err, device.ErrRefused, "loading kernels on CUDA device 0: the driver refused the kernels: the PTX has no kernel absent")
	f.fail("cuModuleGetFunction", 1, 1)
	_, err = g.Load(source, "scale")
	wantError(t, err, nil, "loading kernel scale on CUDA device 0: the driver returned CUDA_ERROR_INVALID_VALUE (1)")
	f.fail("cuModuleLoadDataEx", 1, outOfMemory)
	_, err = g.Load(source, "scale")
	wantError(t, err, device.ErrMemory, "loading kernels on CUDA device 0: out of device memory: 1.0 MiB free; end other processes on the GPU or use "+
		"--device cpu")
	if n := f.control("held"); n != 3 {
		t.Errorf("%d things are held, want the context and the streams", n)
	}

	f = newFake(t)
	f.control("version", 12020)
	_, err = f.open(t).Load("nonsense", "scale")
	wantError(t, err, device.ErrOldDriver, "loading kernels on CUDA device 0: the CUDA driver is too old: it is for CUDA 12.2 and returned "+
		"CUDA_ERROR_INVALID_PTX (218)"+old)
}

// TestLoadCompilesOnce loads as the trainers and scorers of a training do.
func TestLoadCompilesOnce(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	g := f.open(t)
	first, err := g.Load(source, "record", "scale")
	must(t, err)
	again, err := g.Load(source, "record", "scale")
	must(t, err)
	other, err := g.Load(source, "scale")
	must(t, err)
	if n := f.calls("cuModuleLoadDataEx"); n != 2 || !slices.Equal(again, first) || slices.Contains(first, other[0]) {
		t.Errorf("compiled %d times, kernels %d, %d and %d, want 2, two equal ones and another", n, first, again, other)
	}
}

// TestFreeMemory holds that what is free is what is left at the moment.
func TestFreeMemory(t *testing.T) {
	t.Parallel()
	g := newFake(t).open(t)
	before := g.Properties().Free
	p := allocate(t, g, 1<<18)
	if got := g.Properties().Free; got != before-1<<18 {
		t.Errorf("%d bytes free, want %d less than %d", got, 1<<18, before)
	}
	must(t, g.Free(p))
	if got := g.Properties().Free; got != before {
		t.Errorf("%d bytes free after all was freed, want %d", got, before)
	}
}

func TestMemory(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	g := f.open(t)
	a, b := allocate(t, g, 0), allocate(t, g, 1<<19)
	if a == b || a%256 != 0 || b%256 != 0 {
		t.Errorf("allocations at %#x and %#x", uint64(a), uint64(b))
	}
	_, err := g.Allocate(3 << 30)
	wantError(t, err, device.ErrMemory, "allocating on CUDA device 0: out of device memory: 3.0 GiB wanted, 524287 bytes free; end other processes on the "+
		"GPU or use --device cpu")
	_, err = g.Allocate(-1)
	wantError(t, err, nil, "allocating on CUDA device 0: -1 bytes")
	f.fail("cuMemAlloc_v2", 1, 1)
	_, err = g.Allocate(1)
	wantError(t, err, nil, "allocating on CUDA device 0: the driver returned CUDA_ERROR_INVALID_VALUE (1)")
	wantError(t, g.Free(0x100), nil, "freeing memory of CUDA device 0: 0x100 is not an allocation")
	must(t, g.Clear(b, 1<<19)) // in the queue when b is freed
	must(t, g.Free(b))
	wantError(t, g.Clear(a, -1), nil, "clearing memory of CUDA device 0: -1 bytes")
	const invalid = " CUDA device 0: the driver returned CUDA_ERROR_INVALID_VALUE (1)"
	wantError(t, g.Clear(b, 1), nil, "clearing memory of"+invalid)
	wantError(t, g.CopyIn(b, []byte{1}), nil, "copying to"+invalid)
	wantError(t, g.CopyOut([]byte{1}, b), nil, "copying from"+invalid)
	before := f.calls("cuMemcpyHtoDAsync_v2") + f.calls("cuMemcpyDtoHAsync_v2") + f.calls("cuMemsetD8Async")
	must(t, g.Clear(b, 0))
	must(t, g.CopyIn(b, nil))
	must(t, g.CopyOut(nil, b))
	if after := f.calls("cuMemcpyHtoDAsync_v2") + f.calls("cuMemcpyDtoHAsync_v2") + f.calls("cuMemsetD8Async"); after != before {
		t.Errorf("%d copies of nothing reached the driver", after-before)
	}
	must(t, g.Close())
	if n := f.control("held"); n != 0 {
		t.Errorf("%d things were not given back", n)
	}
}

// TestCopyInWaits checks the promise of CopyIn with a driver that reads the host's memory as late as CUDA allows.
func TestCopyInWaits(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	g := f.open(t)
	p := allocate(t, g, 3)
	bytes := []byte{1, 2, 3}
	must(t, g.CopyIn(p, bytes))
	clear(bytes)
	must(t, g.CopyOut(bytes, p))
	if diff := cmp.Diff([]byte{1, 2, 3}, bytes); diff != "" {
		t.Errorf("copied (-want +got):\n%s", diff)
	}
}

// TestMarks waits for marks that are kept, and is refused others.
func TestMarks(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	g := f.open(t)
	last := device.Mark(0)
	for range keptMarks + 3 {
		var err error
		last, err = g.Mark()
		must(t, err)
	}
	if n := f.calls("cuEventCreate"); n != keptMarks {
		t.Errorf("%d events, want %d", n, keptMarks)
	}
	for _, m := range []device.Mark{last, last - keptMarks + 1} {
		must(t, g.Wait(m))
	}
	for _, m := range []device.Mark{0, last - keptMarks, last + 1} {
		wantError(t, g.Wait(m), nil, fmt.Sprintf("ordering the work of CUDA device 0: mark %d is not one of the last 16", m))
	}
	f.fail("cuEventRecord", 1, 1)
	_, err := g.Mark()
	wantError(t, err, nil, "marking the work of CUDA device 0: the driver returned CUDA_ERROR_INVALID_VALUE (1)")
	must(t, g.Close())
	if n := f.control("held"); n != 0 {
		t.Errorf("%d things were not given back", n)
	}
}

// TestStreams holds that work of a stream waits for that of the other where Wait says so, and that Free and Close wait
// for both: the fake driver does work as late as it may.
func TestStreams(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	g := f.open(t)
	k := load(t, g, "scale")[0]
	p, q := allocate(t, g, 4), allocate(t, g, 4)
	value := func(want float32) {
		t.Helper()
		got := make([]float32, 1)
		if must(t, g.CopyOut(device.Bytes(got), p)); got[0] != want {
			t.Errorf("value %v, want %v", got[0], want)
		}
	}
	// doubled returns a mark behind the work of stream 1 that makes a value of 5 one of 10.
	doubled := func() device.Mark {
		t.Helper()
		must(t, g.CopyIn(p, device.Bytes([]float32{5})))
		must(t, g.Use(1))
		must(t, g.Launch(k, 1, 1, p, int32(1), float32(2)))
		m, err := g.Mark()
		must(t, err)
		must(t, g.Use(0))
		return m
	}
	m := doubled()
	value(5)
	must(t, g.Synchronize())
	value(5)
	must(t, g.Wait(m))
	value(10)
	doubled()
	must(t, g.Use(1))
	value(10)
	must(t, g.Use(0))
	doubled()
	must(t, g.Free(q))
	value(10)
	for _, stream := range []int{-1, 2} {
		wantError(t, g.Use(stream), nil, fmt.Sprintf("CUDA device 0 has no stream %d", stream))
	}
	wantError(t, g.Wait(m+3), nil, fmt.Sprintf("ordering the work of CUDA device 0: mark %d is not one of the last 16", m+3))
	f.fail("cuStreamWaitEvent", 1, 1)
	wantError(t, g.Wait(m), nil, "ordering the work of CUDA device 0: the driver returned CUDA_ERROR_INVALID_VALUE (1)")
	before := f.calls("cuStreamSynchronize")
	must(t, g.Close())
	if waits := f.calls("cuStreamSynchronize") - before; waits != 2 {
		t.Errorf("Close waited for %d streams, want 2", waits)
	}
}

func TestMarkWithoutAnEvent(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	g := f.open(t)
	f.fail("cuEventCreate", 1, outOfMemory)
	_, err := g.Mark()
	wantError(t, err, device.ErrMemory, "marking the work of CUDA device 0: out of device memory: 1.0 MiB free; end other processes on the GPU or use "+
		"--device cpu")
}

// every is all methods but Properties and Close.
func every(g *gpu) map[string]func() error {
	return map[string]func() error{
		"Load":        func() error { _, err := g.Load(source, "scale"); return err },
		"Allocate":    func() error { _, err := g.Allocate(1); return err },
		"Free":        func() error { return g.Free(0) },
		"CopyIn":      func() error { return g.CopyIn(0, []byte{1}) },
		"CopyOut":     func() error { return g.CopyOut([]byte{1}, 0) },
		"Clear":       func() error { return g.Clear(0, 1) },
		"Launch":      func() error { return g.Launch(1, 1, 1) },
		"Launch of 0": func() error { return g.Launch(1, 0, 1) },
		"Synchronize": g.Synchronize,
		"Use":         func() error { return g.Use(1) },
		"Wait":        func() error { return g.Wait(1) },
		"Mark":        func() error { _, err := g.Mark(); return err },
	}
}

func TestLost(t *testing.T) {
	t.Parallel()
	for _, code := range []result{4, 46, 201, 214, 220, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 999} {
		f := newFake(t)
		g := f.open(t)
		allocate(t, g, 1)
		f.fail("cuStreamSynchronize", 1, code)
		lost := g.Synchronize()
		wantError(t, lost, device.ErrLost, "waiting for CUDA device 0: the device was lost: "+g.driver.describe(code)+
			", by this or earlier work; run the command again or use --device cpu")
		before := f.calls("")
		for name, do := range every(g) {
			if err := do(); err != lost {
				t.Errorf("%s after %d: %v", name, code, err)
			}
		}
		if after := f.calls(""); after != before {
			t.Errorf("%d calls of the driver after %d", after-before, code)
		}
		must(t, g.Close())
		if n, all := f.calls("cuDevicePrimaryCtxRelease_v2"), f.calls("")-before; n != 1 || all != 1 {
			t.Errorf("closing after %d: %d calls of the driver, %d release the context, want 1", code, all, n)
		}
	}
}

// TestLostAnywhere has each function of the driver that works in the context report a device that is lost.
func TestLostAnywhere(t *testing.T) {
	t.Parallel()
	for function, name := range map[string]string{
		"cuModuleLoadDataEx": "Load", "cuModuleGetFunction": "Load", "cuMemAlloc_v2": "Allocate", "cuMemcpyHtoDAsync_v2": "CopyIn",
		"cuMemcpyDtoHAsync_v2": "CopyOut", "cuMemsetD8Async": "Clear", "cuLaunchKernel": "Launch", "cuStreamSynchronize": "Synchronize",
		"cuEventCreate": "Mark", "cuEventRecord": "Mark", "cuStreamWaitEvent": "Wait", "cuCtxSetCurrent": "Clear",
	} {
		f := newFake(t)
		g := f.open(t)
		load(t, g, "bare")
		if name == "Wait" {
			_, err := g.Mark()
			must(t, err)
		}
		f.fail(function, 1, launchFailed)
		err := every(g)[name]()
		if !errors.Is(err, device.ErrLost) || !strings.Contains(err.Error(), "the device was lost: CUDA_ERROR_LAUNCH_FAILED (719), by this or earlier work") {
			t.Errorf("%s: %s returned %v", function, name, err)
		}
	}
}

func TestFreeErrors(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	g := f.open(t)
	p, q := allocate(t, g, 1), allocate(t, g, 1)
	f.fail("cuMemFree_v2", 1, 1)
	wantError(t, g.Free(p), nil, "freeing memory of CUDA device 0: the driver returned CUDA_ERROR_INVALID_VALUE (1)")
	f.fail("cuStreamSynchronize", 1, illegalAddress)
	if err := g.Free(q); !errors.Is(err, device.ErrLost) {
		t.Errorf("Free after a fault: %v", err)
	}
}

func TestClose(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	g := f.open(t)
	must(t, g.Close())
	before := f.calls("")
	must(t, g.Close())
	for name, do := range every(g) {
		if err := do(); err == nil || err.Error() != "CUDA device 0 is closed" {
			t.Errorf("%s on a closed device: %v", name, err)
		}
	}
	if after := f.calls(""); after != before {
		t.Errorf("%d calls of the driver after Close", after-before)
	}
}

func TestCloseErrors(t *testing.T) {
	t.Parallel()
	for _, function := range []string{"cuMemFree_v2", "cuEventDestroy_v2", "cuModuleUnload", "cuStreamDestroy_v2", "cuDevicePrimaryCtxRelease_v2"} {
		f := newFake(t)
		g := f.open(t)
		load(t, g, "scale")
		allocate(t, g, 1)
		_, err := g.Mark()
		must(t, err)
		f.fail(function, 1, 1)
		wantError(t, g.Close(), nil, "closing CUDA device 0: the driver returned CUDA_ERROR_INVALID_VALUE (1)")
		if n := f.control("held"); n != 1 {
			t.Errorf("%s: %d things are held, want the one that failed", function, n)
		}
	}
	f := newFake(t)
	g := f.open(t)
	f.fail("cuStreamSynchronize", 1, illegalAddress)
	wantError(t, g.Close(), device.ErrLost, "closing CUDA device 0: the device was lost: CUDA_ERROR_ILLEGAL_ADDRESS (700), by this or earlier work; run "+
		"the command again or use --device cpu")
}

// BenchmarkLaunch is the host's time of a launch with a driver that returns at once.
func BenchmarkLaunch(b *testing.B) {
	g := newFake(b).open(b)
	k := load(b, g, "record")[0]
	b.ReportAllocs()
	for b.Loop() {
		if err := g.Launch(k, 100, 256, device.Pointer(1), uint64(2), int32(3), uint32(4), float32(5)); err != nil {
			b.Fatal(err)
		}
	}
}
