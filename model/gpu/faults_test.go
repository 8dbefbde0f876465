package gpu

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tagnet/model/configuration"
	"tagnet/model/device"
	"tagnet/model/device/interpreter"
	"tagnet/model/gpu/internal/mirror"
	"tagnet/model/gpu/kernels"
)

// fault is one planted in the launches of a kernel: PTX without a barrier, or a larger bound in what the kernel reads.
type fault struct {
	kernel, what string
	ptx          string
	enlarge      enlarge
	found        string // how, once it is
	tries        int
}

func (f *fault) String() string { return f.kernel + ": " + f.what }

// enlarge makes a bound larger by one on a device, or among the arguments of a launch. undo makes the memory what it was.
type enlarge func(l *launch, d *interpreter.Device) (undo func())

// trial is a launch with a fault, on a device as it was before the launch without it.
type trial struct {
	*fault
	launch launch
	device *interpreter.Device
}

// maxTries is the number of launches at which a fault is tried on a device.
const maxTries = 6

// trials returns those of a kernel's faults that no earlier launch found.
func (l launch) trials() (trials []trial) {
	for _, f := range l.device.faults {
		if f.kernel != l.name || f.found != "" || f.tries == maxTries {
			continue
		}
		f.tries++
		trials = append(trials, trial{f, l, l.device.Device.Clone()})
	}
	return trials
}

// run launches with the fault and looks for it, once package mirror has computed the launch without it.
func (t trial) run() {
	err := t.launchWithFault()
	if err == nil {
		err = t.launch.device.compare(t.launch, t.device)
	}
	if err != nil {
		t.found = err.Error()
	}
}

func (t trial) launchWithFault() error {
	l := t.launch
	if t.enlarge != nil {
		defer t.enlarge(&l, t.device)()
	} else {
		loaded, err := t.device.Load(t.ptx, t.fault.kernel)
		if err != nil {
			panic(err)
		}
		l.kernel = loaded[0]
	}
	return t.device.Launch(l.kernel, l.blocks, l.threads, l.arguments...)
}

var (
	entries = regexp.MustCompile(`(?s)\.visible \.entry (\w+)\(.*?\n}\n`)
	barrier = regexp.MustCompile(`\tbar\.sync [^;]*;`)
)

// withoutBarriers returns all kernels without one of their barriers each.
func withoutBarriers(t *testing.T, dim int, message string) (all []*fault) {
	t.Helper()
	for _, source := range kernels.Sources {
		ptx, err := kernels.Source(source, dim, message)
		if err != nil {
			t.Fatal(err)
		}
		header := ptx[:strings.Index(ptx, ".visible .entry")]
		for _, match := range entries.FindAllStringSubmatch(ptx, -1) {
			for i, at := range barrier.FindAllStringIndex(match[0], -1) {
				all = append(all, &fault{kernel: match[1], what: fmt.Sprintf("without barrier %d", i), ptx: header + match[0][:at[0]] + match[0][at[1]:]})
			}
		}
	}
	return all
}

// count enlarges a number of the batch.
func count(name string) enlarge {
	return func(l *launch, d *interpreter.Device) func() {
		b := &view[batch](l.pointer(0), d)[0]
		field := reflect.ValueOf(b).Elem().FieldByName(name)
		field.SetInt(field.Int() + 1)
		return func() { field.SetInt(field.Int() - 1) }
	}
}

// view returns the values of a device's memory at an address.
func view[T any](p device.Pointer, d *interpreter.Device) []T {
	const offset = 1<<40 - 1 // buffers of an interpreter begin at multiples
	data, _, err := d.Buffer(p &^ offset)
	if err != nil {
		panic(err)
	}
	return typed[T](data[p&offset:])
}

// add adds to some of the values at an address.
func add(p device.Pointer, d *interpreter.Device, from, to int) func() {
	values := view[int32](p, d)[from:to]
	by := func(n int32) {
		for i := range values {
			values[i] += n
		}
	}
	by(1)
	return func() { by(-1) }
}

