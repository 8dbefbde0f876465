package pytorch

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
)

// The globals of a checkpoint, beside the types of storages.
const (
	orderedDict      name = "collections.OrderedDict"
	rebuildTensor    name = "torch._utils._rebuild_tensor_v2"
	rebuildParameter name = "torch._utils._rebuild_parameter"
)

// element describes the type of the numbers in a storage.
type element struct {
	name  string
	width int64
	float func(data []byte) float32 // of the first bytes; nil for integers
}

var elements = map[name]element{
	"torch.FloatStorage": {"float32", 4, func(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }},
	"torch.DoubleStorage": {"float64", 8, func(b []byte) float32 {
		return float32(math.Float64frombits(binary.LittleEndian.Uint64(b)))
	}},
	"torch.HalfStorage":     {"float16", 2, func(b []byte) float32 { return half(binary.LittleEndian.Uint16(b)) }},
	"torch.BFloat16Storage": {"bfloat16", 2, func(b []byte) float32 { return math.Float32frombits(uint32(binary.LittleEndian.Uint16(b)) << 16) }},
	"torch.LongStorage":     {"int64", 8, nil},
	"torch.IntStorage":      {"int32", 4, nil},
}

func half(bits uint16) float32 {
	sign, exponent, fraction := 1-2*float64(bits>>15), int(bits>>10&31), float64(bits&1023)
	switch exponent {
	case 0:
		return float32(sign * math.Ldexp(fraction, -24))
	case 31:
		if fraction != 0 {
			return float32(math.NaN())
		}
		return float32(sign * math.Inf(1))
	}
	return float32(sign * math.Ldexp(1024+fraction, exponent-25))
}

// known reports whether a global is one that a checkpoint of tensors needs.
func known(n name) bool {
	if _, ok := elements[n]; ok {
		return true
	}
	return n == orderedDict || n == rebuildTensor || n == rebuildParameter
}

// storage is a storage that the pickle names: the entry data/KEY.
type storage struct {
	key   string
	kind  element
	count int64
}

// stored is a tensor that the pickle makes. Its offset and shape are checked against its storage.
type stored struct {
	storage storage
	offset  int64
	shape   []int
	count   int64
}

// Tensor is an entry of a state_dict.
type Tensor struct {
	Name  string
	Shape []int
	// Type is PyTorch's name of the type, such as float32.
	Type string
	// Data is row-major; Load sets it.
	Data []float32

	stored *stored
}

// object executes the instructions that make anything else than plain values: the storages, tensors and ordered
// dicts of torch.save.
func (m *machine) object(code byte) {
	if code == binPersID {
		m.push(newStorage(m.pop(1)[0]))
		return
	}
	values := m.pop(2)
	if code == build {
		m.push(withState(values[0], values[1]))
	} else {
		m.push(call(values[0], values[1]))
	}
}

// withState returns a dict without the attributes that it is given: PyTorch's _metadata.
func withState(of, state value) value {
	d, isDict := of.(*dict)
	if _, ok := state.(*dict); !ok || !isDict {
		refuse("attributes are set on what is no dict")
	}
	return d
}

// newStorage returns the storage of a persistent id: ("storage", type, key, device, count).
func newStorage(id value) value {
	t, ok := id.(*sequence)
	if !ok || t.list || len(t.items) != 5 {
		refuse("a storage is not described as torch.save does")
	}
	what, isText := t.items[0].(string)
	kind, isName := t.items[1].(name)
	key, isKeyed := t.items[2].(string)
	_, isDevice := t.items[3].(string)
	count, isCount := t.items[4].(int64)
	of, isElement := elements[kind]
	switch {
	case !isText || what != "storage" || !isName || !isKeyed || !isDevice || !isCount || !isElement:
		refuse("a storage is not described as torch.save does")
	case !isKey(key):
		refuse("the storage %.40q is not named by a number", key)
	case count < 0 || count > math.MaxInt64/8:
		refuse("storage %s of %d numbers", key, count)
	}
	return storage{key, of, count}
}

