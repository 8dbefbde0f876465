package storage

import (
	"path"
	"path/filepath"
	"strings"
)

// split parts a URL into its scheme, empty for a plain path, and what follows it.
func split(url string) (scheme, rest string) {
	if scheme, rest, found := strings.Cut(url, "://"); found && isScheme(scheme) {
		return scheme, rest
	}
	return "", url
}

// isScheme keeps a plain path such as "odd folder/a://b" from being taken for a URL.
func isScheme(s string) bool {
	for _, c := range s {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("+-.", c) {
			return false
		}
	}
	return s != ""
}

// Join appends names to a path or URL, with one slash between them.
func Join(url string, elements ...string) string {
	scheme, rest := split(url)
	if scheme == "" {
		return filepath.Join(append([]string{rest}, elements...)...)
	}
	return scheme + "://" + path.Join(append([]string{rest}, elements...)...)
}

// Below returns the path of a file from a folder that List found it in, such as part/1 of folder/part/1, with slashes
// on every system.
func Below(folder, url string) string {
	return strings.TrimPrefix(filepath.ToSlash(strings.TrimPrefix(url, folder)), "/")
}

// Base returns the last name of a path or URL.
func Base(url string) string {
	_, rest := split(url)
	return path.Base(filepath.ToSlash(rest))
}

// isTemporary reports whether the last name of a path marks an unfinished file.
func isTemporary(name string) bool {
	return strings.HasPrefix(path.Base(filepath.ToSlash(name)), TemporaryPrefix)
}
