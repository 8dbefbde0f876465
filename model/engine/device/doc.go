// Package device is the interface of an accelerator as the model's kernels need it: memory, copies, kernels in PTX and
// their launches, in order. Package cuda implements it with NVIDIA's driver. Package gpu computes the model on it; its
// package interpreter runs the kernels without a card and checks every access, for tests.
package device
