package storage

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	gcs "cloud.google.com/go/storage"
)

// soon cancels what moves some bytes, of an upload at most a chunk, if it has not ended when
// patience has: the client would try again and again.
func soon(cancel context.CancelFunc, move func() error) error {
	limit := patience + answerTimeout
	timer := time.AfterFunc(limit, cancel)
	err := move()
	if !timer.Stop() && err != nil {
		return fmt.Errorf("no answer within %s", limit)
	}
	return err
}

// unstalled ends an answer of which nothing has come for answerTimeout. The client then asks for
// the rest of an object.
type unstalled struct{ http.RoundTripper }

// RoundTrip makes an http.RoundTripper of unstalled.
func (u unstalled) RoundTrip(request *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(request.Context())
	answer, err := u.RoundTripper.RoundTrip(request.WithContext(ctx))
	if err != nil {
		cancel()
		return nil, err
	}
	answer.Body = &unstalledBody{ReadCloser: answer.Body, cancel: cancel}
	return answer, nil
}

type unstalledBody struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (b *unstalledBody) Read(p []byte) (int, error) {
	timer := time.AfterFunc(answerTimeout, b.cancel)
	n, err := b.ReadCloser.Read(p)
	if !timer.Stop() && err != nil && err != io.EOF {
		// As where a connection breaks, which the client takes for a reason to try again.
		err = fmt.Errorf("nothing came for %s: %w", answerTimeout, io.ErrUnexpectedEOF)
	}
	return n, err
}

func (b *unstalledBody) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}

// objectReader reads a range of an object.
type objectReader struct {
	name   string
	reader *gcs.Reader
	cancel context.CancelFunc
}

// openRange opens a range of an object, or if length is negative all from offset on.
func openRange(ctx context.Context, name string, object *gcs.ObjectHandle, offset, length int64) (io.ReadCloser, error) {
	ctx, cancel := context.WithCancel(ctx)
	r, err := object.NewRangeReader(ctx, offset, length)
	if err != nil {
		cancel()
		return nil, bucketError("reading", name, err)
	}
	return &objectReader{name, r, cancel}, nil
}

func (o *objectReader) Read(p []byte) (n int, err error) {
	err = soon(o.cancel, func() (err error) {
		n, err = o.reader.Read(p)
		return err
	})
	if err != nil && err != io.EOF {
		err = bucketError("reading", o.name, err)
	}
	return n, err
}

func (o *objectReader) Close() error {
	defer o.cancel()
	return o.reader.Close()
}
