package pipelinetest

import (
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Listening returns the addresses on which a process listens. It reads /proc, which Linux has.
func Listening(pid int) (open []string, err error) {
	folder := filepath.Join("/proc", strconv.Itoa(pid))
	own := map[string]bool{} // the inodes of its sockets
	descriptors, err := os.ReadDir(filepath.Join(folder, "fd"))
	if err != nil {
		return nil, err
	}
	for _, d := range descriptors {
		target, _ := os.Readlink(filepath.Join(folder, "fd", d.Name())) // one may be closed by now
		if inode, ok := strings.CutPrefix(target, "socket:["); ok {
			own[strings.TrimSuffix(inode, "]")] = true
		}
	}
	for _, table := range []string{"net/tcp", "net/tcp6"} {
		text, err := os.ReadFile(filepath.Join(folder, table))
		if err != nil {
			return nil, err
		}
		for _, line := range strings.Split(string(text), "\n")[1:] {
			const local, state, inode, listens = 1, 3, 9, "0A"
			if fields := strings.Fields(line); len(fields) > inode && fields[state] == listens && own[fields[inode]] {
				open = append(open, socketAddress(fields[local]))
			}
		}
	}
	return open, nil
}

// socketAddress returns an address of /proc as the net package writes it: the words of IP are in the byte order of the
// machine, here little-endian.
func socketAddress(text string) string {
	ip, port, _ := strings.Cut(text, ":")
	bytes, _ := hex.DecodeString(ip)
	for i := 0; i+4 <= len(bytes); i += 4 {
		slices.Reverse(bytes[i : i+4])
	}
	n, _ := strconv.ParseUint(port, 16, 16)
	return net.JoinHostPort(net.IP(bytes).String(), fmt.Sprint(n))
}
