package gpu

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"tagnet/model/configuration"
	"tagnet/model/device"
	"tagnet/model/device/interpreter"
	"tagnet/model/gpu/internal/mirror"
	"tagnet/model/gpu/kernels"
)

// checkedDevice is an interpreter that compares each launch with package mirror: all memory, bit for bit. What nothing has written has
// equal bytes on both sides, so that a value that only one of them writes is found too.
type checkedDevice struct {
	*interpreter.Device
	dim      int // of the kernels
	message  int // of the current launch, as package mirror numbers them
	messages map[device.Kernel]int
	names    map[device.Kernel]string
	buffers  []buffered
	launches map[string]int // by kernel
	faults   []*fault       // tried at the launches of their kernels
	blocks   int            // the most of a kernel that takes its elements in turn, 0 for as many as the engine starts
}

// buffered is a buffer as the functions of package mirror have it.
type buffered struct {
	at   device.Pointer
	data []byte
}

// launch is one of a kernel.
type launch struct {
	device    *checkedDevice
	name      string
	kernel    device.Kernel
	blocks    int
	threads   int
	arguments []any
}

func newCheckedDevice(c configuration.Configuration, options ...interpreter.Option) *checkedDevice {
	return &checkedDevice{
		Device: interpreter.New(options...), dim: paddedDim(c.Dim), messages: map[device.Kernel]int{},
		names: map[device.Kernel]string{}, launches: map[string]int{},
	}
}

func (d *checkedDevice) Load(ptx string, names ...string) ([]device.Kernel, error) {
	loaded, err := d.Device.Load(ptx, names...)
	for i, k := range loaded {
		d.names[k], d.messages[k] = names[i], d.messageOf(ptx)
	}
	return loaded, err
}

// messageOf returns the message function that a source is compiled for, the first one where it does not matter.
func (d *checkedDevice) messageOf(ptx string) int {
	return slices.IndexFunc(kernels.Messages, func(message string) bool {
		return slices.ContainsFunc(kernels.Sources, func(source string) bool {
			text, err := kernels.Source(source, d.dim, message)
			return err == nil && text == ptx
		})
	})
}

func (d *checkedDevice) Allocate(size int64) (device.Pointer, error) {
	p, err := d.Device.Allocate(size)
	if err != nil {
		return 0, err
	}
	data, _, err := d.Device.Buffer(p)
	for i := range data {
		data[i] = 0xa5
	}
	d.buffers = append(d.buffers, buffered{p, bytes.Clone(data)})
	return p, err
}

func (d *checkedDevice) Free(p device.Pointer) error {
	for i, b := range d.buffers {
		if b.at == p {
			d.buffers = append(d.buffers[:i], d.buffers[i+1:]...)
			break
		}
	}
	return d.Device.Free(p)
}

// memory returns the bytes from an address to the end of its buffer, as the functions of package mirror have them.
func (d *checkedDevice) memory(p device.Pointer) []byte {
	for _, b := range d.buffers {
		if p >= b.at && p < b.at.Offset(int64(len(b.data))) {
			return b.data[p-b.at:]
		}
	}
	return nil
}

func (d *checkedDevice) CopyIn(to device.Pointer, from []byte) error {
	copy(d.memory(to), from)
	return d.Device.CopyIn(to, from)
}

func (d *checkedDevice) Clear(at device.Pointer, size int64) error {
	if size > 0 {
		clear(d.memory(at)[:size])
	}
	return d.Device.Clear(at, size)
}

