// Package lock gives a folder one writer at a time, by a lock file that the writer creates
// exclusively: a process that makes a folder holds Acquire's lock until it has ended.
//
// A lock is free if no file exists, if its run has ended, or if its process is known to be dead: a lock whose
// process may be alive is never taken over without force.
//
//   - Of a lock with another host name nothing is known.
//   - A process id means something only among the processes of one boot and one PID namespace. A lock of another
//     namespace, such as another container with this host name, is not free: its process cannot be seen
//     from here.
//   - A lock of another boot may come from this machine before a power cut, so its process is dead, or from a live
//     process on another machine: a container takes its host name along, and cloned machines have one name. It is free
//     where the folder lies on a disk that one machine at a time mounts, because then it was this machine that
//     restarted; a machine that exports the disk needs another host name than those that write through the export. On
//     shared storage it is not free, and takes force after a power cut.
//   - A process of the same id is the owner if it started when the lock says. The clock of a time namespace has its own
//     zero, so that starts of different ones say nothing: a process of the same id may be the owner then.
//   - Where the system does not tell boot and namespace, the host name stands for both.
//
// Which of several processes takes a free lock is decided by storage.CompareAndSwap: one of them.
package lock
