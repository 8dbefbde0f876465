package lock

import (
	"os"
	"strings"
)

// fate says whether the process that wrote a lock has ended, as far as another process can know.
type fate int

const (
	ended          fate = iota
	running             // or on another host
	otherNamespace      // cannot be seen from here
	otherBoot           // of this machine, or of another one with the same name
)

// here returns an Owner with the host, boot and namespace of this process.
func here() Owner {
	host, _ := os.Hostname()
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id") // of Linux, as the next one
	namespace, _ := os.Readlink("/proc/self/ns/pid")
	clock, _ := os.Readlink("/proc/self/ns/time")
	return Owner{Host: host, Boot: strings.TrimSpace(string(boot)), Namespace: namespace, TimeNamespace: clock}
}

// fate returns what is known from here of the process that wrote a lock. onDisk is storage.OnDisk of the folder.
func (o Owner) fate(here Owner, onDisk bool) fate {
	told := o.Boot != "" || o.Namespace != ""
	switch {
	case o.Ended:
		return ended
	case o.Host != here.Host:
		return running
	case told && o.Boot != here.Boot:
		if onDisk && o.Boot != "" && here.Boot != "" {
			return ended
		}
		return otherBoot
	case told && o.Namespace != here.Namespace:
		return otherNamespace
	}
	started := o.Started
	if o.TimeNamespace != here.TimeNamespace {
		started = "" // the same start reads differently here
	}
	if alive(o.Process, started) {
		return running
	}
	return ended
}