// Launch runs a kernel, and its function, and returns an error that names the first value that differs.
func (d *checkedDevice) Launch(k device.Kernel, blocks, threads int, arguments ...any) error {
	d.message = d.messages[k]
	l := launch{d, d.names[k], k, blocks, threads, arguments}
	if d.blocks > 0 && inTurn[l.name] {
		l.blocks = min(l.blocks, d.blocks)
	}
	if d.blocks > 0 && forRows[l.name] {
		heavy := min(l.integer(2), d.blocks)
		l.arguments = []any{arguments[0], arguments[1], int32(heavy)}
		l.blocks = heavy + min(blocks-int(arguments[2].(int32)), d.blocks)
	}
	d.launches[l.name]++
	trials := l.trials()
	if err := d.Device.Launch(k, l.blocks, threads, l.arguments...); err != nil {
		return err
	}
	l.compute()
	for _, t := range trials {
		t.run()
	}
	return d.compare(l, d.Device)
}

// compute runs the function of a kernel on the memory of package mirror.
func (l launch) compute() {
	b := l.device.batch(l.pointer(0))
	compute, ok := functions[l.name]
	if !ok {
		panic("package mirror has no kernel " + l.name)
	}
	compute(b, l)
}

// integer returns an argument, of which 0 is the batch.
func (l launch) integer(i int) int { return int(l.arguments[i].(int32)) }

func (l launch) pointer(i int) device.Pointer { return l.arguments[i].(device.Pointer) }

// argument returns the values that an argument points to.
func argument[T any](l launch, i int) []T { return typed[T](l.device.memory(l.pointer(i))) }

func typed[T any](data []byte) []T {
	var zero T
	if len(data) == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&data[0])), len(data)/int(unsafe.Sizeof(zero)))
}

// batch returns the batch at an address, with the memory of package mirror.
func (d *checkedDevice) batch(p device.Pointer) *mirror.Batch {
	from := reflect.ValueOf(typed[batch](d.memory(p))[0])
	b := &mirror.Batch{Dim: d.dim, Message: d.message}
	to := reflect.ValueOf(b).Elem()
	for i := 2; i < to.NumField(); i++ { // all but Dim and Message
		field := to.Type().Field(i)
		value := from.FieldByName(field.Name)
		switch field.Type.Kind() {
		case reflect.Slice:
			data := d.memory(device.Pointer(value.Uint()))
			if len(data) > 0 {
				n := len(data) / int(field.Type.Elem().Size())
				to.Field(i).Set(reflect.SliceAt(field.Type.Elem(), unsafe.Pointer(&data[0]), n))
			}
		case reflect.Bool:
			to.Field(i).SetBool(value.Int() != 0)
		case reflect.Int:
			to.Field(i).SetInt(value.Int())
		default:
			to.Field(i).Set(value)
		}
	}
	return b
}

// compare compares the memory of a device with that of package mirror, after a launch.
func (d *checkedDevice) compare(l launch, with *interpreter.Device) error {
	for _, b := range d.buffers {
		data, _, err := with.Buffer(b.at)
		if err != nil {
			return err
		}
		if !bytes.Equal(data, b.data) {
			return d.difference(l, b, data)
		}
	}
	return nil
}

// difference returns an error that names the first value that differs from that of package mirror.
func (d *checkedDevice) difference(l launch, want buffered, got []byte) error {
	names := reflect.ValueOf(typed[batch](d.memory(l.pointer(0)))[0])
	to := reflect.ValueOf(d.batch(l.pointer(0))).Elem()
	for i := range names.NumField() {
		name := names.Type().Field(i).Name
		if names.Field(i).Kind() != reflect.Uint64 || device.Pointer(names.Field(i).Uint()) != want.at {
			continue
		}
		element := reflect.TypeFor[float32]()
		if field, ok := to.Type().FieldByName(name); ok {
			element = field.Type.Elem()
		}
		size := int(element.Size())
		for at := 0; at+size <= len(got); at += size {
			if g, w := got[at:at+size], want.data[at:at+size]; !bytes.Equal(g, w) {
				value := func(data []byte) any { return reflect.NewAt(element, unsafe.Pointer(&data[0])).Elem() }
				return fmt.Errorf("%s%v: %s[%d] is %v (%x), want %v (%x)", l.name, l.arguments[1:], name, at/size, value(g), g, value(w), w)
			}
		}
	}
	return fmt.Errorf("%s%v: the buffer at %#x differs", l.name, l.arguments[1:], uint64(want.at))
}

