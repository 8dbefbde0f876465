package pytorch

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// load returns the tensors of a file with their numbers.
func load(data []byte) ([]Tensor, error) {
	f, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	tensors, err := f.StateDict()
	if err != nil {
		return nil, err
	}
	return tensors, f.Load(tensors)
}

func saved(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestReadsFilesOfPyTorch reads files that torch.save wrote; testdata/make.py says of what.
func TestReadsFilesOfPyTorch(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]Tensor{
		"optimizer.pth": {
			{Name: "weight", Shape: []int{2, 3}, Type: "float32", Data: []float32{0, .25, .5, .75, 1, 1.25}},
			{Name: "bias", Shape: []int{2}, Type: "float32", Data: []float32{-1.5, 2}},
		},
		"types.pth": {
			{Name: "double", Shape: []int{1, 2}, Type: "float64", Data: []float32{.1, -2.5}},
			{Name: "half", Shape: []int{5}, Type: "float16", Data: []float32{1.5, -0.0999755859375, 1. / (1 << 24), 65504, 0}},
			{Name: "bfloat16", Shape: []int{2}, Type: "bfloat16", Data: []float32{1.5, -3.140625}},
			{Name: "scalar", Type: "float32", Data: []float32{7}},
			{Name: "late", Shape: []int{2, 2}, Type: "float32", Data: []float32{6, 7, 8, 9}},
			{Name: "early", Shape: []int{3}, Type: "float32", Data: []float32{1, 2, 3}},
			{Name: "parameter", Shape: []int{1, 2}, Type: "float32", Data: []float32{1, 1}},
			{Name: "empty", Shape: []int{3, 0}, Type: "float32", Data: []float32{}},
		},
	} {
		got, err := load(saved(t, name))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Tensor{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestRefusesDownloads opens what a download by the wrong link gives instead of the file.
func TestRefusesDownloads(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"\n<!DOCTYPE html>\n<html>":                                 "it is a web page, not a file of torch.save: download the file itself",
		"version https://git-lfs.github.com/spec/v1\noid sha256:00": "it is a pointer of Git LFS",
		"":  "it is not a file of torch.save",
		"x": "it is not a file of torch.save",
	} {
		if _, err := Open(strings.NewReader(content), int64(len(content))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %s", content, err, want)
		}
	}
}

// TestRefusesOtherFilesOfPyTorch reads files that torch.save wrote and that are no float tensors of their own.
func TestRefusesOtherFilesOfPyTorch(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"legacy.pth":     "before version 1.6: save it again",
		"module.pth":     `data.pkl: byte 2: the global "torch.nn.modules.linear.Linear" is refused`,
		"protocol4.pth":  "data.pkl: it is no pickle of protocol 2",
		"integers.pth":   `tensor "count" is of type int64`,
		"overlap.pth":    `tensors "a" and "b" share numbers of storage 0`,
		"transposed.pth": "a tensor of shape [3 2] in storage 0 is not row-major",
		"infinite.pth":   `tensor "w" has a number that is not finite (+Inf, the 2nd)`,
		"make.py":        "it is not a file of torch.save",
	} {
		if _, err := load(saved(t, name)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

// TestDamagedFile changes every byte of a file and cuts it at each. What is read then must be what was
// written, for dates, names and notes do not matter, or an error.
func TestDamagedFile(t *testing.T) {
	t.Parallel()
	whole := saved(t, "optimizer.pth")
	want, err := load(whole)
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		if _, err := load(whole[:i]); err == nil {
			t.Errorf("cut to %d bytes: no error", i)
		}
		flipped := bytes.Clone(whole)
		flipped[i] ^= 1
		got, err := load(flipped)
		if err != nil {
			continue
		}
		if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Tensor{})); diff != "" {
			t.Errorf("byte %d changed (-want +got):\n%s", i, diff)
		}
	}
}

// TestHalf compares each float16 with its definition.
func TestHalf(t *testing.T) {
	t.Parallel()
	for bits := range 1 << 16 {
		sign, exponent, fraction := 1., bits>>10&31, float64(bits&1023)/1024
		if bits>>15 == 1 {
			sign = -1
		}
		want := sign * math.Pow(2, float64(exponent-15)) * (1 + fraction)
		switch {
		case exponent == 0:
			want = sign * math.Pow(2, -14) * fraction
		case exponent == 31 && fraction == 0:
			want = math.Inf(int(sign))
		case exponent == 31:
			want = math.NaN()
		}
		if got := float64(half(uint16(bits))); got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("%#04x is %v, want %v", bits, got, want)
		}
	}
}

