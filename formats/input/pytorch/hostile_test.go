package pytorch

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"runtime"
	"strings"
	"testing"
)

// program assembles a pickle of strings, bytes and numbers of instructions.
func program(parts ...any) []byte {
	code := []byte{protocol, 2}
	for _, part := range parts {
		switch part := part.(type) {
		case string:
			code = append(code, part...)
		case []byte:
			code = append(code, part...)
		case int:
			code = append(code, byte(part))
		case rune:
			code = append(code, byte(part))
		default:
			panic(fmt.Sprintf("%T", part))
		}
	}
	return code
}

// text is the instruction of a text.
func text(s string) []byte {
	return append(binary.LittleEndian.AppendUint32([]byte{binUnicode}, uint32(len(s))), s...)
}

// number is the instruction of an integer.
func number(n int64) []byte {
	return binary.LittleEndian.AppendUint64([]byte{long1, 8}, uint64(n))
}

// numbers is a tuple.
func numbers(list ...int64) []byte {
	code := []byte{mark}
	for _, n := range list {
		code = append(code, number(n)...)
	}
	return append(code, tuple)
}

// storageOf is a storage, tensorOf a tensor of it.
func storageOf(kind, key string, count int64) []byte {
	return bytes.Join([][]byte{{mark}, text("storage"), []byte("ctorch\n" + kind + "\n"), text(key), text("cpu"), number(count), {tuple, binPersID}}, nil)
}

func tensorOf(storage []byte, offset int64, shape, stride []byte) []byte {
	return bytes.Join([][]byte{
		[]byte("ctorch._utils\n_rebuild_tensor_v2\n"), {mark}, storage, number(offset), shape, stride, {newFalse},
		[]byte("ccollections\nOrderedDict\n)R"), {tuple, reduce},
	}, nil)
}

// checkpoint is a dict of one tensor w.
func checkpoint(tensor []byte) []byte {
	return program("}", text("w"), tensor, "s.")
}

// entry is an entry of an archive; method and size are the zip's, of which the size may be a lie.
type entry struct {
	name   string
	data   []byte
	method uint16
}

