// Package storagetest provides folders in memory for the tests of all packages, what the tests of files and tables
// check, and a test that every implementation of storage.FileSystem has to pass.
package storagetest