// TestNumbers reads each kind of number.
func TestNumbers(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]value{
		"K\xff": int64(255), "M\x01\x02": int64(513), "J\xff\xff\xff\xff": int64(-1), "\x8a\x00": int64(0), "\x8a\x01\xfe": int64(-2),
		"\x8a\x02\xff\x00": int64(255), "\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f": int64(math.MaxInt64),
		"\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80": int64(math.MinInt64), "G\xbf\xf8\x00\x00\x00\x00\x00\x00": -1.5,
		"\x88": true, "\x89": false, "N": nil,
	} {
		if got, err := unpickle(program(code, ".")); got != want || err != nil {
			t.Errorf("%q is %v, want %v: %v", code, got, want, err)
		}
	}
}

// ultra is the folder of checkpoints that PyTorch 2 wrote, in the folder of datasets that TAGNET_DATA names.
func ultra(t testing.TB) string {
	t.Helper()
	data := os.Getenv("TAGNET_DATA")
	if data == "" {
		data = "../../../shared/data"
	}
	folder := filepath.Join(data, "ultra")
	if _, err := os.Stat(folder); err != nil {
		t.Skipf("no checkpoints of ULTRA: %v", err)
	}
	return folder
}

// TestReadsULTRA reads checkpoints of another model, which PyTorch 2 wrote on a GPU, with their optimizer's state.
func TestReadsULTRA(t *testing.T) {
	t.Parallel()
	folder := ultra(t)
	for _, name := range []string{"ultra_3g.pth", "ultra_4g.pth", "ultra_50g.pth"} {
		data, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		tensors, err := load(data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		numbers := 0
		for _, tensor := range tensors {
			numbers += len(tensor.Data)
		}
		if first := tensors[0].Name; len(tensors) != 82 || numbers != 168705 || first != "relation_model.layers.0.layer_norm.weight" {
			t.Errorf("%s: %d tensors of %d numbers, the first is %s; want 82 of 168705", name, len(tensors), numbers, first)
		}
	}
}

// TestKeysSetAgain has dicts whose keys are set twice. Python's keep the position of the first and
// the value of the last.
func TestKeysSetAgain(t *testing.T) {
	t.Parallel()
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	tensor := func(offset int64) []byte {
		return tensorOf(storageOf("FloatStorage", "0", 4), offset, numbers(1), numbers(1))
	}
	twice := join(text("w"), tensor(0), text("v"), tensor(1), text("w"), tensor(2)) // keys and values
	one := join(text("model"), []byte("}"), text("w"), tensor(3), []byte("s"))
	for name, pickle := range map[string][]byte{
		"set at once":      program("}(", twice, "u."),
		"set in turns":     program("}", text("w"), tensor(0), "s(", text("v"), tensor(1), "u", text("w"), tensor(2), "s."),
		"ordered dict":     program("ccollections\nOrderedDict\n)R(", twice, "u."),
		"within the model": program("}", text("model"), "}(", twice, "us."),
		"two models":       program("}(", one, text("model"), "}(", twice, "uu."),
		"model of None":    program("}", text("model"), "Ns", text("model"), "}(", twice, "us."),
	} {
		tensors, err := load(around(t, pickle))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for _, tensor := range tensors {
			got = append(got, fmt.Sprint(tensor.Name, " at ", tensor.stored.offset))
		}
		if diff := cmp.Diff([]string{"w at 2", "v at 1"}, got); diff != "" {
			t.Errorf("%s (-Python +read):\n%s", name, diff)
		}
	}
}
