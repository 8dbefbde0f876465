package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/metrics"
	"tagnet/formats/safetensors"
	"tagnet/model/checkpoint"
	"tagnet/model/configuration"
)

// save writes the checkpoint of an epoch, or of a step if partial is not nil, with random weights.
func save(t *testing.T, folder checkpoint.Folder, epoch int, step int64, partial *checkpoint.Partial, mrr float64) {
	t.Helper()
	values := make([]float32, 1000)
	for i := range values {
		values[i] = rand.Float32()
	}
	r := checkpoint.Record{
		FormatVersion: checkpoint.FormatVersion, Configuration: configuration.Default(), Epoch: epoch, Step: step, Partial: partial,
	}
	if partial == nil {
		r.Valid = &metrics.Valid{Queries: 1, Ranks: metrics.Ranks{Pessimistic: metrics.Metrics{MRR: mrr}}}
	}
	tensor := func(name string, from, to int) []safetensors.Tensor {
		return []safetensors.Tensor{{Name: name, Shape: []int{to - from}, Data: values[from:to]}}
	}
	if err := folder.Save(t.Context(), r, tensor("weights", 0, 400), tensor("moments", 400, 1000)); err != nil {
		t.Fatal(err)
	}
	if partial == nil {
		if err := folder.MarkBest(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := folder.Prune(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// files returns the content of a folder's files by name.
func files(t *testing.T, folder string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = string(data)
	}
	return all
}

// TestArchiveKeepsTheNewestAndTheBest packs after each checkpoint of a training, whose first epoch is the best.
func TestArchiveKeepsTheNewestAndTheBest(t *testing.T) {
	t.Parallel()
	folder, history := checkpoint.Folder(t.TempDir()), filepath.Join(t.TempDir(), historyFile)
	if err := os.WriteFile(history, []byte("{}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	a := archive{t.TempDir(), 1500}
	for step, test := range []struct {
		epoch   int
		partial *checkpoint.Partial
		name    string
		want    []string // without the record, which all have
	}{
		{1, &checkpoint.Partial{Step: 1}, "step-00000001", []string{"step-00000001.safetensors"}},
		{1, nil, "epoch-001", []string{"best", "epoch-001.safetensors"}},
		{2, &checkpoint.Partial{Step: 1}, "step-00000003", []string{"best", "step-00000003.safetensors", "epoch-001.safetensors"}},
		{2, nil, "epoch-002", []string{"best", "epoch-002.safetensors", "epoch-001.safetensors"}},
		{3, nil, "epoch-003", []string{"best", "epoch-003.safetensors", "epoch-001.safetensors"}},
	} {
		save(t, folder, test.epoch, int64(step+1), test.partial, 1/float64(test.epoch))
		name, err := a.pack(t.Context(), folder, history)
		if err != nil || name != test.name {
			t.Fatalf("packed %s, %v, want %s", name, err, test.name)
		}
		size := 0
		for name, content := range files(t, a.folder) {
			if strings.HasPrefix(name, partPrefix) {
				size += len(content)
				if len(content) > a.part {
					t.Errorf("%s has %d bytes", name, len(content))
				}
				if !strings.HasPrefix(name, partPrefix+test.name) {
					t.Errorf("%s is left of an older checkpoint", name)
				}
			}
		}
		to, moved := t.TempDir(), filepath.Join(t.TempDir(), historyFile)
		if err := a.unpack(t.Context(), checkpoint.Folder(to), moved); err != nil {
			t.Fatal(err)
		}
		got, want := files(t, to), files(t, string(folder))
		for name, content := range got {
			if diff := cmp.Diff(want[name], content); diff != "" {
				t.Errorf("%s differs:\n%s", name, diff)
			}
			size -= len(content)
		}
		for _, name := range append(test.want, test.name+".optimizer.safetensors", test.name+".json") {
			if _, ok := got[name]; !ok {
				t.Errorf("%s: %s is not unpacked", test.name, name)
			}
		}
		if len(got) != len(test.want)+2+strings.Count(strings.Join(test.want, " "), "epoch-001.safetensors")-strings.Count(test.name, "epoch-001") || size != 0 {
			t.Errorf("%s: unpacked %d files, %d bytes of the parts are of none", test.name, len(got), size)
		}
		if data, err := os.ReadFile(moved); err != nil || string(data) != "{}\n" {
			t.Errorf("history %q, %v", data, err)
		}
		if state, _, err := checkpoint.Folder(to).Newest(t.Context()); err != nil || state.Record.Name() != test.name {
			t.Errorf("newest is %s, %v, want %s", state.Record.Name(), err, test.name)
		}
	}
}

// TestDamagedArchive damages each file of an archive in several ways.
func TestDamagedArchive(t *testing.T) {
	t.Parallel()
	folder := checkpoint.Folder(t.TempDir())
	save(t, folder, 1, 1, nil, 1)
	a := archive{t.TempDir(), 1500}
	if _, err := a.pack(t.Context(), folder, filepath.Join(t.TempDir(), "none")); err != nil {
		t.Fatal(err)
	}
	whole := files(t, a.folder)
	if len(whole) < 4 {
		t.Fatalf("only %d files", len(whole))
	}
	for name, content := range whole {
		for kind, damaged := range map[string]string{
			"missing": "", "cut": content[:len(content)-2], "changed": content[:len(content)/2] + "\x00" + content[len(content)/2+1:], "longer": content + "x",
		} {
			t.Run(fmt.Sprint(name, kind), func(t *testing.T) {
				t.Parallel()
				b, to := archive{t.TempDir(), a.part}, checkpoint.Folder(t.TempDir())
				for other, content := range whole {
					if other == name {
						content = damaged
					}
					if other == name && kind == "missing" {
						continue
					}
					if err := os.WriteFile(filepath.Join(b.folder, other), []byte(content), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				err := b.unpack(t.Context(), to, filepath.Join(t.TempDir(), historyFile))
				if err == nil || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "\n") {
					t.Errorf("error %v, want one line that names %s", err, name)
				}
				if written := files(t, string(to)); len(written) > 0 {
					t.Errorf("%d files were written", len(written))
				}
			})
		}
	}
}

func TestUnpackKeepsOtherCheckpoints(t *testing.T) {
	t.Parallel()
	folder := checkpoint.Folder(t.TempDir())
	save(t, folder, 1, 1, nil, 1)
	a := archive{t.TempDir(), 1500}
	history := filepath.Join(t.TempDir(), historyFile)
	if _, err := a.pack(t.Context(), folder, history); err != nil {
		t.Fatal(err)
	}
	if err := a.unpack(t.Context(), folder, history); err == nil || !strings.Contains(err.Error(), "has checkpoints already") {
		t.Errorf("error %v", err)
	}
}
