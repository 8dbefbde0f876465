package main

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"
)

// nvrtc is NVIDIA's run-time compiler, a library with a C interface. Its functions return 0 or an error code.
type nvrtc struct {
	createProgram     func(program *uintptr, source, name string, headers int32, texts, names unsafe.Pointer) int32
	compileProgram    func(program uintptr, options int32, values unsafe.Pointer) int32
	getPTXSize        func(program uintptr, size *uintptr) int32
	getPTX            func(program uintptr, text unsafe.Pointer) int32
	getProgramLogSize func(program uintptr, size *uintptr) int32
	getProgramLog     func(program uintptr, text unsafe.Pointer) int32
	destroyProgram    func(program *uintptr) int32
	getErrorString    func(code int32) string
}

// openNVRTC loads the library.
func openNVRTC(path string) (*nvrtc, error) {
	library, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, fmt.Errorf("loading the compiler: %w", err)
	}
	n := &nvrtc{}
	for name, function := range map[string]any{
		"nvrtcCreateProgram": &n.createProgram, "nvrtcCompileProgram": &n.compileProgram,
		"nvrtcGetPTXSize": &n.getPTXSize, "nvrtcGetPTX": &n.getPTX,
		"nvrtcGetProgramLogSize": &n.getProgramLogSize, "nvrtcGetProgramLog": &n.getProgramLog,
		"nvrtcDestroyProgram": &n.destroyProgram, "nvrtcGetErrorString": &n.getErrorString,
	} {
		symbol, err := purego.Dlsym(library, name)
		if err != nil {
			return nil, fmt.Errorf("loading the compiler: %w", err)
		}
		purego.RegisterFunc(function, symbol)
	}
	return n, nil
}

// compile is a compileFunc. It may be called by several goroutines at once.
func (n *nvrtc) compile(name, text string, headers []header, options []string) (ptx, warnings string, err error) {
	var names, texts []string
	for _, h := range headers {
		names, texts = append(names, h.name), append(texts, h.text)
	}
	var pinned runtime.Pinner
	defer pinned.Unpin()
	var program uintptr
	if code := n.createProgram(&program, text, name, int32(len(headers)), cStrings(&pinned, texts), cStrings(&pinned, names)); code != 0 {
		return "", "", errors.New(n.getErrorString(code))
	}
	defer n.destroyProgram(&program)
	code := n.compileProgram(program, int32(len(options)), cStrings(&pinned, options))
	log := output(program, n.getProgramLogSize, n.getProgramLog)
	if code != 0 {
		return "", "", fmt.Errorf("%s\n%s", n.getErrorString(code), strings.TrimSpace(log))
	}
	if ptx = output(program, n.getPTXSize, n.getPTX); ptx == "" {
		return "", "", errors.New("the compiler returned no PTX")
	}
	return ptx, log, nil
}

// cStrings returns an array of C strings, which stays where it is until pinned is released.
func cStrings(pinned *runtime.Pinner, list []string) unsafe.Pointer {
	if len(list) == 0 {
		return nil
	}
	pointers := make([]*byte, len(list))
	for i, s := range list {
		text := append([]byte(s), 0)
		pointers[i] = &text[0]
		pinned.Pin(&text[0])
	}
	pinned.Pin(&pointers[0])
	return unsafe.Pointer(&pointers[0])
}

// output returns a text of a program, whose size counts the zero byte at its end; empty if there is none.
func output(program uintptr, size func(uintptr, *uintptr) int32, get func(uintptr, unsafe.Pointer) int32) string {
	var bytes uintptr
	if size(program, &bytes) != 0 || bytes < 2 {
		return ""
	}
	text := make([]byte, bytes)
	if get(program, unsafe.Pointer(&text[0])) != 0 {
		return ""
	}
	return string(text[:bytes-1])
}
