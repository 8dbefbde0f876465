package calibration

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"

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

// Parse reads the text of a file. Its error says what is wrong with the text.
func Parse(text []byte) (*Calibration, error) {
	if err := checksum.Verify(text, checksumKey); err != nil {
		return nil, err
	}
	c := &Calibration{}
	if err := json.Unmarshal(text, c); err != nil {
		return nil, err
	}
	if c.FormatVersion != FormatVersion {
		return nil, fmt.Errorf("its format version is %d, this program reads %d", c.FormatVersion, FormatVersion)
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	c.index()
	return c, nil
}

// check returns an error unless probabilities are numbers that rise with the score.
func (c *Calibration) check() error {
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
	}
	return nil
}

func (l Line) valid() bool {
	finite := func(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
	return finite(l.Intercept) && finite(l.Slope) && l.Slope >= 0
}
