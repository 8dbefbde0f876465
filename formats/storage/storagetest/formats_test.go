package storagetest

import (
	"errors"
	"testing"

	"tagnet/formats/storage"
)

// TestEveryDamageNotices runs the helper on a reader that notices everything.
func TestEveryDamageNotices(t *testing.T) {
	ctx := t.Context()
	url := "mem://formattest/whole"
	if err := storage.WriteFile(ctx, url, []byte("content")); err != nil {
		t.Fatal(err)
	}
	reads := 0
	EveryDamage(t, url, func(url string) error {
		reads++
		data, err := storage.ReadFile(ctx, url)
		if err == nil && string(data) != "content" {
			err = errors.New(url + " is damaged")
		}
		return err
	})
	if want := 1 + 7 + 7*8 + 1; reads != want {
		t.Errorf("%d reads instead of %d", reads, want)
	}
}
