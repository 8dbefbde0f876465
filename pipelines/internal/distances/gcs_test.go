package distances

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/fsouza/fake-gcs-server/fakestorage"

	"tagnet/formats/storage"
	"tagnet/pipelines/internal/preprocess"
)

// TestBucketHoldsTheSameBytes holds that a workspace in a bucket ends like one in a folder.
func TestBucketHoldsTheSameBytes(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().(*net.TCPAddr)
	listener.Close()
	server, err := fakestorage.NewServerWithOptions(fakestorage.Options{
		Scheme: "http", Host: "127.0.0.1", Port: uint16(address.Port), PublicHost: address.String(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	t.Setenv("STORAGE_EMULATOR_HOST", address.String())
	server.CreateBucketWithOpts(fakestorage.CreateBucketOpts{Name: "bucket"})

	dataset := t.TempDir()
	for split, text := range map[string]string{"train": "a\tr\tb\nb\tr\tc\n", "valid": "a\tr\tc\n", "test": "c\tr\ta\n"} {
		if err := os.WriteFile(filepath.Join(dataset, split+".txt"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	local := t.TempDir()
	for _, workspace := range []string{local, "gs://bucket/deep/workspace"} {
		if code, _, stderr := run(preprocess.Pipeline(), "--workspace", workspace, "--dataset", dataset); code != 0 {
			t.Fatal(stderr)
		}
		if code, _, stderr := run(Pipeline(), "--workspace", workspace); code != 0 {
			t.Fatal(stderr)
		}
	}
	ctx := context.Background()
	urls, err := storage.List(ctx, "gs://bucket/deep/workspace")
	if err != nil || len(urls) < 12 {
		t.Fatalf("%d files, %v", len(urls), err)
	}
	for _, url := range urls {
		got, err := storage.ReadFile(ctx, url)
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(filepath.Join(local, url[len("gs://bucket/deep/workspace"):]))
		if err != nil || string(got) != string(want) {
			t.Errorf("%s: %d bytes, want %d others (%v)", url, len(got), len(want), err)
		}
	}
}
