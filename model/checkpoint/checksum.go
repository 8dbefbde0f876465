package checkpoint

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
)

// checksumField precedes the checksum in a record, which stays plain JSON: the last field of the object is
// "checksum", the SHA-256 of the text without that field.
const checksumField = ",\n  \"checksum\": \""

// addChecksum returns an indented JSON object with its checksum as the last field.
func addChecksum(object []byte) []byte {
	sum := sha256.Sum256(object)
	body := bytes.TrimSuffix(object, []byte("\n}"))
	out := append([]byte(nil), body...)
	out = append(out, checksumField...)
	out = append(out, hex.EncodeToString(sum[:])...)
	return append(out, "\"\n}\n"...)
}

var errChecksum = errors.New("its checksum does not match: it is cut short or changed")

// checkChecksum returns the object without its checksum, or errChecksum if it does not match.
func checkChecksum(data []byte) ([]byte, error) {
	at := bytes.LastIndex(data, []byte(checksumField))
	if at < 0 {
		return nil, errChecksum
	}
	object := append(append([]byte(nil), data[:at]...), "\n}"...)
	if !bytes.Equal(addChecksum(object), data) {
		return nil, errChecksum
	}
	return object, nil
}