// archive writes a zip archive as torch.save does.
func archive(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		into, err := w.CreateHeader(&zip.FileHeader{Name: e.name, Method: e.method})
		if err == nil {
			_, err = into.Write(e.data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// around writes the archive of a pickle with a storage of 16 bytes and further entries.
func around(t testing.TB, pickle []byte, more ...entry) []byte {
	t.Helper()
	return archive(t, append([]entry{{name: "a/data.pkl", data: pickle}, {name: "a/data/0", data: make([]byte, 16)}}, more...)...)
}

var good = checkpoint(tensorOf(storageOf("FloatStorage", "0", 4), 0, numbers(2, 2), numbers(2, 1)))

func TestRefusesPickles(t *testing.T) {
	t.Parallel()
	if tensors, err := load(around(t, good)); err != nil || len(tensors) != 1 || len(tensors[0].Data) != 4 {
		t.Fatalf("what the others are variants of: %v, %v", tensors, err)
	}
	four := storageOf("FloatStorage", "0", 4)
	self := program("}", "q\x00", text("w"), "h\x00", "s.")
	for name, c := range map[string]struct {
		pickle []byte
		want   string
	}{
		"system call":          {program("cposix\nsystem\n", text("true"), tuple1, reduce, "."), `the global "posix.system" is refused`},
		"hidden global":        {program("cbuiltins\neval\n", "0", "N."), `the global "builtins.eval" is refused`},
		"stack global":         {program(text("posix"), text("system"), 0x93, "."), "STACK_GLOBAL is refused"},
		"object":               {program("i", "posix\nsystem\n", "."), "INST is refused"},
		"new object":           {program("N)", 0x81, "."), "NEWOBJ is refused"},
		"extension":            {program(0x82, 1, "."), "EXT1 is refused"},
		"persistent text":      {program("P0\n."), "PERSID is refused"},
		"unknown instruction":  {program(0xff, "."), "instruction 0xff is not known"},
		"endless global":       {program("c", strings.Repeat("a", 1000), "\n."), "a global without an end"},
		"global of no line":    {program("ctorch"), "a global without an end"},
		"no end":               {program("}"), "it has no end"},
		"cut text":             {program(binUnicode, "\xff\xff\xff\x7f", "abc"), "a text of 2147483647 bytes is longer than the file"},
		"cut number":           {program("J\x01"), "it ends in an instruction"},
		"long number":          {program(long1, 9, strings.Repeat("\x01", 9), "."), "an integer of 9 bytes"},
		"not UTF-8":            {program(text("\xff"), "."), "a text is not UTF-8"},
		"protocol":             {append([]byte{protocol, 5}, good[2:]...), "no pickle of protocol 2"},
		"empty":                {nil, "no pickle of protocol 2"},
		"more after the end":   {append(bytes.Clone(good), "N."...), "more bytes"},
		"two values":           {program("NN."), "it ends with 2 values"},
		"no value":             {program("."), "it ends with 0 values"},
		"mark left":            {program("N(."), "it ends with 1 values"},
		"empty stack":          {program(tuple2, "."), "a value is missing"},
		"below the mark":       {program("N(", tuple1, "."), "a value is missing"},
		"no mark":              {program("Nt."), "a mark is missing"},
		"marks":                {program(strings.Repeat("(", maxDepth+1), "."), "marks in one another"},
		"tuples in tuples":     {program(")", strings.Repeat("\x85", 1000), "."), "it holds no state_dict"},
		"lists in lists":       {program(strings.Repeat("]", 1001), strings.Repeat("a", 1000), "."), "it holds no state_dict"},
		"values":               {program(strings.Repeat("N", maxStack+1), "."), "more than 65536 values"},
		"memo":                 {program("Nr\x00\x00\x01\x00."), "at most 65536 are kept"},
		"memo not set":         {program("h\x00."), "value 0 of the memo is not set"},
		"dict in itself":       {self, `"w" is no tensor`},
		"set in a list":        {program("]", "NNs."), "in what is no dict"},
		"three of pairs":       {program("}(NNNu."), "in what is no dict, or not in pairs"},
		"append to a tuple":    {program(")", "Na."), "in what is no list|appended to what is no list"},
		"attributes of a list": {program("]}b."), "attributes are set on what is no dict"},
		"call of a text":       {program(text("x"), ")R."), "something else than a function"},
		"call of a type":       {program("ctorch\nFloatStorage\n", ")R."), "something else than a function"},
		"call without a tuple": {program("ccollections\nOrderedDict\n", "NR."), "without a tuple"},
		"ordered dict of more": {program("ccollections\nOrderedDict\n", "N", tuple1, "R."), "with other arguments"},
		"tensor of less":       {program("ctorch._utils\n_rebuild_tensor_v2\n", ")R."), "with other arguments"},
		"parameter of a text": {program("ctorch._utils\n_rebuild_parameter\n", text("x"), newTrue, "ccollections\nOrderedDict\n)R", tuple3, "R."),
			"with other arguments"},
		"no state_dict":    {program("N."), "it holds no state_dict"},
		"list":             {program("]."), "it holds no state_dict"},
		"model is no dict": {program("}", text("model"), "Ns."), `its "model" is no state_dict`},
		"number as key":    {program("}", "K\x01", tensorOf(four, 0, numbers(4), numbers(1)), "s."), "is no text"},
		"shared numbers": {program("}", text("v"), tensorOf(four, 0, numbers(4), numbers(1)), "s", text("w"), tensorOf(four, 0, numbers(4), numbers(1)),
			"s."), `tensors "v" and "w" share numbers of storage 0`},
		"two types": {program("}", text("v"), tensorOf(four, 0, numbers(2), numbers(1)), "s", text("w"),
			tensorOf(storageOf("DoubleStorage", "0", 2), 0, numbers(1), numbers(1)), "s."),
			"describe storage 0 in different ways"},
		"storage of a text": {checkpoint(tensorOf(text("0"), 0, numbers(4), numbers(1))), "a tensor is not described"},
		"storage of four":   {program(mark, text("storage"), tuple, binPersID, "."), "a storage is not described"},
		"storage of a dict": {checkpoint(tensorOf(program("ctorch\nFloatStorage\n", binPersID)[2:], 0, numbers(4), numbers(1))), "a storage is not described"},
		"path as key": {checkpoint(tensorOf(storageOf("FloatStorage", "../0", 4), 0, numbers(4), numbers(1))),
			`the storage "../0" is not named by a number`},
		"key with a zero": {checkpoint(tensorOf(storageOf("FloatStorage", "00", 4), 0, numbers(4), numbers(1))),
			`the storage "00" is not named by a number`},
		"no such storage": {checkpoint(tensorOf(storageOf("FloatStorage", "7", 4), 0, numbers(4), numbers(1))), "no entry data/7"},
		"huge storage":    {checkpoint(tensorOf(storageOf("FloatStorage", "0", 1<<60-1), 0, numbers(4), numbers(1))), "its entry data/0 has 16 bytes, want"},
		"overflowing bytes": {checkpoint(tensorOf(storageOf("DoubleStorage", "0", 1<<61+2), 0, numbers(4), numbers(1))),
			"storage 0 of 2305843009213693954 numbers"},
		"negative storage":   {checkpoint(tensorOf(storageOf("FloatStorage", "0", -4), 0, numbers(0), numbers(1))), "storage 0 of -4 numbers"},
		"small storage":      {checkpoint(tensorOf(storageOf("FloatStorage", "0", 3), 0, numbers(3), numbers(1))), "its entry data/0 has 16 bytes, want 12"},
		"huge shape":         {checkpoint(tensorOf(four, 0, numbers(1<<40, 1<<40), numbers(1<<40, 1))), "needs more than the 4 numbers of storage 0"},
		"out of range":       {checkpoint(tensorOf(four, 1, numbers(2, 2), numbers(2, 1))), "at 1 does not fit into storage 0 of 4 numbers"},
		"negative offset":    {checkpoint(tensorOf(four, -1, numbers(2), numbers(1))), "at -1 does not fit"},
		"overflowing offset": {checkpoint(tensorOf(four, 1<<63-1, numbers(2), numbers(1))), "does not fit"},
		"negative shape":     {checkpoint(tensorOf(four, 0, numbers(-2, -2), numbers(2, 1))), "the shape of a tensor of storage 0"},
		"shape of a list":    {checkpoint(tensorOf(four, 0, []byte("]"), numbers(1))), "the shape of a tensor of storage 0"},
		"repeated number":    {checkpoint(tensorOf(four, 0, numbers(4), numbers(0))), "not row-major"},
		"transposed":         {checkpoint(tensorOf(four, 0, numbers(2, 2), numbers(1, 2))), "not row-major"},
		"strides":            {checkpoint(tensorOf(four, 0, numbers(2, 2), numbers(1))), "the strides"},
	} {
		_, err := load(around(t, c.pickle))
		want, other, _ := strings.Cut(c.want, "|")
		if err == nil || !strings.Contains(err.Error(), want) && (other == "" || !strings.Contains(err.Error(), other)) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
		if err != nil && (strings.Contains(err.Error(), "\n") ||
			!strings.Contains(err.Error(), "data") && !strings.Contains(err.Error(), "tensor") && !strings.Contains(err.Error(), "state_dict")) {
			t.Errorf("%s: the error is not one line that names the entry: %v", name, err)
		}
	}
}

func TestRefusesArchives(t *testing.T) {
	t.Parallel()
	zeros := make([]byte, 16)
	pickle := entry{name: "a/data.pkl", data: good}
	storage := entry{name: "a/data/0", data: zeros}
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"text":              {[]byte("hello"), "it is not a file of torch.save"},
		"nothing":           {nil, "it is not a file of torch.save"},
		"only a beginning":  {[]byte("PK\x03\x04"), "cut short or damaged"},
		"no entries":        {archive(t), "has no data.pkl"},
		"no pickle":         {archive(t, storage), "has no data.pkl"},
		"compressed pickle": {archive(t, entry{"a/data.pkl", good, zip.Deflate}, storage), `"data.pkl" is compressed`},
		"bomb":              {archive(t, pickle, entry{"a/data/0", make([]byte, 1<<20), zip.Deflate}), `"data/0" is compressed`},
		"two folders":       {archive(t, pickle, entry{name: "b/data/0", data: zeros}), `an entry "b/data/0"`},
		"no folder":         {archive(t, entry{name: "data.pkl", data: good}), `an entry "data.pkl"`},
		"path":              {archive(t, pickle, storage, entry{name: "a/../../etc/passwd"}), `an entry "a/../../etc/passwd"`},
		"TorchScript":       {archive(t, pickle, storage, entry{name: "a/code/model.py"}), `an entry "a/code/model.py"`},
		"folder":            {archive(t, pickle, storage, entry{name: "a/data/"}), `an entry "a/data/"`},
		"byte order":        {archive(t, pickle, storage, entry{name: "a/byteorder", data: []byte("big")}), `byteorder is "big"`},
		"version":           {archive(t, pickle, storage, entry{name: "a/version", data: []byte("11\n")}), `version is "11\n"`},
		"long version":      {archive(t, pickle, storage, entry{name: "a/version", data: make([]byte, 100)}), "version has 100 bytes"},
		"long pickle":       {archive(t, entry{name: "a/data.pkl", data: make([]byte, maxPickle+1)}, storage), "data.pkl has 1048577 bytes"},
		"many entries":      {archive(t, append(many(maxEntries), pickle)...), "4097 entries"},
		"escape":            {archive(t, pickle, storage, entry{"a/.\x1b[31m", zeros, zip.Deflate}), `its entry ".\x1b[31m" is compressed`},
		"overlap":           {overlapping(t), `"data.pkl" and "data/0" overlap`},
	} {
		if _, err := load(c.file); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	for name, more := range map[string][]entry{
		"notes":      {{name: "a/.data/serialization_id", data: []byte("1")}, {name: "a/.format_version", data: []byte("1")}},
		"byte order": {{name: "a/byteorder", data: []byte("little")}, {name: "a/version", data: []byte("3\n")}},
	} {
		if _, err := load(around(t, good, more...)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func many(n int) []entry {
	list := make([]entry, n)
	for i := range list {
		list[i].name = fmt.Sprintf("a/data/%d", i)
	}
	return list
}

// overlapping returns an archive in which the storage's entry begins inside the pickle, as in a bomb of quoted
// entries: its local header is hidden there.
func overlapping(t testing.TB) []byte {
	t.Helper()
	zeros := make([]byte, 16)
	hidden := []byte("PK\x03\x04\x14\x00\x00\x00\x00\x00\x00\x00\x00\x00")
	hidden = binary.LittleEndian.AppendUint32(hidden, crc32.ChecksumIEEE(zeros))
	hidden = append(hidden, "\x10\x00\x00\x00\x10\x00\x00\x00\x08\x00\x00\x00a/data/0"...)
	file := archive(t, entry{name: "a/data.pkl", data: append(append(bytes.Clone(hidden), zeros...), good...)}, entry{name: "a/data/0", data: zeros})
	at := bytes.Index(file, hidden)
	directory := bytes.LastIndex(file, []byte("PK\x01\x02")) // of data/0
	binary.LittleEndian.PutUint32(file[directory+42:], uint32(at))
	return file
}

// TestMemoryIsBounded reads files whose declared sizes are beyond any memory, and large valid programs.
func TestMemoryIsBounded(t *testing.T) {
	huge := around(t, checkpoint(tensorOf(storageOf("FloatStorage", "0", 1<<59), 0, numbers(1<<59), numbers(1))))
	lists := around(t, program(strings.Repeat("]", 1000), strings.Repeat("}q\x00", 20000), strings.Repeat("h\x00", 40000), "."))
	for name, c := range map[string]struct {
		file []byte
		most uint64
	}{"huge tensor": {huge, 1 << 20}, "a hundred kilobytes of values": {lists, 16 << 20}} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := load(c.file); err == nil {
			t.Errorf("%s: no error", name)
		}
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > c.most {
			t.Errorf("%s of %d bytes allocates %d bytes", name, len(c.file), used)
		}
	}
}

// TestMarkedStackIsKept: a value below a mark is not taken by an instruction above it.
func TestMarkedStackIsKept(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"s", "a", "b", "R", "Q", "\x85", "q\x00"} {
		if _, err := unpickle(program("}NN(", code, ".")); err == nil || !strings.Contains(err.Error(), "a value is missing") {
			t.Errorf("%q: %v", code, err)
		}
	}
}
