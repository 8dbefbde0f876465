package parts

// OpenFiles returns the number of files that are open.
func (f *Folder) OpenFiles() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.openFiles)
}
