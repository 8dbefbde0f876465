package gcs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"strings"
	"sync"
	"time"

	cloud "cloud.google.com/go/storage"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/iterator"
	"google.golang.org/api/option"
	signing "google.golang.org/api/transport/http"

	"tagnet/formats/storage"
)

func init() { storage.Register("gs", buckets{}) }

// buckets implements storage.FileSystem.
type buckets struct{}

func bucketURL(name string) string { return "gs://" + name }

// Tests shorten them.
var (
	// patience is how long a call that fails for a temporary reason is retried. Such failures last
	// for seconds. The client's default is to retry forever.
	patience = 3 * time.Minute
	// answerTimeout is how long an attempt waits for the response to begin, and for more of it.
	answerTimeout = time.Minute
)

const (
	// reachTimeout limits the time to connect to an emulator.
	reachTimeout = 20 * time.Second
	// uploadPiece is the size of the client's upload chunks, in bytes.
	uploadPiece = 16 << 20
)

// clients holds one client for each emulator host ("" for the real service): a client is
// safe for many goroutines and calls.
var clients = struct {
	sync.Mutex
	byHost map[string]*cloud.Client
}{byHost: map[string]*cloud.Client{}}

func client(ctx context.Context) (*cloud.Client, error) {
	host := os.Getenv(emulatorVariable)
	clients.Lock()
	c := clients.byHost[host]
	clients.Unlock()
	if c != nil {
		return c, nil
	}
	if host != "" {
		if err := reach(ctx, host); err != nil {
			return nil, err
		}
	}
	clients.Lock()
	defer clients.Unlock()
	if c := clients.byHost[host]; c != nil {
		return c, nil
	}
	c, err := newClient(host)
	if err != nil {
		return nil, fmt.Errorf("gs:// needs Google Cloud credentials (gcloud auth application-default login): %w", err)
	}
	clients.byHost[host] = c
	return c, nil
}

// newClient outlives the call that first needs it, so it is not tied to its context.
func newClient(host string) (*cloud.Client, error) {
	ctx := context.Background()
	signed := http.RoundTripper(unstalled{transport()})
	if host == "" {
		var err error
		if signed, err = signing.NewTransport(ctx, signed, option.WithScopes(cloud.ScopeFullControl)); err != nil {
			return nil, err
		}
	}
	// JSON reads use the same host as all other calls. The default is another host, which emulators
	// serve only if their public name is configured.
	c, err := cloud.NewClient(ctx, option.WithHTTPClient(&http.Client{Transport: signed}), cloud.WithJSONReads())
	if err != nil {
		return nil, err
	}
	// Every upload writes a whole object, so it is safe to repeat.
	c.SetRetry(cloud.WithPolicy(cloud.RetryAlways), cloud.WithMaxRetryDuration(patience))
	return c, nil
}

// emulatorVariable is the environment variable that names an emulator's host, for the client too.
const emulatorVariable = "STORAGE_EMULATOR_HOST"

// reach returns an error if no server listens at the emulator's host. The client would retry until
// patience ends.
func reach(ctx context.Context, host string) error {
	text := host
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" {
		return fmt.Errorf("%s is %q: want HOST:PORT, perhaps after http://", emulatorVariable, host)
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	dialer := net.Dialer{Timeout: reachTimeout}
	connection, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return fmt.Errorf("reaching %s %s: %w; is the emulator started? without the variable gs:// is Google Cloud Storage itself", emulatorVariable, host, err)
	}
	return connection.Close()
}

// object finds the bucket and the object of a path.
func object(ctx context.Context, name string) (*cloud.BucketHandle, string, error) {
	c, err := client(ctx)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", bucketURL(name), err)
	}
	bucket, key, _ := strings.Cut(name, "/")
	if bucket == "" {
		return nil, "", fmt.Errorf("%s: the bucket is missing; write gs://bucket/folder", bucketURL(name))
	}
	return c.Bucket(bucket), strings.Trim(key, "/"), nil
}

// bucketError adds the name of the object to an error and turns absence into fs.ErrNotExist. The
// client's error of a broken connection may wrap io.EOF, which readers would take for the end of the
// object: bucketError does not wrap it.
func bucketError(doing, name string, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%s %s: %v", doing, bucketURL(name), err)
	}
	var api *googleapi.Error
	if errors.Is(err, cloud.ErrObjectNotExist) || errors.Is(err, cloud.ErrBucketNotExist) ||
		errors.As(err, &api) && api.Code == 404 {
		return fmt.Errorf("%s %s: %w (%v)", doing, bucketURL(name), fs.ErrNotExist, err)
	}
	return fmt.Errorf("%s %s: %w", doing, bucketURL(name), err)
}

