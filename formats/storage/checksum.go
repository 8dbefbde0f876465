package storage

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
)

// BlankChecksum is the value of the key in the text given to SetChecksum, which the hash replaces.
var BlankChecksum = strings.Repeat("0", 2*sha256.Size)

// ErrChecksum is the error of a text that differs from its checksum.
var ErrChecksum = errors.New("its checksum does not match: the file is cut short or damaged")

// ErrNoChecksum is the error of a text without a checksum.
var ErrNoChecksum = errors.New("it carries no checksum")

// SetChecksum replaces the blank at the key, in place, by the SHA-256 of the text, so that a reader detects damage from
// the file alone. It is taken with its digits as zeros. Manifests and the records of checkpoints have such a checksum;
// files that are read in parts carry a CRC32C.
func SetChecksum(text []byte, key string) error {
	digits, err := findChecksum(text, key)
	if err != nil {
		return err
	}
	if string(digits) != BlankChecksum {
		return ErrChecksum
	}
	copy(digits, checksumOf(text))
	return nil
}

// VerifyChecksum returns ErrChecksum unless the text has the hash that stands at the key. The text
// is changed while VerifyChecksum runs, and restored before it returns.
func VerifyChecksum(text []byte, key string) error {
	digits, err := findChecksum(text, key)
	if err != nil {
		return err
	}
	stored := string(digits)
	copy(digits, BlankChecksum)
	actual := checksumOf(text)
	copy(digits, stored)
	if actual != stored {
		return ErrChecksum
	}
	return nil
}

// findChecksum returns the digits at the key. Inside of JSON strings quotes are escaped, so no value
// can look like the key.
func findChecksum(text []byte, key string) ([]byte, error) {
	for _, lead := range []string{`"` + key + `":"`, `"` + key + `": "`} {
		at := bytes.Index(text, []byte(lead))
		if at < 0 {
			continue
		}
		start, end := at+len(lead), at+len(lead)+len(BlankChecksum)
		if end >= len(text) || text[end] != '"' || bytes.Contains(text[end:], []byte(lead)) {
			return nil, ErrChecksum
		}
		return text[start:end], nil
	}
	return nil, ErrNoChecksum
}

func checksumOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
