package calibration

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"tagnet/formats/check"
	"tagnet/formats/checksum"
)

// checksumKey is the key of a file's checksum, the last one.
const checksumKey = "checksum"

// Encode returns the text of a file, indented JSON with a checksum, which Parse reads. Equal calibrations have equal
// texts.
func (c *Calibration) Encode() ([]byte, error) {
	blank := *c
	blank.Checksum = checksum.Blank
	text, err := json.MarshalIndent(blank, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encoding a calibration: %w", err)
	}
	text = append(text, '\n')
	return text, checksum.Set(text, checksumKey)
}

// Parse reads the text of a file. Its error says what is wrong with the text. A key that it does not know is an error: it may say that the
// scores were others.
func Parse(text []byte) (*Calibration, error) {
	if err := checksum.Verify(text, checksumKey); err != nil {
		return nil, err
	}
	c := &Calibration{}
	// A file without the curve of all relations would give every answer a probability of one half.
	file := struct {
		*Calibration
		Whole *Line `json:"whole"`
	}{Calibration: c}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&file); err != nil {
		return nil, err
	}
	if file.Whole == nil {
		return nil, errors.New("it lacks whole, the parameters of all candidates")
	}
	c.Whole = *file.Whole
	if c.FormatVersion != FormatVersion {
		return nil, fmt.Errorf("its format version is %d, this program reads %d", c.FormatVersion, FormatVersion)
	}
	if err := c.Check(); err != nil {
		return nil, err
	}
	c.index()
	return c, nil
}

// Check returns an error unless probabilities are numbers that rise with the score.
func (c *Calibration) Check() error {
	if err := check.First(check.Count("top_k", c.TopK), c.Counts.check(), check.AtLeastZero("strength", c.Strength)); err != nil {
		return err
	}
	if !(c.BaseRate >= 0 && c.BaseRate <= 1) || c.BaseRate != c.Rate() {
		return errors.New("its base rate is not the share of its true candidates")
	}
	if !c.Whole.valid() {
		return errors.New("its parameters are not finite, or its slope is negative")
	}
	for i, r := range c.Relations {
		if !r.Line.valid() || r.ID < 0 || i > 0 && r.ID <= c.Relations[i-1].ID {
			return fmt.Errorf("the parameters of relation %d, %q, are out of range or out of order", r.ID, r.Name)
		}
		if err := r.Counts.check(); err != nil {
			return fmt.Errorf("relations[%d].%w", i, err)
		}
	}
	return nil
}

func (c Counts) check() error {
	return check.First(check.Count("queries", c.Queries), check.Between("true", c.True, 0, c.Candidates))
}

func (l Line) valid() bool {
	finite := func(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
	return finite(l.Intercept) && finite(l.Slope) && l.Slope >= 0
}