func (buckets) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	bucket, key, err := object(ctx, name)
	if err != nil {
		return nil, err
	}
	return openRange(ctx, name, bucket.Object(key), 0, -1)
}

func (buckets) OpenRandom(ctx context.Context, name string) (storage.RandomReader, error) {
	bucket, key, err := object(ctx, name)
	if err != nil {
		return nil, err
	}
	o := bucket.Object(key)
	attributes, err := o.Attrs(ctx)
	if err != nil {
		return nil, bucketError("reading", name, err)
	}
	// With the generation, all reads are of one version, even if the object is replaced meanwhile.
	ranges := &objectRanges{ctx: ctx, name: name, object: o.Generation(attributes.Generation), size: attributes.Size}
	return openObject{io.NewSectionReader(ranges, 0, attributes.Size), attributes.Generation}, nil
}

type openObject struct {
	*io.SectionReader
	generation int64
}

func (openObject) Close() error { return nil }

// objectRanges reads ranges of an object, with one request for each.
type objectRanges struct {
	ctx    context.Context
	name   string
	object *cloud.ObjectHandle
	size   int64
}

func (o *objectRanges) ReadAt(p []byte, offset int64) (int, error) {
	if offset >= o.size {
		return 0, io.EOF
	}
	length := min(int64(len(p)), o.size-offset)
	r, err := openRange(o.ctx, o.name, o.object, offset, length)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	n, err := io.ReadFull(r, p[:length])
	switch {
	case err == io.EOF || err == io.ErrUnexpectedEOF: // errors of r itself name the object
		return n, bucketError("reading", o.name, err)
	case err == nil && n < len(p):
		return n, io.EOF
	}
	return n, err
}

func (buckets) Create(ctx context.Context, name string) (storage.Writer, error) {
	bucket, key, err := object(ctx, name)
	if err != nil {
		return nil, err
	}
	if key == "" {
		return nil, fmt.Errorf("writing %s: the name of the object is missing", bucketURL(name))
	}
	return newWriter(ctx, name, bucket.Object(key)), nil
}

func newWriter(ctx context.Context, name string, object *cloud.ObjectHandle) *objectWriter {
	ctx, cancel := context.WithCancel(ctx)
	return &objectWriter{name: name, upload: object.NewWriter(ctx), cancel: cancel}
}

// objectWriter uploads an object, which appears when the upload is closed.
type objectWriter struct {
	name   string
	upload *cloud.Writer
	cancel context.CancelFunc
	err    error
	done   bool
}

func (w *objectWriter) Write(p []byte) (int, error) {
	if w.err == nil && w.done {
		w.err = fmt.Errorf("writing %s: %w", bucketURL(w.name), fs.ErrClosed)
	}
	if w.err != nil {
		return 0, w.err
	}
	written := 0
	for len(p) > 0 {
		piece := p[:min(len(p), uploadPiece)]
		n := 0
		err := soon(w.cancel, func() (err error) {
			n, err = w.upload.Write(piece)
			return err
		})
		written += n
		if err != nil {
			w.err = bucketError("writing", w.name, err)
			break
		}
		p = p[n:]
	}
	return written, w.err
}

func (w *objectWriter) Commit() error {
	if w.done {
		return fmt.Errorf("writing %s: %w", bucketURL(w.name), fs.ErrClosed)
	}
	if w.err != nil {
		w.Abort()
		return w.err
	}
	w.done = true
	defer w.cancel()
	if err := soon(w.cancel, w.upload.Close); err != nil {
		w.err = bucketError("writing", w.name, err)
	}
	return w.err
}

// Abort cancels before it closes, because Close alone would store what was uploaded so far.
func (w *objectWriter) Abort() error {
	if w.done {
		return nil
	}
	w.done = true
	w.cancel()
	w.upload.Close() // its error is that of the cancellation
	return nil
}

// CompareAndSwap compares the content with old, and writes on the condition that the object still has
// the generation that was read.
//
// The client repeats a request whose answer was lost, and the repeated removal of an object does not
// show who removed it. So a removal first replaces the content by one that no other caller writes: who
// succeeds in that has swapped, and then removes the object.
func (b buckets) CompareAndSwap(ctx context.Context, name string, old, replacement []byte) (bool, error) {
	if replacement != nil {
		return b.replace(ctx, name, old, replacement)
	}
	mark := fmt.Appendf(nil, "removed %016x%016x", rand.Uint64(), rand.Uint64())
	swapped, err := b.replace(ctx, name, old, mark)
	if err != nil || !swapped {
		return false, err
	}
	return true, b.removeIf(ctx, name, mark)
}

