// Package safetensors writes and reads named float32 tensors as safetensors, the format that
// PyTorch programs exchange weights in, so that a model trained here opens there and the
// other way round.
//
// A checkpoint carries a SHA-256 of itself in its metadata; a missing or flipped byte is an
// error that names the file. The same tensors and metadata give the same bytes.
package safetensors
