package checksum

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
)

// Blank is the value of the key in the text given to Set, which the hash replaces.
var Blank = strings.Repeat("0", 2*sha256.Size)

// ErrBroken is the error of a text that differs from its checksum.
var ErrBroken = errors.New("its checksum does not match: the file is cut short or damaged")

// ErrMissing is the error of a text without a checksum.
var ErrMissing = errors.New("it carries no checksum")

// Set replaces the blank at the key, in place, by the hash of the text.
func Set(text []byte, key string) error {
	digits, err := find(text, key)
	if err != nil {
		return err
	}
	if string(digits) != Blank {
		return ErrBroken
	}
	copy(digits, hash(text))
	return nil
}

// Verify returns ErrBroken unless the text has the hash that stands at the key. The text
// is changed while Verify runs, and restored before it returns.
func Verify(text []byte, key string) error {
	digits, err := find(text, key)
	if err != nil {
		return err
	}
	stored := string(digits)
	copy(digits, Blank)
	actual := hash(text)
	copy(digits, stored)
	if actual != stored {
		return ErrBroken
	}
	return nil
}

// find returns the digits at the key. Inside of JSON strings quotes are escaped, so no value
// can look like the key.
func find(text []byte, key string) ([]byte, error) {
	for _, lead := range []string{`"` + key + `":"`, `"` + key + `": "`} {
		at := bytes.Index(text, []byte(lead))
		if at < 0 {
			continue
		}
		start, end := at+len(lead), at+len(lead)+len(Blank)
		if end >= len(text) || text[end] != '"' || bytes.Contains(text[end:], []byte(lead)) {
			return nil, ErrBroken
		}
		return text[start:end], nil
	}
	return nil, ErrMissing
}

func hash(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
