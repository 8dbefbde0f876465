package storagetest

import (
	"context"
	"strings"
	"testing"

	"tagnet/formats/storage"
)

// Memory is the URL of a folder in memory, the test's own, which is removed when it ends.
func Memory(t testing.TB) string {
	url := "mem://" + strings.ReplaceAll(t.Name(), "/", "-")
	t.Cleanup(func() { storage.RemoveAll(context.Background(), url) })
	return url
}
