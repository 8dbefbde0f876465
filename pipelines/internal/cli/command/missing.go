package command

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"tagnet/formats/names"
)

// entriesShown is how many entries of a folder an error lists.
const entriesShown = 8

// MissingFile returns the UsageError of a file that a flag names and that does not exist. It lists what its folder has
// instead, the most similar names first, for a folder of this machine.
func MissingFile(flag, path string, err error) error {
	text := fmt.Sprintf("--%s: %s does not exist", flag, path)
	if onThisMachine(path) {
		folder := filepath.Dir(strings.TrimPrefix(path, "file://"))
		entries, unread := os.ReadDir(folder)
		switch {
		case os.IsNotExist(unread):
			text += fmt.Sprintf(", and neither does the folder %s", folder)
		case unread == nil && len(entries) == 0:
			text += fmt.Sprintf("; the folder %s is empty", folder)
		case unread == nil:
			text += fmt.Sprintf("; the folder %s has %s", folder, shortList(filepath.Base(path), entries))
		}
	}
	return &UsageError{Text: text, Reason: err}
}

// shortList returns the names of entries, those most similar to a name first, and how many more there are. The names of
// folders end in a slash.
func shortList(name string, entries []os.DirEntry) string {
	list := make([]string, len(entries))
	for i, e := range entries {
		list[i] = e.Name()
		if e.IsDir() {
			list[i] += "/"
		}
	}
	shown := names.Closest(name, list, entriesShown)
	for i := range shown {
		shown[i] = names.Shorten(shown[i], 60)
	}
	text := strings.Join(shown, ", ")
	if more := len(list) - len(shown); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