// bounds are what kernels read as bounds, one larger.
var bounds = map[string]enlarge{
	"batch": count("Batch"), "entities": count("Entities"), "layers": count("Layers"), "relations": count("RelationCount"),
	"heavy entities": count("HeavyCount"), "ages": count("Ages"), "parts": count("Parts"), "pieces": count("Pieces"),
	"offsets": func(l *launch, d *interpreter.Device) func() {
		b := view[batch](l.pointer(0), d)[0]
		return add(b.Offsets, d, 1, int(b.Entities)+1)
	},
	"rows of the layer": func(l *launch, d *interpreter.Device) func() {
		b, t := view[batch](l.pointer(0), d)[0], l.integer(1)
		return add(b.RowBegin, d, t+1, t+2)
	},
	"degrees": count("Degrees"),
	"spans": func(l *launch, d *interpreter.Device) func() {
		return add(view[batch](l.pointer(0), d)[0].SpanCounts, d, l.integer(1)-1, l.integer(1))
	},
	"rows of all layers": func(l *launch, d *interpreter.Device) func() {
		b := view[batch](l.pointer(0), d)[0]
		return add(b.RowBegin, d, int(b.Layers)+1, int(b.Layers)+2)
	},
	"rows of a query": func(l *launch, d *interpreter.Device) func() {
		b := view[batch](l.pointer(0), d)[0]
		return add(b.Counts, d, 0, 2*int((b.Layers+1)*b.Batch))
	},
	"slots of a piece": func(l *launch, d *interpreter.Device) func() {
		b := view[batch](l.pointer(0), d)[0]
		return add(b.PieceBegin, d, 1, int(b.Pieces)+1)
	},
	"pieces of a relation": func(l *launch, d *interpreter.Device) func() {
		b := view[batch](l.pointer(0), d)[0]
		return add(b.RelationPieces, d, 1, int(b.RelationCount)+1)
	},
	"edges of a row": func(l *launch, d *interpreter.Device) func() {
		rows := view[mirror.Row](view[batch](l.pointer(0), d)[0].Rows, d)
		by := func(n int32) {
			for i := range rows {
				rows[i].End += n
			}
		}
		by(1)
		return func() { by(-1) }
	},
	"candidates": func(l *launch, d *interpreter.Device) func() {
		b := view[batch](l.pointer(0), d)[0]
		queries := view[encodedQuery](b.Queries, d)[:b.Batch]
		by := func(n int32) {
			for i := range queries {
				queries[i].Candidates += n
			}
		}
		by(1)
		return func() { by(-1) }
	},
	"members": func(l *launch, d *interpreter.Device) func() {
		b := view[batch](l.pointer(0), d)[0]
		queries := view[encodedQuery](b.Queries, d)[:b.Batch]
		by := func(n int32) {
			for i := range queries {
				queries[i].Members += n
			}
		}
		by(1)
		return func() { by(-1) }
	},
	"known answers": func(l *launch, d *interpreter.Device) func() {
		return add(l.pointer(2), d, 1, int(view[batch](l.pointer(0), d)[0].Batch)+1)
	},
	"argument": func(l *launch, d *interpreter.Device) func() {
		l.arguments = slices.Clone(l.arguments)
		l.arguments[1] = l.arguments[1].(int32) + 1
		return func() {}
	},
}

