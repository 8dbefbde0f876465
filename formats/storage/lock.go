package storage

// lockState is how an attempt to lock a temporary file went.
type lockState int

const (
	lockGranted     lockState = iota // nobody held it
	lockTaken                        // a living writer holds it
	lockUnsupported                  // the system or the file system has no such locks
)