// call returns what a function of a checkpoint makes of its arguments.
func call(function, arguments value) value {
	t, ok := arguments.(*sequence)
	if !ok || t.list {
		refuse("a function is called without a tuple of arguments")
	}
	switch function {
	case orderedDict:
		if len(t.items) == 0 {
			return &dict{}
		}
	case rebuildTensor:
		if len(t.items) == 6 {
			return newTensor(t.items)
		}
	case rebuildParameter:
		if len(t.items) == 3 && isHooks(t.items[2]) {
			if tensor, ok := t.items[0].(*stored); ok {
				return tensor
			}
		}
	default:
		refuse("something else than a function of torch.save is called")
	}
	refuse("%s is called with other arguments than torch.save's", function)
	return nil
}

// isHooks reports whether a value is the empty dict of a tensor's hooks.
func isHooks(v value) bool {
	d, ok := v.(*dict)
	return ok && len(d.keys) == 0
}

// newTensor returns the tensor of (storage, offset, shape, stride, requires_grad, hooks).
func newTensor(arguments []value) value {
	of, isStorage := arguments[0].(storage)
	offset, isOffset := arguments[1].(int64)
	_, isGrad := arguments[4].(bool)
	if !isStorage || !isOffset || !isGrad || !isHooks(arguments[5]) {
		refuse("a tensor is not described as torch.save does")
	}
	// The shape must not need more numbers than the storage has.
	shape, err := integers(arguments[2])
	if err != nil {
		refuse("the shape of a tensor of storage %s: %w", of.key, err)
	}
	stride, err := integers(arguments[3])
	if err != nil || len(stride) != len(shape) {
		refuse("the strides of a tensor of storage %s do not fit its shape", of.key)
	}
	t := &stored{storage: of, offset: offset, count: 1}
	if slices.Contains(shape, 0) {
		t.count = 0
	}
	for _, n := range shape {
		if n > 0 && t.count > of.count/n {
			refuse("a tensor of shape %v needs more than the %d numbers of storage %s", shape, of.count, of.key)
		}
		t.count *= n
		t.shape = append(t.shape, int(n))
	}
	if offset < 0 || t.count > of.count || offset > of.count-t.count {
		refuse("a tensor of shape %v at %d does not fit into storage %s of %d numbers", shape, offset, of.key, of.count)
	}
	// Nothing overflows: the products are at most the number of elements.
	step := int64(1)
	for i := len(shape) - 1; i >= 0 && t.count > 0; i-- {
		if shape[i] != 1 && stride[i] != step {
			refuse("a tensor of shape %v in storage %s is not row-major: save its contiguous()", shape, of.key)
		}
		step *= shape[i]
	}
	return t
}

// integers returns the numbers of a tuple, none of them negative.
func integers(v value) ([]int64, error) {
	t, ok := v.(*sequence)
	if !ok || t.list || len(t.items) > maxDepth {
		return nil, errors.New("it is no short tuple")
	}
	numbers := make([]int64, len(t.items))
	for i, item := range t.items {
		n, ok := item.(int64)
		if !ok || n < 0 {
			return nil, errors.New("it is no tuple of sizes")
		}
		numbers[i] = n
	}
	return numbers, nil
}

// modelKey is the key of the file's dict under which programs keep the state_dict beside the optimizer's state.
const modelKey = "model"

