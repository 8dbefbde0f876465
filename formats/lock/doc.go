// Package lock gives a folder one writer at a time, by a lock file that the writer creates
// exclusively: a process that makes a folder holds Acquire's lock until it has ended.
//
// A lock is free if no file exists, if its run has ended, or if its process is dead on this host.
// Which of several processes takes a free lock is decided by storage.CompareAndSwap: one of them.
package lock
