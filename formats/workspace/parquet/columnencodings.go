package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

var little = binary.LittleEndian

// plain decodes values that follow each other.
func plain[T ColumnValue](data []byte) func([]T) error {
	bit := 0 // of data, where the next value of one bit is
	return func(all []T) (err error) {
		switch out := any(all).(type) {
		case []bool:
			if len(out) > 8*len(data)-bit {
				return errShort
			}
			for i := range out {
				out[i] = data[bit/8]>>(bit%8)&1 > 0
				bit++
			}
		case []int32:
			data, err = fixed(data, out, 4, func(b []byte) int32 { return int32(little.Uint32(b)) })
		case []int64:
			data, err = fixed(data, out, 8, func(b []byte) int64 { return int64(little.Uint64(b)) })
		case []float32:
			data, err = fixed(data, out, 4, func(b []byte) float32 { return math.Float32frombits(little.Uint32(b)) })
		case []float64:
			data, err = fixed(data, out, 8, func(b []byte) float64 { return math.Float64frombits(little.Uint64(b)) })
		case []string:
			var text []byte
			for i := range out {
				if text, data, err = prefixed(data); err != nil {
					return err
				}
				out[i] = string(text)
			}
		}
		return err
	}
}

// fixed decodes numbers of the same width, and returns what follows them.
func fixed[T ColumnValue](data []byte, out []T, width int, value func([]byte) T) ([]byte, error) {
	if len(out) > len(data)/width {
		return nil, errShort
	}
	for i := range out {
		out[i] = value(data[width*i:])
	}
	return data[width*len(out):], nil
}

// runs decodes numbers of width bits, at most 32, that are stored as runs: a number and how often it is repeated, or
// numbers one after the other.
type runs struct {
	data   []byte // of runs that have not begun
	width  int
	equal  int // rest of a run of one number
	value  uint32
	packed int    // rest of a run of numbers
	bits   []byte // of such a run
	at     int    // bits of it that are read
}

func (r *runs) read(out []uint32) error {
	for len(out) > 0 {
		n := min(len(out), max(r.equal, r.packed))
		switch {
		case r.equal > 0:
			for i := range out[:n] {
				out[i] = r.value
			}
			r.equal -= n
		case r.packed > 0:
			for i := range out[:n] {
				out[i] = uint32(bitsAt(r.bits, r.at, r.width))
				r.at += r.width
			}
			r.packed -= n
		default:
			if err := r.begin(); err != nil {
				return err
			}
		}
		out = out[n:]
	}
	return nil
}

func (r *runs) begin() error {
	header, n := binary.Uvarint(r.data)
	if n <= 0 || header > math.MaxUint32 || r.width > 32 {
		return errShort
	}
	r.data = r.data[n:]
	count := int(header >> 1)
	switch width := (r.width + 7) / 8; {
	case r.width == 0: // all numbers are 0
		r.equal, r.value = count, 0
		if header&1 == 1 {
			r.equal = 8 * count
		}
	case header&1 == 1:
		length := min(count*r.width, len(r.data)) // some writers end the last run with its last number
		r.bits, r.data, r.at = r.data[:length], r.data[length:], 0
		r.packed = min(8*count, 8*length/r.width)
	case width > len(r.data):
		return errShort
	default:
		var number [4]byte
		copy(number[:], r.data[:width])
		r.equal, r.value, r.data = count, little.Uint32(number[:]), r.data[width:]
	}
	return nil
}

// bitsAt returns the number of width bits, at most 64, at a position in bits. data has all of them.
func bitsAt(data []byte, at, width int) uint64 {
	var word uint64
	rest := data[at/8:]
	if len(rest) >= 8 {
		word = little.Uint64(rest)
	} else {
		var last [8]byte
		copy(last[:], rest)
		word = little.Uint64(last[:])
	}
	shift := at % 8
	word >>= shift
	if shift+width > 64 {
		word |= uint64(rest[8]) << (64 - shift)
	}
	return word & (1<<width - 1)
}

// unpackDifferences decodes the encoding DELTA_BINARY_PACKED, and returns what follows the numbers.
func unpackDifferences(data []byte) (numbers []int64, rest []byte, err error) {
	next := func() (number uint64) {
		number, n := binary.Uvarint(data)
		if n <= 0 {
			err = errShort
			return 0
		}
		data = data[n:]
		return number
	}
	signed := func() int64 {
		number := next()
		return int64(number>>1) ^ -int64(number&1)
	}
	perBlock, widths, count, value := next(), next(), next(), signed()
	if err == nil && (count > maxValues || perBlock > 1<<20 || widths == 0 || perBlock < 8*widths || perBlock%(8*widths) != 0) {
		err = fmt.Errorf("%d differences in blocks of %d by %d", count, perBlock, widths)
	}
	if err != nil || count == 0 {
		return nil, data, err
	}
	total := int(count)
	numbers = append(make([]int64, 0, min(total, 1<<16)), value)
	each := int(perBlock / widths)
	for len(numbers) < total {
		least := signed()
		if err != nil || uint64(len(data)) < widths {
			return nil, nil, errShort
		}
		var bits []byte
		bits, data = data[:widths], data[widths:]
		for _, width := range bits {
			if len(numbers) == total {
				break
			}
			length := int(width) * each / 8
			if width > 64 || length > len(data) {
				return nil, nil, errShort
			}
			for i := range min(each, total-len(numbers)) {
				value += least
				if width > 0 {
					value += int64(bitsAt(data[:length], i*int(width), int(width)))
				}
				numbers = append(numbers, value)
			}
			data = data[length:]
		}
	}
	return numbers, data, nil
}

// differences decodes integers that are stored as differences.
func differences[T int32 | int64](data []byte) (func([]T) error, error) {
	numbers, _, err := unpackDifferences(data)
	return func(out []T) error {
		if len(out) > len(numbers) {
			return errShort
		}
		for i := range out {
			out[i] = T(numbers[i])
		}
		numbers = numbers[len(out):]
		return nil
	}, err
}

// lengthsFirst decodes the encoding DELTA_LENGTH_BYTE_ARRAY: the lengths of texts, then the texts.
func lengthsFirst(data []byte) (func([]string) error, error) {
	lengths, data, err := unpackDifferences(data)
	return func(out []string) error {
		if len(out) > len(lengths) {
			return errShort
		}
		for i, n := range lengths[:len(out)] {
			if n < 0 || n > int64(len(data)) {
				return errShort
			}
			out[i], data = string(data[:n]), data[n:]
		}
		lengths = lengths[len(out):]
		return nil
	}, err
}

// suffixes decodes the encoding DELTA_BYTE_ARRAY: of each text, how many bytes it shares with the start of the one
// before, and the others. last is the text before the page, with which the first shares some by writers such as Arrow's
// in Go, and then that before the next page.
func suffixes(data []byte, last *string) (func([]string) error, error) {
	shared, data, err := unpackDifferences(data)
	if err != nil {
		return nil, err
	}
	endings, err := lengthsFirst(data)
	total := 0
	return func(out []string) error {
		if len(out) > len(shared) {
			return errShort
		}
		if err := endings(out); err != nil {
			return err
		}
		for i, n := range shared[:len(out)] {
			if n < 0 || n > int64(len(*last)) {
				return errors.New("a text shares more with the one before than that has")
			}
			if total += int(n) + len(out[i]); total > maxPage {
				return fmt.Errorf("a page of more than %d bytes", maxPage)
			}
			out[i] = (*last)[:n] + out[i]
			*last = out[i]
		}
		shared = shared[len(out):]
		return nil
	}, err
}
