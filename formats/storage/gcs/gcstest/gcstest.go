// Package gcstest gives tests a Google Cloud Storage that runs in the test's process.
package gcstest

import (
	"io"
	"strings"
	"testing"

	"github.com/fsouza/fake-gcs-server/fakestorage"

	_ "tagnet/formats/storage/gcs" // makes gs:// known
)

// Bucket starts a fake Google Cloud Storage, which ends with the test, and returns the URL of an
// empty bucket in it. It sets an environment variable: the test must not be parallel.
func Bucket(t testing.TB) string {
	t.Helper()
	server, err := fakestorage.NewServerWithOptions(fakestorage.Options{Scheme: "http", Host: "127.0.0.1", Writer: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	server.CreateBucketWithOpts(fakestorage.CreateBucketOpts{Name: "bucket"})
	t.Setenv("STORAGE_EMULATOR_HOST", strings.TrimPrefix(server.URL(), "http://"))
	return "gs://bucket"
}
