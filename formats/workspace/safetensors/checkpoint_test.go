package safetensors

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/nlpodyssey/safetensors"

	"tagnet/formats/storage"
	"tagnet/formats/storage/storagetest"
)

func sample() []Tensor[float32] {
	return []Tensor[float32]{
		{"query.weight", []int{2, 3}, []float32{0, 1, -2.5, 3e38, 1e-45, float32(math.Copysign(0, -1))}},
		{"mlp.2.bias", []int{1}, []float32{0.1}},
		{"a scalar", []int{}, []float32{7}},
		{"nothing", []int{0, 4}, []float32{}},
	}
}

// write writes a file that read reads.
func write(ctx context.Context, url string, tensors []Tensor[float32]) error {
	file, err := Encode(tensors)
	if err != nil {
		return err
	}
	return storage.WriteFile(ctx, url, file)
}

func read(ctx context.Context, url string) ([]Tensor[float32], error) {
	file, err := storage.ReadFile(ctx, url)
	if err != nil {
		return nil, err
	}
	return Decode(file)
}

func writeSample(ctx context.Context) func(url string) error {
	return func(url string) error { return write(ctx, url, sample()) }
}

func TestRoundTrip(t *testing.T) {
	ctx := t.Context()
	url := "mem://checkpoint/a.safetensors"
	if err := writeSample(ctx)(url); err != nil {
		t.Fatal(err)
	}
	tensors, err := read(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	if want := sample(); !reflect.DeepEqual(tensors, want) {
		t.Errorf("%v, want %v", tensors, want)
	}
}

func TestRoundTripKeepsEveryBit(t *testing.T) {
	ctx := t.Context()
	bits := []uint32{0x7fc00001, 0xffc12345, 0x7f800000, 0xff800000, 1, 0x80000000}
	data := make([]float32, len(bits))
	for i, b := range bits {
		data[i] = math.Float32frombits(b)
	}
	if err := write(ctx, "mem://checkpoint/bits", []Tensor[float32]{{"x", []int{len(bits)}, data}}); err != nil {
		t.Fatal(err)
	}
	tensors, err := read(ctx, "mem://checkpoint/bits")
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range tensors[0].Data {
		if math.Float32bits(v) != bits[i] {
			t.Errorf("%08x was read as %08x", bits[i], math.Float32bits(v))
		}
	}
}

// TestAnotherReaderAgrees reads a checkpoint with a library that this package does not use.
func TestAnotherReaderAgrees(t *testing.T) {
	ctx := t.Context()
	if err := writeSample(ctx)("mem://checkpoint/foreign"); err != nil {
		t.Fatal(err)
	}
	data, err := storage.ReadFile(ctx, "mem://checkpoint/foreign")
	if err != nil {
		t.Fatal(err)
	}
	file, err := safetensors.Deserialize(data)
	if err != nil {
		t.Fatal(err)
	}
	tensors := sample()
	if file.Len() != len(tensors) {
		t.Errorf("%d tensors, want %d", file.Len(), len(tensors))
	}
	for _, want := range tensors {
		view, found := file.Tensor(want.Name)
		if !found || view.DType() != safetensors.F32 || !bytes.Equal(view.Data(), appendFloats(nil, want.Data)) || len(view.Shape()) != len(want.Shape) {
			t.Errorf("%s: found %v, or another type, shape or data", want.Name, found)
		}
	}
	if at := 8 + binary.LittleEndian.Uint64(data); at%8 != 0 {
		t.Errorf("the data begins at byte %d, which floats cannot be mapped from", at)
	}
}

// TestEveryCutIsNoticed cuts a file at every byte, and appends one.
func TestEveryCutIsNoticed(t *testing.T) {
	for name, tensors := range map[string][]Tensor[float32]{"none": nil, "two": {{"w", []int{2}, []float32{1, 2}}, {"b", []int{}, []float32{3}}}} {
		file, err := Encode(tensors)
		if err != nil {
			t.Fatal(err)
		}
		for n := range file {
			if _, err := Decode(file[:n]); !errors.Is(err, ErrDamaged) {
				t.Errorf("%s, cut at byte %d of %d: error %v", name, n, len(file), err)
			}
		}
		if _, err := Decode(append(file, 0)); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s, a byte more: error %v", name, err)
		}
	}
}

func TestSameTensorsGiveSameBytes(t *testing.T) {
	storagetest.SameBytes(t, writeSample(t.Context()))
}

func TestGoldenFile(t *testing.T) {
	golden := storagetest.Golden(t, "sample.safetensors", writeSample(t.Context()))
	tensors, err := read(t.Context(), golden)
	if err != nil {
		t.Fatal(err)
	}
	if want := sample(); !reflect.DeepEqual(tensors, want) {
		t.Errorf("%v, want %v", tensors, want)
	}
}

