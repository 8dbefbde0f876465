package gcs_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"tagnet/formats/storage"
	"tagnet/formats/storage/gcs/gcstest"
	"tagnet/formats/storage/storagetest"
)

func TestFileSystem(t *testing.T) {
	storagetest.FileSystem(t, gcstest.Bucket(t)+"/some/folder")
}

func TestRemoveAllRefusesBuckets(t *testing.T) {
	bucket := gcstest.Bucket(t)
	for _, url := range []string{bucket, bucket + "/"} {
		if err := storage.RemoveAll(t.Context(), url); err == nil || !strings.Contains(err.Error(), "refused") {
			t.Errorf("%s: error %v", url, err)
		}
	}
}

func TestBucketThatIsAbsent(t *testing.T) {
	gcstest.Bucket(t)
	err := storage.WriteFile(t.Context(), "gs://no-such-bucket/f", []byte("x"))
	if err == nil || !strings.Contains(err.Error(), "gs://no-such-bucket/f") {
		t.Errorf("error %v", err)
	}
	if _, err := storage.ReadFile(t.Context(), "gs://no-such-bucket/f"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}
