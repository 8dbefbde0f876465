package weightstest

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"tagnet/formats/workspace/safetensors"
	"testing"
)

// File returns a checkpoint of tensors as torch.save writes it, {"model": state_dict}.
func File(t testing.TB, tensors []safetensors.Tensor[float32]) []byte {
	t.Helper()
	var file bytes.Buffer
	archive := zip.NewWriter(&file)
	entry := func(name string, data []byte) {
		into, err := archive.CreateHeader(&zip.FileHeader{Name: "weights/" + name, Method: zip.Store})
		if err == nil {
			_, err = into.Write(data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	entry("data.pkl", pickled(tensors))
	for i, tensor := range tensors {
		var data []byte
		for _, v := range tensor.Data {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
		}
		entry(fmt.Sprintf("data/%d", i), data)
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// pickled returns the program that makes the state_dict.
func pickled(tensors []safetensors.Tensor[float32]) []byte {
	text := func(s string) string {
		return "X" + string(binary.LittleEndian.AppendUint32(nil, uint32(len(s)))) + s
	}
	number := func(n int) string { return "J" + string(binary.LittleEndian.AppendUint32(nil, uint32(n))) }
	const dict = "ccollections\nOrderedDict\n)R"
	program := "\x80\x02}" + text("model") + dict + "("
	for i, tensor := range tensors {
		shape, stride, step := "(", "", 1
		for j := len(tensor.Shape) - 1; j >= 0; j-- {
			stride = number(step) + stride
			step *= tensor.Shape[j]
		}
		for _, n := range tensor.Shape {
			shape += number(n)
		}
		program += text(tensor.Name) + "ctorch._utils\n_rebuild_tensor_v2\n((" +
			text("storage") + "ctorch\nFloatStorage\n" + text(fmt.Sprint(i)) + text("cpu") + number(len(tensor.Data)) + "tQ" +
			number(0) + shape + "t(" + stride + "t\x89" + dict + "tR"
	}
	return []byte(program + "us.")
}
