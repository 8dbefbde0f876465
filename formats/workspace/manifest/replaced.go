package manifest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"tagnet/formats/storage/lock"
)

// Replaced is the error of a reader whose folder another run replaces meanwhile.
type Replaced struct {
	Folder string
	// Made is the folder that was made from it, "" for a reader that makes none.
	Made string
	// Writer is the lock of the other run if the folder has no manifest: that run may make it for the first time.
	Writer *lock.Held
}

// Error says what is under way, and what to do.
func (r *Replaced) Error() string {
	if err := r.Unwrap(); err != nil {
		return err.Error()
	}
	if r.Made != "" {
		return fmt.Sprintf("%s was replaced while %s was made from it: run again", r.Folder, r.Made)
	}
	return r.Folder + " is being replaced: run again"
}

// Unwrap returns what is known of the other run and what to do, nil without a Writer.
func (r *Replaced) Unwrap() error {
	if r.Writer == nil {
		return nil
	}
	return r.Writer.ForReader()
}

// Confirm returns the error of reading a folder, or nil, if the folder still has the manifest of a checksum. Otherwise
// what was read may be of two graphs, whatever it looked like, and the error is a *Replaced one. The checksum is empty
// if there was no manifest: then the error is a *Replaced one while another run writes the folder.
func Confirm(ctx context.Context, folder, checksum string, err error) error {
	var held *lock.Held
	if checksum == "" {
		errors.As(lock.CheckFree(ctx, folder), &held) // before the manifest is read, which comes before the lock is released
	}
	now, unread := Read(ctx, folder)
	switch {
	case unread == nil && now.Checksum == checksum:
		return err
	case unread == nil, held != nil, checksum != "" && errors.Is(unread, fs.ErrNotExist):
		return &Replaced{Folder: folder, Writer: held}
	case err == nil:
		return unread
	}
	return err
}