// StateDict returns the tensors of the dict that stands under the key model of the file's dict, in their order, or
// the tensors of the file's dict itself if it lacks the key. Their Data is nil.
func (f *File) StateDict() ([]Tensor, error) {
	d, ok := f.root.(*dict)
	if !ok {
		return nil, errors.New("it holds no state_dict: save torch.save(model.state_dict(), file)")
	}
	where := ""
	if at, found := d.texts[modelKey]; found {
		if d, ok = d.values[at].(*dict); !ok {
			return nil, fmt.Errorf("its %q is no state_dict", modelKey)
		}
		where = fmt.Sprintf("its %q: ", modelKey)
	}
	var tensors []Tensor
	for i, k := range d.keys {
		name, isText := k.(string)
		tensor, isTensor := d.values[i].(*stored)
		switch {
		case !isText:
			return nil, fmt.Errorf("%sa key of the state_dict is no text", where)
		case !isTensor:
			return nil, fmt.Errorf("%s%.80q is no tensor: save torch.save(model.state_dict(), file)", where, name)
		}
		tensors = append(tensors, Tensor{Name: name, Shape: tensor.shape, Type: tensor.storage.kind.name, stored: tensor})
	}
	return tensors, nil
}

// Load reads the Data of tensors of the file's state_dict. It is an error if two of them share numbers, or a number
// is not finite.
func (f *File) Load(tensors []Tensor) error {
	byStorage := map[string][]*Tensor{}
	var keys []string
	for i := range tensors {
		key := tensors[i].stored.storage.key
		if byStorage[key] == nil {
			keys = append(keys, key)
		}
		byStorage[key] = append(byStorage[key], &tensors[i])
	}
	for _, key := range keys {
		if err := f.loadStorage(byStorage[key]); err != nil {
			return err
		}
	}
	return nil
}

func (f *File) loadStorage(tensors []*Tensor) error {
	slices.SortStableFunc(tensors, func(a, b *Tensor) int {
		return slices.Compare([]int64{a.stored.offset, a.stored.count}, []int64{b.stored.offset, b.stored.count})
	})
	// All tensors must describe the storage alike and take different numbers of it.
	first, end := tensors[0].stored.storage, int64(0)
	for i, t := range tensors {
		s := t.stored
		switch {
		case s.storage.kind.name != first.kind.name || s.storage.count != first.count:
			return fmt.Errorf("tensors %.80q and %.80q describe storage %s in different ways", tensors[i-1].Name, t.Name, first.key)
		case first.kind.float == nil:
			return fmt.Errorf("tensor %.80q is of type %s, want floating-point numbers", t.Name, t.Type)
		case s.offset < end:
			return fmt.Errorf("tensors %.80q and %.80q share numbers of storage %s: save clones of them", tensors[i-1].Name, t.Name, first.key)
		}
		end = max(end, s.offset+s.count)
	}
	// The storage is read once and converted to float32.
	data, err := f.storage(first)
	if err != nil {
		return err
	}
	for _, t := range tensors {
		t.Data = make([]float32, t.stored.count)
		from := data[t.stored.offset*first.kind.width:]
		for i := range t.Data {
			v := first.kind.float(from[int64(i)*first.kind.width:])
			if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
				return fmt.Errorf("tensor %.80q has a number that is not finite (%v, the %s)", t.Name, v, ordinal(i+1))
			}
			t.Data[i] = v
		}
	}
	return nil
}

// ordinal returns a number's rank in words.
func ordinal(n int) string {
	ending := "th"
	if tens := n / 10 % 10; tens != 1 && n%10 <= 3 {
		ending = []string{"th", "st", "nd", "rd"}[n%10]
	}
	return fmt.Sprint(n, ending)
}

// storage reads the entry of a storage.
func (f *File) storage(s storage) ([]byte, error) {
	entry := "data/" + s.key
	file := f.entries[entry]
	if file == nil {
		return nil, fmt.Errorf("its archive has no entry %s", entry)
	}
	if size := uint64(s.count * s.kind.width); file.UncompressedSize64 != size {
		return nil, fmt.Errorf("its entry %s has %d bytes, want %d for %d numbers of type %s", entry, file.UncompressedSize64, size, s.count, s.kind.name)
	}
	return f.read(entry, math.MaxInt64)
}
