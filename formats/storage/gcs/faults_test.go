package gcs_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"tagnet/formats/storage"
	"tagnet/formats/storage/gcs"
	"tagnet/formats/storage/gcs/gcstest"
	"tagnet/formats/storage/storagetest"
)

// TestFileSystemUnderFaults checks that all promises are kept while a quarter of the requests fails for
// a temporary reason.
func TestFileSystemUnderFaults(t *testing.T) {
	for _, fault := range gcstest.Temporary {
		t.Run(fault.String(), func(t *testing.T) {
			bucket, proxy := gcstest.FaultyBucket(t, 15*time.Second)
			proxy.Set(gcstest.Sometimes(uint64(fault), 4, fault))
			storagetest.Operations(t, bucket+"/folder")
			if proxy.Injected()[fault] < 10 {
				t.Errorf("%v of %d requests failed", proxy.Injected(), proxy.Requests())
			}
		})
	}
}

// TestEachRequestFails injects every fault into each request of a write, a swap, a read and a removal. Each
// ends well, or in an error that names the object; and then the object is as before, or as it shall be.
func TestEachRequestFails(t *testing.T) {
	bucket, proxy := gcstest.FaultyBucket(t, 15*time.Second)
	url := bucket + "/f"
	before, after := bytes.Repeat([]byte("before "), 1000), bytes.Repeat([]byte("after "), 1000)
	for name, c := range map[string]struct {
		do  func(ctx context.Context) error
		end []byte // the content if all is well
	}{
		"write":  {func(ctx context.Context) error { return storage.WriteFile(ctx, url, after) }, after},
		"remove": {func(ctx context.Context) error { return storage.Remove(ctx, url) }, nil},
		"swap": {func(ctx context.Context) error {
			swapped, err := storage.CompareAndSwap(ctx, url, before, after)
			if err == nil && !swapped {
				err = errors.New(url + " was not swapped")
			}
			return err
		}, after},
		"read": {func(ctx context.Context) error {
			text, err := storage.ReadFile(ctx, url)
			if err == nil && !bytes.Equal(text, before) {
				t.Errorf("read %d bytes", len(text))
			}
			return err
		}, before},
		"stream": {func(ctx context.Context) error {
			r, err := storage.Open(ctx, url)
			if err != nil {
				return err
			}
			defer r.Close()
			var text bytes.Buffer
			_, err = text.ReadFrom(r)
			if err == nil && !bytes.Equal(text.Bytes(), before) {
				t.Errorf("read %d bytes", text.Len())
			}
			return err
		}, before},
		"swap to nothing": {func(ctx context.Context) error {
			swapped, err := storage.CompareAndSwap(ctx, url, before, nil)
			if err == nil && !swapped {
				err = errors.New(url + " was not swapped")
			}
			return err
		}, nil},
	} {
		for _, fault := range append([]gcstest.Fault{gcstest.Short, gcstest.Precondition, gcstest.Forbidden}, gcstest.Temporary...) {
			t.Run(name+" "+fault.String(), func(t *testing.T) {
				for n := 1; ; n++ {
					proxy.Set(nil)
					if err := storage.WriteFile(t.Context(), url, before); err != nil {
						t.Fatal(err)
					}
					proxy.Set(gcstest.At(n, fault))
					err := c.do(t.Context())
					reached := proxy.Requests() >= n
					proxy.Set(nil)
					if !reached {
						break
					}
					// A condition that is refused is one only where there is one.
					permanent := fault == gcstest.Forbidden || fault == gcstest.Short && name == "stream" ||
						fault == gcstest.Precondition && (!strings.HasPrefix(name, "swap") || err != nil && strings.HasPrefix(err.Error(), "reading"))
					if err != nil && !permanent {
						t.Errorf("request %d: %v", n, err)
					}
					if err != nil && (!strings.Contains(err.Error(), url) || strings.Contains(err.Error(), "\n")) {
						t.Errorf("request %d: the error is %q", n, err)
					}
					found, there := storage.Exists(t.Context(), url)
					if there != nil {
						t.Fatal(there)
					}
					var text []byte
					if found {
						if text, there = storage.ReadFile(t.Context(), url); there != nil {
							t.Fatal(there)
						}
					}
					if !bytes.Equal(text, c.end) && (err == nil || !bytes.Equal(text, before) && !strings.HasPrefix(string(text), "removed ")) {
						t.Errorf("request %d: left %d bytes after the error %v", n, len(text), err)
					}
				}
			})
		}
	}
}

