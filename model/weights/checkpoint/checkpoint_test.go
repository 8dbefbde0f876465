package checkpoint

import (
	"errors"
	"io/fs"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tagnet/formats/storage"
	"tagnet/formats/storage/storagetest"
	"tagnet/formats/workspace/metrics"
	"tagnet/formats/workspace/safetensors"
	"tagnet/model/weights/configuration"
)

// folderOf returns a folder in memory that the test removes.
func folderOf(t *testing.T) Folder { return Folder(storagetest.Memory(t)) }

func record(epoch int, mrr float64) Record {
	r := Record{
		FormatVersion: FormatVersion, Configuration: configuration.Default(), Seed: 3, Validation: metrics.Validation{Every: 1},
		Epoch: epoch, Step: int64(10 * epoch), Loss: 0.1,
		Vocabulary: Vocabulary{Relations: []string{"a", "b"}, Entities: 5, Hash: "h", Graph: "g"},
	}
	if mrr >= 0 {
		r.Valid = &metrics.Valid{Queries: 4, Ranks: metrics.Ranks{Pessimistic: metrics.Metrics{MRR: mrr}}}
	}
	return named(r)
}

// named returns a record that names its files.
func named(r Record) Record {
	r.Weights.Name, r.Optimizer.Name = r.Name()+".safetensors", r.Name()+".optimizer.safetensors"
	return r
}

func partial(epoch, step int) Record {
	r := record(epoch-1, -1)
	r.Epoch = epoch
	r.Step += int64(step)
	r.Partial = &Partial{Step: step, Loss: 1. / 3, Queries: 7, Messages: 1 << 40}
	return named(r)
}

func save(t *testing.T, f Folder, records ...Record) {
	t.Helper()
	for _, r := range records {
		weights := []safetensors.Tensor[float32]{{Name: "w", Shape: []int{2}, Data: []float32{float32(r.Step), 1}}}
		state := []safetensors.Tensor[float32]{{Name: "m", Shape: []int{1}, Data: []float32{float32(r.Step)}}}
		if err := f.Save(t.Context(), r, weights, state); err != nil {
			t.Fatal(err)
		}
	}
}

func fileNames(t *testing.T, f Folder) []string {
	t.Helper()
	urls, err := storage.List(t.Context(), string(f))
	if err != nil {
		t.Fatal(err)
	}
	for i, url := range urls {
		urls[i] = storage.Base(url)
	}
	return urls
}

func TestNewestIsTheFarthest(t *testing.T) {
	t.Parallel()
	f := folderOf(t)
	if _, _, err := f.Newest(t.Context()); !errors.Is(err, ErrNone) {
		t.Errorf("an empty folder: %v", err)
	}
	for _, c := range []struct {
		record Record
		want   string
	}{
		{partial(1, 4), "step-00000004"}, {record(1, 0), "epoch-001"}, {partial(2, 3), "step-00000013"},
		{partial(2, 10), "step-00000020"}, {record(2, 0), "epoch-002"}, // the same step: a whole epoch is farther
	} {
		save(t, f, c.record)
		s, damaged, err := f.Newest(t.Context())
		if err != nil || len(damaged) > 0 || s.Record.Name() != c.want {
			t.Errorf("newest is %s, want %s: %v %v", s.Record.Name(), c.want, damaged, err)
		}
		if s.Weights[0].Data[0] != float32(s.Record.Step) || s.Optimizer[0].Data[0] != float32(s.Record.Step) {
			t.Errorf("%s has the tensors of another", c.want)
		}
		if p := s.Record.Partial; p != nil && !reflect.DeepEqual(p, c.record.Partial) {
			t.Errorf("the position is %+v, want %+v", p, c.record.Partial)
		}
	}
	records, _, err := f.Records(t.Context())
	if err != nil || !slices.IsSortedFunc(records, func(a, b Record) int {
		if a.compare(b) > 0 {
			return 1
		}
		return -1
	}) {
		t.Errorf("records are out of order: %v", err)
	}
}

