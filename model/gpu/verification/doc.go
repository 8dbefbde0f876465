// Package verification computes the golden cases of the repository on a device and compares the results with the golden numbers, and bit
// for bit with the PTX interpreter and with a second run. Programs that are carried to a machine with a device use it: the cases are
// embedded.
package verification