func TestWriteRefuses(t *testing.T) {
	ctx := t.Context()
	for name, c := range map[string]struct {
		tensors []Tensor[float32]
		want    string
	}{
		"a name twice":   {[]Tensor[float32]{{"x", []int{1}, []float32{1}}, {"x", []int{1}, []float32{1}}}, `two tensors are named "x"`},
		"a wrong shape":  {[]Tensor[float32]{{"x", []int{2, 2}, []float32{1}}}, "tensor x of shape [2 2] has 1 values"},
		"a taken name":   {[]Tensor[float32]{{"__metadata__", []int{}, []float32{1}}}, "__metadata__"},
		"negative shape": {[]Tensor[float32]{{"x", []int{-1, -1}, []float32{1}}}, "shape [-1 -1]"},
	} {
		err := write(ctx, "mem://checkpoint/refused", c.tensors)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if _, err := read(ctx, "mem://checkpoint/refused"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a refused checkpoint left a file: %v", err)
	}
}

// foreign makes a safetensors file as another program would.
func foreign(header string, data ...byte) []byte {
	file := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(file, header...), data...)
}

func TestDecodeOfOtherPrograms(t *testing.T) {
	ctx := t.Context()
	f64 := binary.LittleEndian.AppendUint64(nil, math.Float64bits(0.1))
	for _, c := range []struct {
		name string
		file []byte
		want string // part of the error, or "" for none
	}{
		{"float64", foreign(`{"x":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}}`, f64...), ""},
		{"another order", foreign(`{"b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}  `,
			make([]byte, 8)...), ""},
		{"another version", foreign(`{"__metadata__":{"tagnet.version":"2"}}`), `it has version "2", known is "1"`},
		{"half floats", foreign(`{"x":{"dtype":"F16","shape":[1],"data_offsets":[0,2]}}`, 0, 0), `tensor x is "F16"; convert it to F32`},
		{"a hole", foreign(`{"x":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}`, make([]byte, 8)...), "begins at byte 4"},
		{"an overlap", foreign(`{"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"y":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`,
			make([]byte, 4)...), "begins at byte 0"},
		{"data left", foreign(`{"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, make([]byte, 5)...), "take 4 bytes of 5"},
		{"data missing", foreign(`{"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, 0), "take 4 bytes of 1"},
		{"huge shape", foreign(`{"x":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}}`), "shape [4294967296 4294967296]"},
		{"a name twice", foreign(`{"x":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},"x":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}}`),
			"different tensors"},
		{"no shape", foreign(`{"x":{"dtype":"F32","data_offsets":[0,4]}}`, make([]byte, 4)...), "tensor x has no shape"},
		{"shape is null", foreign(`{"x":{"dtype":"F32","shape":null,"data_offsets":[0,4]}}`, make([]byte, 4)...), "shape: null instead of a list"},
		{"keys in upper case", foreign(`{"x":{"DTYPE":"F32","Shape":[1],"data_offsets":[0,4]}}`, make([]byte, 4)...), `unknown key "DTYPE"`},
		{"a key twice", foreign(`{"x":{"dtype":"F32","shape":[1],"shape":[],"data_offsets":[0,4]}}`, make([]byte, 4)...), `"shape" stands twice`},
		{"one offset", foreign(`{"x":{"dtype":"F32","shape":[0],"data_offsets":[0]}}`), "not the two ends of its bytes"},
		{"three offsets", foreign(`{"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4,8]}}`, make([]byte, 4)...), "not the two ends of its bytes"},
		{"invalid UTF-8", foreign("{\"\xff\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", make([]byte, 4)...), "not valid UTF-8"},
		{"no object", foreign(`[]`), "no JSON object"},
		{"text behind", foreign(`{} {}`), "has no end"},
		{"huge header", binary.LittleEndian.AppendUint64(nil, 1<<62), "longer than the file"},
		{"header beyond", foreign(`{}`)[:9], "longer than the file"},
	} {
		if err := storage.WriteFile(ctx, "mem://checkpoint/foreign", c.file); err != nil {
			t.Fatal(err)
		}
		tensors, err := read(ctx, "mem://checkpoint/foreign")
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
		if c.name == "float64" && (len(tensors) != 1 || tensors[0].Data[0] != float32(0.1)) {
			t.Errorf("%s: %v", c.name, tensors)
		}
	}
}

// FuzzRead checks that no file makes the reader panic or allocate out of proportion, and that the
// tensors it returns can be written and read with the same values.
func FuzzRead(f *testing.F) {
	if err := writeSample(context.Background())("mem://checkpoint/seed"); err != nil {
		f.Fatal(err)
	}
	seed, _ := storage.ReadFile(context.Background(), "mem://checkpoint/seed")
	f.Add(seed)
	f.Add(foreign(`{"x":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}}`, make([]byte, 8)...))
	f.Add(foreign(`{"__metadata__":null}`))
	f.Add(foreign(`{"x":{"DType":"F32","data_offsets":[0,4]}}`, make([]byte, 4)...))
	f.Fuzz(func(t *testing.T, file []byte) {
		ctx := t.Context()
		url := "mem://checkpoint/" + t.Name()
		if err := storage.WriteFile(ctx, url, file); err != nil {
			t.Fatal(err)
		}
		tensors, err := read(ctx, url)
		if err != nil {
			return
		}
		for i := range tensors {
			for j, v := range tensors[i].Data {
				if v != v {
					tensors[i].Data[j] = 0 // NaN differs from itself
				}
			}
		}
		if err := write(ctx, url, tensors); err != nil {
			t.Fatalf("tensors can be read but not written: %v", err)
		}
		again, err := read(ctx, url)
		if err != nil || !reflect.DeepEqual(again, tensors) {
			t.Fatalf("%v became %v, error %v", tensors, again, err)
		}
	})
}
