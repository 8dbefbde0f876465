// Package storagetest gives tests of all packages a folder in memory, and file systems a test of what
// package storage promises.
package storagetest
