// Package interpreter is a device that runs PTX in plain Go, for tests on machines without a card. It is test
// support: no program links it.
//
// It takes the PTX that NVRTC writes and a driver would compile, and is strict where a card is not. Each of these is a
// Fault that names the instruction:
//   - an access outside of a buffer, of a freed buffer, or not aligned to its size;
//   - a read of bytes that nothing wrote;
//   - a race of threads in shared memory: accesses without a barrier between them, one of which writes;
//   - two blocks that access the same bytes in one launch, one of which writes; several blocks may change a word if all
//     of them use red.or;
//   - a barrier, ballot or shuffle that not all of its threads reach;
//   - an access to a buffer that another stream uses, without a wait between them, where one of them writes. Copies are
//     checked, too.
//
// Blocks run on all processors, in a random order that a seed decides, since no kernel may rely on an order.
//
// It knows the instructions that the kernels of package gpu have. A kernel that needs another one is refused with an
// error that names it; the instruction and its test are added then. Instructions whose result is not exact, such as
// ex2.approx, are refused: a card computes other bits. So are calls, textures, local and dynamic shared memory,
// variables and clocks. Not checked: whether lanes outside of the mask of bar.warp.sync race with those inside.
//
// Registers are rows of 32 lanes of 64 bits. The upper bits of a narrower value are unspecified, so each instruction
// takes the low bits that its type has. Predicates are masks of lanes.
package interpreter
