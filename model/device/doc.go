// Package device is the interface of an accelerator as the model's kernels need it: memory, copies, kernels in PTX and
// their launches, in order. Package cuda implements it with NVIDIA's driver, package interpreter with a PTX interpreter
// that checks every access, for tests on machines without a card. Package gpu computes the model on it.
package device
