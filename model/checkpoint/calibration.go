package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"tagnet/formats/storage"
	"tagnet/model/calibration"
)

// calibrationEnding is the ending of the file that turns a checkpoint's scores into probabilities.
const calibrationEnding = ".calibration.json"

// CalibrationURL returns the URL of the calibration of a checkpoint with the name that its record's Name returns.
func (f Folder) CalibrationURL(name string) string { return f.url(name + calibrationEnding) }

// Calibration returns the calibration of a checkpoint, or nil if it has none. The error is a *DamagedError if the file is damaged, or was
// fitted to other weights.
func (f Folder) Calibration(ctx context.Context, r Record) (*calibration.Calibration, error) {
	url := f.CalibrationURL(r.Name())
	text, err := storage.ReadFile(ctx, url)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	c, err := calibration.Parse(text)
	if err == nil && c.Weights != r.Weights.SHA256 {
		err = fmt.Errorf("it was fitted to weights with SHA-256 %.12s, those of %s have %.12s", c.Weights, r.Name(), r.Weights.SHA256)
	}
	if err != nil {
		return nil, &DamagedError{url, err}
	}
	return c, nil
}

// SaveCalibration writes the calibration of a checkpoint. It sets the checksum of the weights that it belongs to.
func (f Folder) SaveCalibration(ctx context.Context, r Record, c *calibration.Calibration) error {
	c.Weights = r.Weights.SHA256
	text, err := c.Encode()
	if err != nil {
		return err
	}
	return storage.WriteFile(ctx, f.CalibrationURL(r.Name()), text)
}
