package checkpoint

import (
	"bytes"
	"crypto/sha256"
	"fmt"

	"tagnet/formats/checksum"
)

// checksumKey is the key of a record's checksum, the last one.
const checksumKey = "checksum"

// verifyChecksum returns an error unless a record has the checksum that encode wrote, or that of earlier
// versions of tagnet: the SHA-256 of the text without the key.
func verifyChecksum(data []byte) error {
	err := checksum.Verify(data, checksumKey)
	before, _, found := bytes.Cut(data, []byte(",\n  \"checksum\": \""))
	if err == nil || !found {
		return err
	}
	sum := sha256.Sum256(append(bytes.Clone(before), "\n}"...))
	if bytes.Equal(data, fmt.Appendf(bytes.Clone(before), ",\n  %q: \"%x\"\n}\n", checksumKey, sum)) {
		return nil
	}
	return err
}
