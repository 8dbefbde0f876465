// Package acceleratortest provides devices for tests. They compute on the CPU with copies of their inputs,
// record their operations, and fail at the operations that a test chooses.
package acceleratortest
