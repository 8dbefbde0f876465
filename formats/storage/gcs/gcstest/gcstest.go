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
	server := start(t, fakestorage.Options{Scheme: "http", Host: "127.0.0.1"})
	use(t, server.URL())
	return url
}

const (
	bucket = "bucket"
	url    = "gs://" + bucket
)

// start starts a server with the empty bucket.
func start(t testing.TB, options fakestorage.Options) *fakestorage.Server {
	t.Helper()
	options.Writer = io.Discard
	server, err := fakestorage.NewServerWithOptions(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	server.CreateBucketWithOpts(fakestorage.CreateBucketOpts{Name: bucket})
	return server
}

// use lets gs:// be served by the server at an address.
func use(t testing.TB, address string) {
	t.Setenv("STORAGE_EMULATOR_HOST", strings.TrimPrefix(address, "http://"))
}
