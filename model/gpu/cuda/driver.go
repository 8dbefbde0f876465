//go:build linux && (amd64 || arm64) && !nocuda

package cuda

import (
	"fmt"
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"

	"tagnet/formats/remedy"
	"tagnet/model/engine/device"
)

// driverLibrary is the file name of the driver's library.
const driverLibrary = "libcuda.so.1"

// driver holds the addresses of the functions of the driver's library. They are called with purego.SyscallN: it
// takes a third of the time of the functions that purego.RegisterFunc makes by reflection, and none of them takes
// or returns a float.
type driver struct {
	initialize, version, errorName                    uintptr
	count, get, name, attribute, totalMemory          uintptr
	retain, release, setCurrent                       uintptr
	streamCreate, streamDestroy, streamSynchronize    uintptr
	moduleLoad, moduleUnload, function, parameterInfo uintptr
	allocate, free, memoryInfo                        uintptr
	copyIn, copyOut, clear, launch                    uintptr
	eventCreate, eventDestroy, eventRecord            uintptr
	streamWait                                        uintptr
}

// openDriver opens a library of the driver and looks its functions up. The library stays open: CUDA's
// cannot be unloaded.
func openDriver(library string) (*driver, error) {
	runtime.LockOSThread() // the reason of a failure is the thread's
	defer runtime.UnlockOSThread()
	handle, err := purego.Dlopen(library, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, remedy.Errorf(remedy.Do("install NVIDIA's driver or %v", device.UseCPU), "%w: %w", device.ErrNoDriver, err)
	}
	d := &driver{}
	for _, symbol := range []struct {
		name string
		at   *uintptr
	}{
		{"cuInit", &d.initialize},
		{"cuDriverGetVersion", &d.version},
		{"cuGetErrorName", &d.errorName},
		{"cuDeviceGetCount", &d.count},
		{"cuDeviceGet", &d.get},
		{"cuDeviceGetName", &d.name},
		{"cuDeviceGetAttribute", &d.attribute},
		{"cuDeviceTotalMem_v2", &d.totalMemory},
		{"cuDevicePrimaryCtxRetain", &d.retain},
		{"cuDevicePrimaryCtxRelease_v2", &d.release},
		{"cuCtxSetCurrent", &d.setCurrent},
		{"cuStreamCreate", &d.streamCreate},
		{"cuStreamDestroy_v2", &d.streamDestroy},
		{"cuStreamSynchronize", &d.streamSynchronize},
		{"cuModuleLoadDataEx", &d.moduleLoad},
		{"cuModuleUnload", &d.moduleUnload},
		{"cuModuleGetFunction", &d.function},
		{"cuMemAlloc_v2", &d.allocate},
		{"cuMemFree_v2", &d.free},
		{"cuMemGetInfo_v2", &d.memoryInfo},
		{"cuMemcpyHtoDAsync_v2", &d.copyIn},
		{"cuMemcpyDtoHAsync_v2", &d.copyOut},
		{"cuMemsetD8Async", &d.clear},
		{"cuLaunchKernel", &d.launch},
		{"cuEventCreate", &d.eventCreate},
		{"cuEventDestroy_v2", &d.eventDestroy},
		{"cuEventRecord", &d.eventRecord},
		{"cuStreamWaitEvent", &d.streamWait},
	} {
		if *symbol.at, err = purego.Dlsym(handle, symbol.name); err != nil {
			return nil, remedy.Errorf(update, "%w: it has no function %s", device.ErrOldDriver, symbol.name)
		}
	}
	// Drivers before CUDA 12.4 lack it. Arguments are then not checked against the kernel.
	if at, err := purego.Dlsym(handle, "cuFuncGetParamInfo"); err == nil {
		d.parameterInfo = at
	}
	return d, nil
}

// call calls a function of the driver. Pointers are converted to uintptr in the list of arguments, which keeps what
// they point to alive until the call returns.
//
//go:uintptrescapes
func call(function uintptr, arguments ...uintptr) result {
	r, _, _ := purego.SyscallN(function, arguments...)
	return result(int32(r))
}

// start initializes the driver and returns the number of GPUs.
func (d *driver) start() (int, error) {
	switch r := call(d.initialize, 0); r {
	case success:
	case noDevice:
		return 0, nil
	case stubLibrary:
		return 0, remedy.Errorf(remedy.Do("install NVIDIA's driver or %v", device.UseCPU), "%w: %s is the toolkit's stub", device.ErrNoDriver, driverLibrary)
	default:
		return 0, remedy.Errorf(device.UseCPU, "%w: the driver does not start: %s", device.ErrNoDevice, d.describe(r))
	}
	var n int32
	if r := call(d.count, uintptr(unsafe.Pointer(&n))); r != success && r != noDevice {
		return 0, remedy.Errorf(device.UseCPU, "%w: the driver does not count its devices: %s", device.ErrNoDevice, d.describe(r))
	}
	return int(n), nil
}

// driverVersion returns the version of CUDA that the driver supports, such as 12040 for 12.4; 0 if it is not known.
func (d *driver) driverVersion() int32 {
	var v int32
	if call(d.version, uintptr(unsafe.Pointer(&v))) != success {
		return 0
	}
	return v
}

// describe returns CUDA's name and the number of a result.
func (d *driver) describe(r result) string {
	var text *byte // in the driver's memory
	if call(d.errorName, uintptr(r), uintptr(unsafe.Pointer(&text))); text == nil {
		return fmt.Sprintf("CUDA error %d", r)
	}
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(text), n)) != 0 {
		n++
	}
	return fmt.Sprintf("%s (%d)", unsafe.Slice(text, n), r)
}