// removeIf removes an object if its content is still this.
func (b buckets) removeIf(ctx context.Context, name string, content []byte) error {
	current, generation, err := b.read(ctx, name)
	if err == nil && bytes.Equal(current, content) {
		var bucket *cloud.BucketHandle
		var key string
		if bucket, key, err = object(ctx, name); err == nil {
			err = bucket.Object(key).If(cloud.Conditions{GenerationMatch: generation}).Delete(ctx)
		}
		if err != nil {
			err = bucketError("removing", name, err)
		}
	}
	if errors.Is(err, fs.ErrNotExist) || preconditionFailed(err) {
		return nil
	}
	return err
}

// preconditionFailed reports whether the object had another generation than a request's condition.
func preconditionFailed(err error) bool {
	var api *googleapi.Error
	return errors.As(err, &api) && api.Code == http.StatusPreconditionFailed
}

// replace is CompareAndSwap with a replacement that is not nil.
func (b buckets) replace(ctx context.Context, name string, old, replacement []byte) (bool, error) {
	bucket, key, err := object(ctx, name)
	if err != nil {
		return false, err
	}
	condition := cloud.Conditions{DoesNotExist: true}
	if old != nil {
		current, generation, err := b.read(ctx, name)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !bytes.Equal(current, old) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		condition = cloud.Conditions{GenerationMatch: generation}
	}
	w := newWriter(ctx, name, bucket.Object(key).If(condition))
	defer w.Abort()
	if _, err = w.Write(replacement); err == nil {
		err = w.Commit()
	}
	if err == nil || !preconditionFailed(err) {
		return err == nil, err
	}
	// If a request took effect but its response was lost, the client's retry fails the condition.
	current, _, err := b.read(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && bytes.Equal(current, replacement), err
}

// read returns the content of an object and its generation.
func (b buckets) read(ctx context.Context, name string) (data []byte, generation int64, err error) {
	r, err := b.OpenRandom(ctx, name)
	if err != nil {
		return nil, 0, err
	}
	data, err = io.ReadAll(r)
	return data, r.(openObject).generation, err
}

func (buckets) Exists(ctx context.Context, name string) (bool, error) {
	bucket, key, err := object(ctx, name)
	if err != nil || key == "" {
		return false, err
	}
	_, err = bucket.Object(key).Attrs(ctx)
	if err = bucketErrorOrNil(name, err); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

func bucketErrorOrNil(name string, err error) error {
	if err == nil {
		return nil
	}
	return bucketError("reading", name, err)
}

func (buckets) Remove(ctx context.Context, name string) error {
	bucket, key, err := object(ctx, name)
	if err != nil {
		return err
	}
	if err := bucket.Object(key).Delete(ctx); err != nil {
		if err = bucketError("removing", name, err); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (b buckets) RemoveAll(ctx context.Context, name string) error {
	_, key, err := object(ctx, name)
	if err != nil {
		return err
	}
	if key == "" {
		return fmt.Errorf("removing %s: refused, because it is a whole bucket", bucketURL(name))
	}
	below, err := b.below(ctx, name)
	if err != nil {
		return err
	}
	for _, name := range append(below, name) {
		if err := b.Remove(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// below returns the paths of all objects below a folder, temporary ones included.
func (buckets) below(ctx context.Context, name string) ([]string, error) {
	bucket, key, err := object(ctx, name)
	if err != nil {
		return nil, err
	}
	query := &cloud.Query{}
	if key != "" {
		query.Prefix = key + "/"
	}
	if err := query.SetAttrSelection([]string{"Name"}); err != nil {
		return nil, bucketError("listing", name, err)
	}
	var names []string
	for objects := bucket.Objects(ctx, query); ; {
		attributes, err := objects.Next()
		if errors.Is(err, iterator.Done) {
			return names, nil
		}
		if err != nil {
			return nil, bucketError("listing", name, err)
		}
		names = append(names, path.Join(bucket.BucketName(), attributes.Name))
	}
}

// List returns the URLs of all objects below a folder.
func (b buckets) List(ctx context.Context, name string) ([]string, error) {
	names, err := b.below(ctx, name)
	for i, name := range names {
		names[i] = bucketURL(name)
	}
	return names, err
}

func (b buckets) CheckWritable(ctx context.Context, name string) error {
	probe := path.Join(name, storage.TemporaryPrefix+"probe")
	w, err := b.Create(ctx, probe)
	if err != nil {
		return err
	}
	if err := w.Commit(); err != nil {
		return err
	}
	return b.Remove(ctx, probe)
}
