package safetensors

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"tagnet/formats/strict"
)

// lengthBytes is the size of the length of the header, which precedes it, little-endian.
const lengthBytes = 8

// maxHeader is the longest header that safetensors allows.
const maxHeader = 100 << 20

// entry is the description of one tensor in the header.
type entry struct {
	name    string
	DType   string  `json:"dtype"`
	Shape   []int   `json:"shape"`
	Offsets []int64 `json:"data_offsets"` // begin and end of its bytes in the data
}

// encodeHeader returns the length and the header, padded so that the data
// begins at a multiple of 8, and the size of the data.
func encodeHeader(tensors []Tensor[float32]) (header []byte, size int64, err error) {
	header = append(make([]byte, lengthBytes), `{"__metadata__":`...)
	header = appendJSON(header, map[string]string{versionKey: FormatVersion})
	seen := map[string]bool{"__metadata__": true}
	for _, t := range tensors {
		if seen[t.Name] {
			return nil, 0, fmt.Errorf("two tensors are named %q", t.Name)
		}
		seen[t.Name] = true
		if n, ok := elements(t.Shape); !ok || n != len(t.Data) {
			return nil, 0, fmt.Errorf("tensor %s of shape %v has %d values", t.Name, t.Shape, len(t.Data))
		}
		end := size + 4*int64(len(t.Data))
		header = append(header, ',')
		header = appendJSON(header, t.Name)
		header = append(header, ':')
		header = appendJSON(header, entry{DType: "F32", Shape: append([]int{}, t.Shape...), Offsets: []int64{size, end}})
		size = end
	}
	header = append(header, '}')
	for len(header)%8 != 0 {
		header = append(header, ' ')
	}
	if len(header) > maxHeader {
		return nil, 0, fmt.Errorf("a header of %d bytes is longer than safetensors allows", len(header))
	}
	binary.LittleEndian.PutUint64(header, uint64(len(header)-lengthBytes))
	return header, size, nil
}

// appendJSON appends a value that can always be encoded.
func appendJSON(to []byte, value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // strings and integers only
	}
	return append(to, text...)
}

// cutHeader splits a file into the header, its length included, and the data.
func cutHeader(file []byte) (header, data []byte, err error) {
	if len(file) < lengthBytes {
		return nil, nil, fmt.Errorf("it has %d bytes: %w", len(file), ErrDamaged)
	}
	length := binary.LittleEndian.Uint64(file)
	if length > maxHeader || length > uint64(len(file)-lengthBytes) {
		return nil, nil, fmt.Errorf("its header of %d bytes is longer than the file: %w", length, ErrDamaged)
	}
	end := lengthBytes + int(length)
	return file[:end:end], file[end:], nil
}

// decodeHeader returns the tensors in the order of the header, and the metadata. It returns an error unless they fill
// the data without gaps or overlaps.
func decodeHeader(header []byte, size int64) (entries []entry, metadata map[string]string, err error) {
	fail := func(format string, arguments ...any) ([]entry, map[string]string, error) {
		return nil, nil, fmt.Errorf("%s: %w", fmt.Sprintf(format, arguments...), ErrDamaged)
	}
	if !utf8.Valid(header[lengthBytes:]) {
		return fail("its header is not valid UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(header[lengthBytes:]))
	if start, err := d.Token(); err != nil || start != json.Delim('{') {
		return fail("its header is no JSON object")
	}
	// Members are read one by one, as a map would hide a name that occurs twice.
	seen := map[string]bool{}
	for d.More() {
		token, err := d.Token()
		name, isName := token.(string)
		if err != nil || !isName || seen[name] {
			return fail("its header is no list of different tensors")
		}
		seen[name] = true
		if name == "__metadata__" {
			if err := d.Decode(&metadata); err != nil {
				return fail("its metadata cannot be read (%v)", err)
			}
			continue
		}
		var text json.RawMessage
		e := entry{name: name}
		if err = d.Decode(&text); err == nil {
			err = strict.Decode("its description", text, &e)
		}
		if err != nil {
			return fail("tensor %s cannot be read (%v)", name, err)
		}
		if err := e.check(); err != nil {
			return nil, nil, err
		}
		entries = append(entries, e)
	}
	// Only spaces may follow, which pad the header.
	if end, err := d.Token(); err != nil || end != json.Delim('}') || len(bytes.TrimRight(header[lengthBytes+int(d.InputOffset()):], " ")) != 0 {
		return fail("its header has no end")
	}
	return entries, metadata, checkOffsets(entries, size)
}

// check compares the shape of a tensor with the number of its bytes.
func (e entry) check() error {
	if e.Shape == nil || len(e.Offsets) != 2 {
		return fmt.Errorf("tensor %s has no shape, or not the two ends of its bytes: %w", e.name, ErrDamaged)
	}
	width, known := map[string]int64{"F32": 4, "F64": 8}[e.DType]
	if !known {
		return fmt.Errorf("tensor %s is %q; convert it to F32", e.name, e.DType)
	}
	if n, ok := elements(e.Shape); !ok || e.Offsets[0] < 0 || e.Offsets[1]-e.Offsets[0] != width*int64(n) {
		return fmt.Errorf("tensor %s of shape %v takes bytes %d to %d: %w", e.name, e.Shape, e.Offsets[0], e.Offsets[1], ErrDamaged)
	}
	return nil
}

// checkOffsets returns an error unless the tensors cover the data without gaps or overlaps.
func checkOffsets(entries []entry, size int64) error {
	sorted := slices.Clone(entries)
	slices.SortStableFunc(sorted, func(a, b entry) int {
		return slices.Compare(a.Offsets, b.Offsets)
	})
	at := int64(0)
	for _, e := range sorted {
		if e.Offsets[0] != at {
			return fmt.Errorf("tensor %s begins at byte %d of the data instead of %d: %w", e.name, e.Offsets[0], at, ErrDamaged)
		}
		at = e.Offsets[1]
	}
	if at != size {
		return fmt.Errorf("its tensors take %d bytes of %d: %w", at, size, ErrDamaged)
	}
	return nil
}

func appendFloats(to []byte, values []float32) []byte {
	for _, v := range values {
		to = binary.LittleEndian.AppendUint32(to, math.Float32bits(v))
	}
	return to
}

// floats is the inverse of appendFloats; float64 values are rounded.
func floats(dtype string, data []byte) []float32 {
	if dtype == "F64" {
		values := make([]float32, len(data)/8)
		for i := range values {
			values[i] = float32(math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:])))
		}
		return values
	}
	values := make([]float32, len(data)/4)
	for i := range values {
		values[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
	}
	return values
}
