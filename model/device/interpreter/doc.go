// Package interpreter is a device that runs PTX in plain Go, for tests on machines without a graphics card. It is test
// support: nothing but tests and tools for them imports it.
//
// It takes the PTX that NVRTC writes and a driver would compile, and is strict where a card is not. An access outside of a
// buffer, one that is not aligned, a read of bytes that nothing wrote, a race in shared memory, two blocks that touch
// bytes which one of them writes, a barrier or a warp-wide exchange that not all of its threads reach: each is a Fault
// that names the instruction. Blocks run in random order, since no kernel may rely on one. Instructions whose result is
// not exact (ex2.approx and its like) are refused, because a card would not give the same bits.
//
// Registers are rows of 32 lanes of 64 bits. The upper bits of a narrower value are unspecified, so each instruction
// takes the low bits that its type has. Predicates are masks of lanes.
package interpreter
