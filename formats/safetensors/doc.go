// Package safetensors writes and reads named float32 tensors in the safetensors format, which PyTorch
// programs read and write too.
//
// The metadata of a file contain its SHA-256. If a byte is missing or changed, Read returns an error
// that names the file. The same tensors and metadata give the same bytes.
package safetensors
