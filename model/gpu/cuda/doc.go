// Package cuda implements device.Device on an NVIDIA GPU. It calls the driver's library libcuda.so.1, which it opens
// at run time: building needs neither cgo nor the CUDA toolkit, and a machine without the library gets
// device.ErrNoDriver. On systems other than Linux on amd64 and arm64, Open always returns that error.
//
// The work of a device is queued on two streams. The kernels come as PTX, which the driver compiles for
// the GPU that it finds.
//
// An error that a kernel causes, such as an access outside its memory, is reported by a later call, and CUDA destroys
// the context of the whole process with it. That is device.ErrLost: only a new process can use the GPU again.
//
// The package imports purego, which makes even a binary of CGO_ENABLED=0 dynamic (it then needs libc and libdl), so
// only programs that offer a GPU should import it. With the build tag nocuda it leaves purego out, and a program is
// static; Open then always returns device.ErrNoDriver.
package cuda