func TestPruneKeepsWhatTrainingNeeds(t *testing.T) {
	t.Parallel()
	f := folderOf(t)
	save(t, f, record(1, 0), record(2, 0), record(3, 0), partial(2, 5), partial(4, 2), partial(4, 6))
	for _, stray := range []string{"epoch-009.safetensors", "step-00000001.optimizer.safetensors", "notes.txt"} {
		if err := storage.WriteFile(t.Context(), f.url(stray), []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Prune(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"epoch-001.json", "epoch-001.safetensors",
		"epoch-002.json", "epoch-002.optimizer.safetensors", "epoch-002.safetensors",
		"epoch-003.json", "epoch-003.optimizer.safetensors", "epoch-003.safetensors", "notes.txt",
		"step-00000036.json", "step-00000036.optimizer.safetensors", "step-00000036.safetensors",
	}
	if got := fileNames(t, f); !slices.Equal(got, want) {
		t.Errorf("kept %q, want %q", got, want)
	}
	if err := f.RemoveAfter(t.Context(), record(2, 0)); err != nil {
		t.Fatal(err)
	}
	if got := fileNames(t, f); !slices.Equal(got, append(want[:5:5], "notes.txt")) {
		t.Errorf("rewound to %q", got)
	}
}

// TestPruneKeepsTheWeightsOfADamagedRecord: the record is lost, the weights may not be.
func TestPruneKeepsTheWeightsOfADamagedRecord(t *testing.T) {
	t.Parallel()
	f := folderOf(t)
	save(t, f, record(1, 0), record(2, 0), record(3, 0))
	if err := storage.WriteFile(t.Context(), f.url("epoch-001.json"), []byte("{")); err != nil {
		t.Fatal(err)
	}
	before := fileNames(t, f)
	if err := f.Prune(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := fileNames(t, f); !slices.Equal(got, before) {
		t.Errorf("kept %q, want %q", got, before)
	}
}

func TestBest(t *testing.T) {
	t.Parallel()
	for want, mrrs := range map[string][]float64{
		"epoch-002": {0.2, 0.5, 0.5, 0.4}, // the earliest of equals
		"epoch-003": {-1, -1, -1},         // the last, where none was validated
		"epoch-001": {0, -1, -1},
		"epoch-004": {-1, 0.1, -1, 0.3},
	} {
		f := Folder(string(folderOf(t)) + want)
		for i, mrr := range mrrs {
			save(t, f, record(i+1, mrr))
		}
		save(t, f, partial(len(mrrs)+1, 2))
		if err := f.MarkBest(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got, err := f.Best(t.Context()); got != want || err != nil {
			t.Errorf("best of %v is %s, want %s: %v", mrrs, got, want, err)
		}
		if r, err := f.Record(t.Context(), "best"); err != nil || r.Name() != want {
			t.Errorf("the record of best is %s, want %s: %v", r.Name(), want, err)
		}
		if r, err := f.Record(t.Context(), "last"); err != nil || r.Partial == nil {
			t.Errorf("last is %s: %v", r.Name(), err)
		}
	}
	if err := folderOf(t).MarkBest(t.Context()); !errors.Is(err, ErrNone) {
		t.Errorf("of nothing: %v", err)
	}
}

// TestDamagedRecord changes each byte of a record and cuts it at each.
func TestDamagedRecord(t *testing.T) {
	t.Parallel()
	data, err := partial(2, 5).encode()
	if err != nil {
		t.Fatal(err)
	}
	if r, err := parse(data); err != nil || r.Name() != "step-00000015" {
		t.Fatalf("%s, %v", r.Name(), err)
	}
	for i := range data {
		flipped := slices.Clone(data)
		flipped[i] ^= 1
		if _, err := parse(flipped); err == nil {
			t.Errorf("byte %d (%q) changed: no error", i, data[i])
		}
		if _, err := parse(data[:i]); err == nil {
			t.Errorf("cut to %d bytes: no error", i)
		}
	}
}

// TestDamagedWeights flips every byte of the weights and cuts them at each.
func TestDamagedWeights(t *testing.T) {
	t.Parallel()
	f := folderOf(t)
	save(t, f, record(1, 0))
	url := f.url("epoch-001.safetensors")
	whole, err := storage.ReadFile(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	try := func(what string, at int, data []byte) {
		t.Helper()
		if err := storage.WriteFile(t.Context(), url, data); err != nil {
			t.Fatal(err)
		}
		_, _, err := f.Load(t.Context(), "epoch-001")
		if damaged := new(DamagedError); !errors.As(err, &damaged) || damaged.URL != url {
			t.Errorf("%s byte %d: error %v", what, at, err)
		}
	}
	for i := range whole {
		flipped := slices.Clone(whole)
		flipped[i] ^= 1
		try("changed", i, flipped)
		try("cut at", i, whole[:i])
	}
	try("one more than", len(whole), append(slices.Clone(whole), 0))
}

// TestForgedRecord has records with the right checksum that no training writes.
func TestForgedRecord(t *testing.T) {
	t.Parallel()
	for want, forge := range map[string]func(*Record){
		"partial.step":          func(r *Record) { r.Partial.Step = -1 },
		"partial.seconds":       func(r *Record) { r.Partial.Seconds = -1 },
		"epoch":                 func(r *Record) { r.Partial, r.Epoch = nil, -1 },
		"step":                  func(r *Record) { r.Step = -3 },
		"names the file":        func(r *Record) { r.Weights.Name = "../../x" },
		"optimizer.safetensors": func(r *Record) { r.Optimizer.Name = r.Weights.Name },
		"weights.size":          func(r *Record) { r.Weights.Size = -1 },
		"twice":                 func(r *Record) { r.Vocabulary.Relations = []string{"a", "b", "a"} },
		"vocabulary.entities":   func(r *Record) { r.Vocabulary.Entities = -1 },
		"valid.mean.mrr":        func(r *Record) { r.Valid = &metrics.Valid{Ranks: metrics.Ranks{Mean: metrics.Metrics{MRR: 2}}} },
		"rounds.workers":        func(r *Record) { r.Rounds.Workers = -2 },
		"validation.every":      func(r *Record) { r.Validation.Every = -2 },
	} {
		r := partial(2, 5)
		r.Vocabulary.Relations = slices.Clone(r.Vocabulary.Relations)
		forge(&r)
		if want != "names the file" && want != "optimizer.safetensors" {
			r = named(r)
		}
		text, err := r.encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v", want, err)
		}
	}
}

// TestWeightsThatAreNotFinite has weights with the right checksums that are no numbers.
func TestWeightsThatAreNotFinite(t *testing.T) {
	t.Parallel()
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		f := folderOf(t)
		bad, good := []safetensors.Tensor[float32]{{Name: "w", Shape: []int{2}, Data: []float32{1, float32(x)}}},
			[]safetensors.Tensor[float32]{{Name: "w", Shape: []int{1}, Data: []float32{1}}}
		if err := errors.Join(f.Save(t.Context(), record(1, 0), bad, good), f.Save(t.Context(), record(2, 0), good, bad)); err != nil {
			t.Fatal(err)
		}
		var damaged *DamagedError
		if _, _, err := f.Load(t.Context(), "epoch-001"); !errors.As(err, &damaged) || !strings.Contains(err.Error(), "w[1] is ") {
			t.Errorf("weights with %v: error %v", x, err)
		}
		if _, err := f.State(t.Context(), "epoch-002"); !errors.As(err, &damaged) || !strings.Contains(err.Error(), "epoch-002.optimizer.safetensors") {
			t.Errorf("a state with %v: error %v", x, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	data, err := record(1, 0.5).encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"checksum":"` + storage.BlankChecksum + `"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := parse(storagetest.Repair(data, checksumKey))
		if err != nil {
			return
		}
		if _, err := r.encode(); err != nil {
			t.Error(err)
		}
	})
}

// The checkpoints of shards lie inside the folder and are none of its own.
func TestShards(t *testing.T) {
	t.Parallel()
	f := folderOf(t)
	save(t, f, record(1, 0.5), partial(2, 3))
	save(t, f.Shard(1), partial(2, 5))
	if s, damaged, err := f.Newest(t.Context()); err != nil || len(damaged) > 0 || s.Record.Name() != "step-00000013" {
		t.Errorf("newest is %s, %v, %v", s.Record.Name(), damaged, err)
	}
	if err := f.Prune(t.Context()); err != nil {
		t.Fatal(err)
	}
	s, err := f.Shard(1).State(t.Context(), "step-00000015")
	if err != nil || s.Record.Partial.Step != 5 || s.Weights[0].Data[0] != 15 || s.Optimizer[0].Name != "m" {
		t.Errorf("the shard's is %+v, %v", s, err)
	}
	if _, err := f.Shard(0).State(t.Context(), "step-00000015"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of another shard: %v", err)
	}
	if err := f.RemoveShards(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left := fileNames(t, f); len(left) != 6 {
		t.Errorf("left %q", left)
	}
}
