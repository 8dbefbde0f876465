package storagetest

import (
	"bytes"

	"tagnet/formats/storage"
)

// Repair returns a copy of a text with the right checksum at the key. It returns a text without the key unchanged.
func Repair(text []byte, key string) []byte {
	forged := bytes.Clone(text)
	for _, lead := range []string{`"` + key + `":"`, `"` + key + `": "`} {
		if at := bytes.Index(forged, []byte(lead)); at >= 0 && at+len(lead)+len(storage.BlankChecksum) < len(forged) {
			copy(forged[at+len(lead):], storage.BlankChecksum)
			_ = storage.SetChecksum(forged, key) // readers refuse a text that Set refuses
			break
		}
	}
	return forged
}