// TestLargeUploadUnderFaults uploads in more than one chunk.
func TestLargeUploadUnderFaults(t *testing.T) {
	bucket, proxy := gcstest.FaultyBucket(t, 4*time.Second)
	url, content := bucket+"/large", bytes.Repeat([]byte("0123456789abcdef"), 17<<16)
	proxy.Set(gcstest.Sometimes(3, 2, gcstest.Unavailable, gcstest.Reset))
	if err := storage.WriteFile(t.Context(), url, content); err != nil {
		t.Fatal(err)
	}
	got, err := storage.ReadFile(t.Context(), url)
	if err != nil || !bytes.Equal(got, content) {
		t.Errorf("%d bytes read of %d, error %v", len(got), len(content), err)
	}
	if injected := proxy.Injected(); len(injected) < 2 {
		t.Errorf("injected %v in %d requests", injected, proxy.Requests())
	}
}

// TestOutage checks that every call gives up when its patience ends, and at once when it is canceled.
func TestOutage(t *testing.T) {
	for _, fault := range []gcstest.Fault{gcstest.Unavailable, gcstest.Reset, gcstest.Stalled, gcstest.Truncated} {
		t.Run(fault.String()+" gives up", func(t *testing.T) {
			outage(t, fault, 150*time.Millisecond, 0, func(err error) bool { return errors.Is(err, storage.ErrUnavailable) })
		})
		t.Run(fault.String()+" canceled", func(t *testing.T) {
			outage(t, fault, time.Hour, 50*time.Millisecond, func(err error) bool { return errors.Is(err, context.Canceled) })
		})
	}
}

// outage calls everything while every request fails. If canceled is not 0, the calls are canceled then.
func outage(t *testing.T, fault gcstest.Fault, patience, canceled time.Duration, isExpected func(error) bool) {
	bucket, proxy := gcstest.FaultyBucket(t, patience)
	url := bucket + "/f"
	if err := storage.WriteFile(t.Context(), url, []byte("content")); err != nil {
		t.Fatal(err)
	}
	proxy.Set(gcstest.From(1, fault))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if canceled > 0 {
		gcs.Answer = time.Hour // no call ends before that by itself
		defer time.AfterFunc(canceled, cancel).Stop()
	}
	begun := time.Now()
	var calls sync.WaitGroup
	for name, do := range map[string]func() error{
		"read": func() error { _, err := storage.ReadFile(ctx, url); return err },
		"stream": func() error {
			r, err := storage.Open(ctx, url)
			if err == nil {
				defer r.Close()
				_, err = new(bytes.Buffer).ReadFrom(r)
			}
			return err
		},
		"list":   func() error { _, err := storage.List(ctx, bucket+"/"); return err },
		"exists": func() error { _, err := storage.Exists(ctx, url); return err },
		"write":  func() error { return storage.WriteFile(ctx, bucket+"/written", []byte("other")) },
		"swap": func() error {
			_, err := storage.CompareAndSwap(ctx, bucket+"/swapped", nil, []byte("other"))
			return err
		},
	} {
		calls.Go(func() {
			if err := do(); err == nil || !isExpected(err) || !strings.Contains(err.Error(), bucket) {
				t.Errorf("%s: error %v", name, err)
			}
		})
	}
	calls.Wait()
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("the calls took %v", took)
	}
}
