package checkpoint

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"tagnet/formats/storage"
	"tagnet/model/calibration"
)

// calibrate saves a calibration of a checkpoint and returns the checkpoint's record.
func calibrate(t *testing.T, f Folder, name string) Record {
	t.Helper()
	r, err := f.Record(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	c, err := calibration.Fit([]calibration.Candidate{{Score: 2, True: true}, {Query: 1, Score: 1}}, []string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.SaveCalibration(t.Context(), r, c); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestCalibration(t *testing.T) {
	t.Parallel()
	f := folderOf(t)
	save(t, f, record(1, 0.5), record(2, 0.4))
	one := calibrate(t, f, "epoch-001")
	c, err := f.Calibration(t.Context(), one)
	if err != nil || c == nil || c.Weights != one.Weights.SHA256 || !(c.Probability(0, 2) > c.Probability(0, 1)) {
		t.Errorf("read %+v, error %v", c, err)
	}
	two, err := f.Record(t.Context(), "epoch-002")
	if err != nil {
		t.Fatal(err)
	}
	if c, err := f.Calibration(t.Context(), two); c != nil || err != nil {
		t.Errorf("a checkpoint without a calibration: %+v, %v", c, err)
	}
	text, err := storage.ReadFile(t.Context(), f.CalibrationURL("epoch-001"))
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"of other weights": string(text), "cut short": string(text[:len(text)/2]), "empty": ""} {
		if err := storage.WriteFile(t.Context(), f.CalibrationURL("epoch-002"), []byte(content)); err != nil {
			t.Fatal(err)
		}
		var damaged *DamagedError
		if c, err := f.Calibration(t.Context(), two); !errors.As(err, &damaged) || c != nil || !strings.HasSuffix(damaged.URL, "/epoch-002.calibration.json") {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
	}
}

// TestCalibrationLivesAsLongAsItsCheckpoint checks that a calibration is kept with the weights and removed with the record,
// and that the records of a folder are found beside it.
func TestCalibrationLivesAsLongAsItsCheckpoint(t *testing.T) {
	t.Parallel()
	f := folderOf(t)
	save(t, f, record(1, 0.5), record(2, 0.4), record(3, 0.3), record(4, 0.2))
	one := calibrate(t, f, "epoch-001")
	calibrate(t, f, "epoch-003")
	if err := f.Prune(t.Context()); err != nil {
		t.Fatal(err)
	}
	kept := func(name string) bool { return slices.Contains(fileNames(t, f), name+calibrationEnding) }
	if !kept("epoch-001") || !kept("epoch-003") {
		t.Errorf("Prune left %v", fileNames(t, f))
	}
	if err := f.RemoveAfter(t.Context(), one); err != nil {
		t.Fatal(err)
	}
	if !kept("epoch-001") || kept("epoch-003") {
		t.Errorf("RemoveAfter left %v", fileNames(t, f))
	}
	if err := storage.Remove(t.Context(), f.url("epoch-001.json")); err != nil {
		t.Fatal(err)
	}
	if err := f.Prune(t.Context()); err != nil || kept("epoch-001") {
		t.Errorf("Prune left the calibration of a checkpoint without a record, error %v", err)
	}
	if records, damaged, err := f.Records(t.Context()); len(records)+len(damaged) > 0 || err != nil {
		t.Errorf("records %v, damaged %v, error %v", records, damaged, err)
	}
}
