package study

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"tagnet/formats/storage"
	"tagnet/formats/storage/gcs/gcstest"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/preprocess"
)

// TestBucketHoldsTheSameBytes holds that a workspace in a bucket ends like one in a folder.
func TestBucketHoldsTheSameBytes(t *testing.T) {
	bucket := gcstest.Bucket(t)
	dataset := t.TempDir()
	for split, text := range map[string]string{"train": "a\tr\tb\nb\tr\tc\n", "valid": "a\tr\tc\n", "test": "c\tr\ta\n"} {
		pipelinetest.Write(t, filepath.Join(dataset, split+".txt"), text)
	}
	local := t.TempDir()
	for _, workspace := range []string{local, bucket + "/deep/workspace"} {
		pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", workspace, "--dataset", dataset)
		pipelinetest.Succeed(t, Distances(), "--workspace", workspace)
	}
	ctx := context.Background()
	urls, err := storage.List(ctx, bucket+"/deep/workspace")
	if err != nil || len(urls) < 12 {
		t.Fatalf("%d files, %v", len(urls), err)
	}
	for _, url := range urls {
		got, err := storage.ReadFile(ctx, url)
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(filepath.Join(local, url[len(bucket+"/deep/workspace"):]))
		if err != nil || string(got) != string(want) {
			t.Errorf("%s: %d bytes, want %d others (%v)", url, len(got), len(want), err)
		}
	}
}