// boundsOf has the bounds of each kernel. Not listed are mlp_query, which reads one partial sum more only where a query's candidates fill
// their last one, mlp_embedding and start_states, whose blocks compute a query with a thread for each value, update and feature_gradients,
// to which a strip more is empty, and mlp_arrange and empty_gradients, which faults are not tried with; nor is a query more of
// project_backward and project_states, whose tables no base relation has.
var boundsOf = map[string][]string{
	"confine_start":       {"batch", "entities"},
	"confine":             {"members"},
	"search_start":        {"batch", "entities"},
	"search_first":        {"offsets"},
	"search_pack":         {"batch", "entities"},
	"search_next":         {"entities", "offsets"},
	"activate_all":        {"batch", "layers"},
	"activate_candidates": {"candidates"},
	"activate_senders":    {"batch", "offsets"},
	"rows_count":          {"entities"},
	"rows_start":          {"batch", "layers"},
	"rows_write":          {"entities", "heavy entities"},
	"strips_count":        {"batch", "layers", "entities"},
	"strips_start":        {"entities", "degrees"},
	"strips_write":        {"batch", "layers"},
	"draw_masks":          {"rows of all layers"},
	"embed":               {"batch", "layers"},
	"arrange":             {"layers"},
	"mlp_shift":           {"batch"},
	"aggregate":           {"rows of the layer", "edges of a row"},
	"count_sent":          {"rows of a query"},
	"attend":              {"batch", "candidates", "ages"},
	"score":               {"batch", "candidates"},
	"loss":                {"candidates"},
	"score_backward":      {"batch", "candidates"},
	"attend_backward":     {"batch", "candidates", "ages"},
	"mlp_partial":         {"candidates"},
	"mlp_sum":             {"batch"},
	"state_gradients":     {"rows of the layer", "edges of a row"},
	"message_extremes":    {"rows of the layer", "edges of a row"},
	"relation_partial":    {"batch", "pieces", "slots of a piece"},
	"relation_sum":        {"batch", "pieces of a relation"},
	"weight_partial":      {"spans"},
	"weight_sum":          {"spans"},
	"vector_partial":      {"rows of the layer"},
	"vector_sum":          {"parts"},
	"relation_parameters": {"batch", "layers"},
	"relation_map":        {"batch", "layers"},
	"relation_query":      {"layers"},
	"query_gradients":     {"layers", "argument"},
	"project":             {"argument", "layers"},
	"project_backward":    {"argument", "layers"},
	"project_states":      {"argument", "layers"},
	"project_weights":     {"argument"},
	"project_sum":         {"argument", "layers"},
	"query_parameters":    {"batch", "relations"},
	"check_finite":        {"argument"},
	"adam":                {"argument"},
	"check_scores":        {"entities"},
	"rank":                {"entities", "known answers"},
	"best":                {"entities", "argument"},
}

// withLargerBounds returns all kernels with each of their bounds one larger.
func withLargerBounds() (all []*fault) {
	for _, kernel := range slices.Sorted(maps.Keys(boundsOf)) {
		for _, what := range boundsOf[kernel] {
			all = append(all, &fault{kernel: kernel, what: what + " + 1", enlarge: bounds[what]})
		}
	}
	return all
}

// needless are the barriers that no launch needs: before them the block has not used the shared memory behind them.
var needless = map[string]bool{
	"loss: without barrier 0":         true, // the first of the three reductions
	"check_scores: without barrier 0": true, // the only sum
	"rank: without barrier 0":         true, // the first of the three sums
}

// TestPlantedFaults plants faults in the kernels and checks that the interpreter or the comparison with package mirror finds them.
// Blocks take all of their elements in turn, so that barriers between the turns matter.
func TestPlantedFaults(t *testing.T) {
	t.Parallel()
	t.Run("dim 32", func(t *testing.T) {
		t.Parallel()
		plantFaults(t, 32, append(withoutBarriers(t, 32, configuration.MessageDistMult), withLargerBounds()...))
	})
	t.Run("dim 64", func(t *testing.T) { // bounds are the same
		t.Parallel()
		plantFaults(t, 64, withoutBarriers(t, 64, configuration.MessageDistMult))
	})
}

// plantFaults tries faults in the scenarios of a dimension, until all but the needless barriers are found.
func plantFaults(t *testing.T, dim int, all []*fault) {
	t.Helper()
	for _, s := range scenarios(t) {
		left := slices.DeleteFunc(slices.Clone(all), func(f *fault) bool { return f.found != "" })
		if paddedDim(s.configuration.Dim) != dim || s.configuration.Message != configuration.MessageDistMult || len(left) == len(needless) {
			continue
		}
		for _, f := range left {
			f.tries = 0
		}
		train, score := newCheckedDevice(s.configuration, ordered...), newCheckedDevice(s.configuration, ordered...)
		for _, d := range []*checkedDevice{train, score} {
			d.blocks, d.faults = 1, left
		}
		if err := errors.Join(s.train(train, 1), s.score(t, score)); err != nil {
			t.Error(err)
		}
	}
	for _, f := range all {
		if found := f.found != ""; found == needless[f.String()] {
			t.Errorf("%s: found is %t, want %t", f, found, !found)
		}
		t.Logf("%s: %s", f, f.found)
	}
}
