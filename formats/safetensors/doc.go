// Package safetensors writes and reads named float32 tensors as safetensors, the format that
// PyTorch programs exchange weights in, so that models can be exchanged in both
// directions.
//
// A checkpoint carries a SHA-256 of itself in its metadata; a missing or flipped byte is an
// error that names the file. The same tensors and metadata give the same bytes.
package safetensors
