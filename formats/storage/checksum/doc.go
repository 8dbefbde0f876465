// Package checksum puts the SHA-256 of a JSON text into the text, so that a reader detects damage from
// the file alone. The hash is taken with its 64 digits as zeros. Manifests and the records
// of checkpoints have such a checksum. Files that are read in parts carry a CRC-32C, which it also computes.
package checksum
