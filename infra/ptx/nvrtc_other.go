//go:build !(linux && amd64)

package main

import "errors"

// nvrtc does not exist on this platform; run says so before it is opened.
type nvrtc struct{}

func openNVRTC(string) (*nvrtc, error) { return nil, errors.ErrUnsupported }

func (*nvrtc) compile(string, string, []header, []string) (ptx, warnings string, err error) {
	return "", "", errors.ErrUnsupported
}
