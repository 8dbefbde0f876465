package gcs

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	cloud "cloud.google.com/go/storage"
)

// soon calls move, which transfers at most one chunk, and cancels it after Patience and the time of one
// call. Without a limit the client would retry forever.
func soon(cancel context.CancelFunc, move func() error) error {
	limit := Patience + Answer
	timer := time.AfterFunc(limit, cancel)
	err := move()
	if !timer.Stop() && err != nil {
		return fmt.Errorf("no response within %s", limit)
	}
	return err
}

// transport returns the transport of the client's connections. With HTTP/2 many calls share one connection.
// Pings detect a dead one, which all later calls would otherwise use too.
func transport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = 100 // like the client's default transport
	t.ResponseHeaderTimeout = Answer
	t.HTTP2 = &http.HTTP2Config{SendPingTimeout: Answer / 2, PingTimeout: Answer / 4}
	return t
}

// unstalled cancels a response that has received nothing for Answer. The client then requests
// it, or the rest of the object, again.
type unstalled struct{ http.RoundTripper }

// RoundTrip returns a response whose body cancels the request when it stalls.
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

// Read ends with an error that the client retries if no data come for Answer.
func (b *unstalledBody) Read(p []byte) (int, error) {
	timer := time.AfterFunc(Answer, b.cancel)
	n, err := b.ReadCloser.Read(p)
	if !timer.Stop() && err != nil && err != io.EOF {
		// The error of a broken connection, after which the client retries.
		err = fmt.Errorf("no data for %s: %w", Answer, io.ErrUnexpectedEOF)
	}
	return n, err
}

func (b *unstalledBody) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}

// objectReader reads a range of an object.
type objectReader struct {
	ctx    context.Context // of the caller, which cancel leaves as it is
	name   string
	reader *cloud.Reader
	cancel context.CancelFunc
}

// openRange opens a range of an object, or everything from offset on if length is negative.
func openRange(ctx context.Context, name string, object *cloud.ObjectHandle, offset, length int64) (io.ReadCloser, error) {
	request, cancel := context.WithCancel(ctx)
	r, err := object.NewRangeReader(request, offset, length)
	if err != nil {
		cancel()
		return nil, bucketError(ctx, "reading", name, err)
	}
	return &objectReader{ctx, name, r, cancel}, nil
}

// Read cancels the request if it takes too long, and returns errors with the object's URL.
func (o *objectReader) Read(p []byte) (n int, err error) {
	err = soon(o.cancel, func() (err error) {
		n, err = o.reader.Read(p)
		return err
	})
	if err != nil && err != io.EOF {
		err = bucketError(o.ctx, "reading", o.name, err)
	}
	return n, err
}

func (o *objectReader) Close() error {
	defer o.cancel()
	return o.reader.Close()
}
