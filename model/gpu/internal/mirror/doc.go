// Package mirror computes in plain Go what the kernels of package gpu compute: a function for each kernel, in a file for each
// source, which adds float32 values in the same order, so that both give the same bits. It is sequential and knows no threads:
// where the order of a sum follows from how a kernel deals its work to them, the function says so. Tests compare each launch with it;
// nothing else imports it.
package mirror
