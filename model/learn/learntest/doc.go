// Package learntest has what tests of training and scoring need: devices that compute on the CPU with copies of their
// inputs, record their operations, and fail at the operations that a test chooses; and folders of parts, found by a
// search of the whole graph.
package learntest
