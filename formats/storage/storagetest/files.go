package storagetest

import (
	"context"
	"strings"
	"testing"

	"tagnet/formats/storage"
)

// Files returns the contents of all files below a folder, at a path or URL, by their names
// relative to it. It leaves out temporary files, which a killed writer leaves behind. A folder that
// does not exist has no files.
func Files(t testing.TB, folder string) map[string]string {
	t.Helper()
	ctx := context.Background()
	urls, err := storage.List(ctx, folder)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, url := range urls {
		if strings.HasPrefix(storage.Base(url), storage.TemporaryPrefix) {
			continue
		}
		data, err := storage.ReadFile(ctx, url)
		if err != nil {
			t.Fatal(err)
		}
		files[storage.Below(folder, url)] = string(data)
	}
	return files
}
