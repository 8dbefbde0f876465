// Package acceleratortest has devices for tests of the stages: they compute on the processor, with copies of what they are
// given, record what they did, and fail when a test wants it.
package acceleratortest
