package interpreter

import (
	"strings"
	"testing"

	"tagnet/model/engine/device"
)

// TestStreams runs operations on two streams, with and without what orders them.
func TestStreams(t *testing.T) {
	t.Parallel()
	const written, read = "buffer 1 is written on stream ", "buffer 1 is read on stream "
	for name, test := range map[string]struct{ operations, want string }{
		"written, then read":                  {"store 1 wide", written + "0"},
		"written, then read in order":         {"store mark 1 wait wide 0 wide", ""},
		"written, then read by bytes":         {"store 1 bytes", written + "0"},
		"written, then written":               {"store 1 store", written + "0"},
		"written, then changed atomically":    {"store 1 atomic", written + "0"},
		"changed atomically, then read":       {"atomic 1 wide", written + "0"},
		"read, then written":                  {"wide 1 store", read + "0"},
		"read, then written in order":         {"wide mark 1 wait store", ""},
		"read by both":                        {"wide 1 wide 0 wide", ""},
		"read, then cleared":                  {"1 wide 0 clear", read + "1"},
		"cleared, then read":                  {"1 clear 0 wide", written + "1"},
		"written, then copied":                {"1 store 0 out", written + "1"},
		"read, then overwritten":              {"1 wide 0 in", read + "1"},
		"the mark is before":                  {"mark store 1 wait wide", written + "0"},
		"later work is not waited for":        {"store mark store 1 wait wide", written + "0"},
		"the host waits":                      {"store host 1 wide", ""},
		"the host waits for the other stream": {"store 1 host wide", written + "0"},
		"the host waits for a copy":           {"store out 1 store", ""},
		"the host waits for a wait":           {"store mark 1 wait host wide", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := New()
			a, b := cleared(t, d, 256), cleared(t, d, 256)
			kernels := map[string]device.Kernel{}
			for kernel, body := range map[string]string{
				"wide": "ld.global.u32 %r5, [%d3];", "bytes": "ld.global.u8 %r5, [%d3];", "store": "st.global.u32 [%d3], %r1;",
				"atomic": "red.or.b32 [%d3], 1;",
			} {
				kernels[kernel] = load(t, d, faulty(body), "faulty")
			}
			if err := d.Synchronize(); err != nil {
				t.Fatal(err)
			}
			var mark device.Mark
			var err error
			for _, operation := range strings.Fields(test.operations) {
				if err != nil {
					t.Fatalf("error %v before %s", err, operation)
				}
				switch operation {
				case "0", "1":
					err = d.Use(int(operation[0] - '0'))
				case "mark":
					mark, err = d.Mark()
				case "wait":
					err = d.Wait(mark)
				case "host":
					err = d.Synchronize()
				case "in":
					err = d.CopyIn(a, []byte{1})
				case "out":
					err = d.CopyOut(make([]byte, 1), a)
				case "clear":
					err = d.Clear(a, 4)
				default:
					err = d.Launch(kernels[operation], 1, 64, a, b)
				}
			}
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want+", which nothing waits for")) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

func TestStreamErrors(t *testing.T) {
	t.Parallel()
	d := New()
	for name, err := range map[string]error{"stream 2": d.Use(2), "stream -1": d.Use(-1), "mark 0": d.Wait(0), "mark 1": d.Wait(1)} {
		if err == nil || err.Error() != "no "+name {
			t.Errorf("%s: %v", name, err)
		}
	}
}
