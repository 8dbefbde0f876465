package checkpoint

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
)

// A record remains plain JSON with its checksum inside: the last field of the object is
// "checksum", the SHA-256 of the text without that field.

const sealField = ",\n  \"checksum\": \""

// sealed adds the checksum to an indented JSON object.
func sealed(object []byte) []byte {
	sum := sha256.Sum256(object)
	body := bytes.TrimSuffix(object, []byte("\n}"))
	out := append([]byte(nil), body...)
	out = append(out, sealField...)
	out = append(out, hex.EncodeToString(sum[:])...)
	return append(out, "\"\n}\n"...)
}

var errDamaged = errors.New("it is cut short or was changed: its checksum does not fit")

// unsealed returns the object that was sealed.
func unsealed(data []byte) ([]byte, error) {
	at := bytes.LastIndex(data, []byte(sealField))
	if at < 0 {
		return nil, errDamaged
	}
	object := append(append([]byte(nil), data[:at]...), "\n}"...)
	if !bytes.Equal(sealed(object), data) {
		return nil, errDamaged
	}
	return object, nil
}