// inTurn has the kernels whose blocks take elements in turn: results do not depend on the number of blocks.
var inTurn = map[string]bool{
	"search_next": true, "activate_senders": true, "draw_masks": true, "embed": true, "arrange": true,
	"update": true, "attend": true, "score": true,
	"score_backward": true, "attend_backward": true, "relation_partial": true, "relation_sum": true,
	"feature_gradients": true, "relation_map": true, "project": true, "project_backward": true, "project_states": true, "check_finite": true, "adam": true,
}

// forRows has the kernels whose first blocks take the rows of heavy entities in turn, and the others those of light ones.
var forRows = map[string]bool{"aggregate": true, "state_gradients": true, "message_extremes": true, "empty_gradients": true}

// functions maps the name of a kernel to its function in package mirror.
var functions = map[string]func(b *mirror.Batch, l launch){
	"confine_start":       func(b *mirror.Batch, l launch) { b.ConfineStart() },
	"confine":             func(b *mirror.Batch, l launch) { b.Confine() },
	"search_start":        func(b *mirror.Batch, l launch) { b.SearchStart() },
	"search_first":        func(b *mirror.Batch, l launch) { b.SearchFirst() },
	"search_pack":         func(b *mirror.Batch, l launch) { b.SearchPack() },
	"search_next":         func(b *mirror.Batch, l launch) { b.SearchNext(l.integer(1)) },
	"activate_all":        func(b *mirror.Batch, l launch) { b.ActivateAll() },
	"activate_candidates": func(b *mirror.Batch, l launch) { b.ActivateCandidates() },
	"activate_senders":    func(b *mirror.Batch, l launch) { b.ActivateSenders(l.integer(1)) },
	"rows_count":          func(b *mirror.Batch, l launch) { b.RowsCount() },
	"rows_start":          func(b *mirror.Batch, l launch) { b.RowsStart() },
	"rows_write":          func(b *mirror.Batch, l launch) { b.RowsWrite() },
	"strips_count":        func(b *mirror.Batch, l launch) { b.StripsCount() },
	"strips_start":        func(b *mirror.Batch, l launch) { b.StripsStart() },
	"strips_write":        func(b *mirror.Batch, l launch) { b.StripsWrite() },
	"draw_masks":          func(b *mirror.Batch, l launch) { b.DrawMasks(l.integer(2)) },
	"project": func(b *mirror.Batch, l launch) {
		b.Project(l.integer(1), argument[float32](l, 2), argument[int32](l, 3), argument[float32](l, 4), argument[float32](l, 5))
	},
	"project_backward": func(b *mirror.Batch, l launch) {
		b.ProjectBackward(l.integer(1), argument[float32](l, 2), argument[float32](l, 3), argument[float32](l, 4))
	},
	"project_states": func(b *mirror.Batch, l launch) {
		b.ProjectStates(l.integer(1), argument[float32](l, 2), argument[float32](l, 3))
	},
	"project_weights": func(b *mirror.Batch, l launch) {
		b.ProjectWeights(l.integer(1), argument[float32](l, 2), argument[float32](l, 3), argument[float32](l, 4), argument[float32](l, 5), argument[float32](l, 6))
	},
	"project_sum":         func(b *mirror.Batch, l launch) { b.ProjectSum(l.integer(1), argument[float32](l, 2)) },
	"embed":               func(b *mirror.Batch, l launch) { b.Embed() },
	"arrange":             func(b *mirror.Batch, l launch) { b.Arrange() },
	"mlp_arrange":         func(b *mirror.Batch, l launch) { b.MLPArrange() },
	"mlp_shift":           func(b *mirror.Batch, l launch) { b.MLPShift(l.blocks / b.Batch) },
	"aggregate":           func(b *mirror.Batch, l launch) { b.Aggregate(l.integer(1)) },
	"count_sent":          func(b *mirror.Batch, l launch) { b.CountSent() },
	"score":               func(b *mirror.Batch, l launch) { b.Score() },
	"attend":              func(b *mirror.Batch, l launch) { b.Attend() },
	"loss":                func(b *mirror.Batch, l launch) { b.Loss() },
	"score_backward":      func(b *mirror.Batch, l launch) { b.ScoreBackward() },
	"attend_backward":     func(b *mirror.Batch, l launch) { b.AttendBackward() },
	"mlp_partial":         func(b *mirror.Batch, l launch) { b.MLPPartial(l.integer(1) != 0) },
	"mlp_query":           func(b *mirror.Batch, l launch) { b.MLPQuery(l.integer(1) != 0) },
	"mlp_sum":             func(b *mirror.Batch, l launch) { b.MLPSum(l.integer(1) != 0, l.integer(2) != 0) },
	"mlp_embedding":       func(b *mirror.Batch, l launch) { b.MLPEmbedding(l.integer(1) != 0) },
	"state_gradients":     func(b *mirror.Batch, l launch) { b.StateGradients(l.integer(1)) },
	"empty_gradients":     func(b *mirror.Batch, l launch) { b.EmptyGradients(l.integer(1)) },
	"message_extremes":    func(b *mirror.Batch, l launch) { b.MessageExtremes(l.integer(1)) },
	"relation_partial":    func(b *mirror.Batch, l launch) { b.RelationPartial(l.integer(1)) },
	"relation_sum":        func(b *mirror.Batch, l launch) { b.RelationSum() },
	"update":              func(b *mirror.Batch, l launch) { b.Update(l.integer(1)) },
	"start_states":        func(b *mirror.Batch, l launch) { b.StartStates() },
	"feature_gradients":   func(b *mirror.Batch, l launch) { b.SetFeatureGradients(l.integer(1)) },
	"weight_partial":      func(b *mirror.Batch, l launch) { b.WeightPartial(l.integer(1)) },
	"weight_sum":          func(b *mirror.Batch, l launch) { b.WeightSum(l.integer(1)) },
	"vector_partial":      func(b *mirror.Batch, l launch) { b.VectorPartial(l.integer(1)) },
	"vector_sum":          func(b *mirror.Batch, l launch) { b.VectorSum(l.integer(1)) },
	"relation_parameters": func(b *mirror.Batch, l launch) { b.RelationParameters() },
	"relation_map":        func(b *mirror.Batch, l launch) { b.RelationMap() },
	"relation_query":      func(b *mirror.Batch, l launch) { b.RelationQuery() },
	"query_gradients":     func(b *mirror.Batch, l launch) { b.AddQueryGradients(l.integer(1)) },
	"query_parameters":    func(b *mirror.Batch, l launch) { b.QueryParameters() },
	"check_finite":        func(b *mirror.Batch, l launch) { b.CheckFinite(l.integer(1)) },
	"adam": func(b *mirror.Batch, l launch) {
		n, scalar := l.integer(1), func(i int) float32 { return l.arguments[i].(float32) }
		b.Adam(argument[float32](l, 2)[:n], argument[float32](l, 3)[:n], argument[float32](l, 4)[:n],
			mirror.AdamStep{Decay: scalar(5), OneMinusBeta1: scalar(6), Beta2: scalar(7), OneMinusBeta2: scalar(8), StepSize: scalar(9), Correction: scalar(10), Epsilon: scalar(11), Keep: scalar(12)})
	},
	"check_scores": func(b *mirror.Batch, l launch) { b.CheckScores(argument[int32](l, 1)) },
	"rank": func(b *mirror.Batch, l launch) {
		b.Rank(argument[mirror.Answer](l, 1)[:l.blocks], argument[int32](l, 2), argument[int32](l, 3), argument[int32](l, 4))
	},
	"best": func(b *mirror.Batch, l launch) { b.Best(l.integer(1), argument[int32](l, 2)) },
}
