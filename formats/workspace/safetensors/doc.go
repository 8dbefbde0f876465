// Package safetensors writes and reads named float32 tensors in the safetensors format, which PyTorch
// programs read and write too.
//
// A file has no checksum of its own: the record of a checkpoint has the SHA-256 of its files. The same
// tensors and metadata give the same bytes.
package safetensors
