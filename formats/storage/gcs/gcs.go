package gcs

import (
	"bytes"
	"context"
	"encoding/json"
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
	"github.com/googleapis/gax-go/v2"
	"golang.org/x/oauth2"
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

// client returns the process's client of Google Cloud, or of the emulator, which is checked once.
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
		return nil, fmt.Errorf("gs:// needs Google Cloud credentials, %s: %w", login, err)
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
	c.SetRetry(cloud.WithPolicy(cloud.RetryAlways), cloud.WithMaxRetryDuration(Patience),
		cloud.WithBackoff(gax.Backoff{Initial: Pause, Max: LongestPause, Multiplier: 2}))
	return c, nil
}

// emulatorVariable is the environment variable that names an emulator's host, for the client too.
const emulatorVariable = "STORAGE_EMULATOR_HOST"

// reach returns an error if no server listens at the emulator's host. The client would retry until Patience ends.
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

// bucketError adds the name of the object to an error. Absence becomes fs.ErrNotExist, and anything but
// that and a cancellation of ctx storage.ErrUnavailable, also a bucket that does not exist.
func bucketError(ctx context.Context, doing, name string, err error) error {
	if ctx.Err() != nil { // which the client does not always return
		err = ctx.Err()
	}
	for _, canceled := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, canceled) { // what failed before does not matter
			return fmt.Errorf("%s %s: %w", doing, bucketURL(name), canceled)
		}
	}
	var api *googleapi.Error
	absent := errors.As(err, &api) && api.Code == http.StatusNotFound
	if errors.Is(err, cloud.ErrBucketNotExist) || absent && doing == "writing" {
		bucket, _, _ := strings.Cut(name, "/")
		return &unavailable{fmt.Sprintf("%s %s: the bucket %s does not exist; check its name, or make it with gcloud storage buckets create %[3]s", doing,
			bucketURL(name), bucketURL(bucket)), api}
	}
	if errors.Is(err, cloud.ErrObjectNotExist) || absent {
		return fmt.Errorf("%s %s: %w (%v)", doing, bucketURL(name), fs.ErrNotExist, err)
	}
	return &unavailable{fmt.Sprintf("%s %s: %s", doing, bucketURL(name), reason(name, err)), api}
}

// unavailable is the error of a request that was not answered or was refused. It does not wrap the client's error of a
// broken connection, which may wrap io.EOF: readers would take that for the end of the object.
type unavailable struct {
	text string
	api  *googleapi.Error // nil if there was no answer
}

func (u *unavailable) Error() string { return u.text }

func (u *unavailable) Unwrap() []error {
	if u.api == nil {
		return []error{storage.ErrUnavailable}
	}
	return []error{storage.ErrUnavailable, u.api}
}

// login is the remedy for missing, expired or unknown credentials.
const login = "log in with gcloud auth application-default login"

// reason returns an error of the client in one line, without the addresses of requests and, where a user
// can do something about it, with what that is.
func reason(name string, err error) string {
	text := err.Error()
	if refused := new(oauth2.RetrieveError); errors.As(err, &refused) {
		return strings.Join(strings.Fields(text), " ") + "; " + login
	}
	// The address of the request, with its parameters, says nothing to a user.
	var request *url.Error
	if errors.As(err, &request) {
		text = strings.Replace(text, request.Error(), request.Err.Error(), 1)
	}
	var api *googleapi.Error
	if !errors.As(err, &api) {
		return text
	}
	// The service's own message says most; two codes have a remedy.
	message := api.Message
	var body struct{ Error struct{ Message string } }
	if message == "" && json.Unmarshal([]byte(api.Body), &body) == nil {
		message = body.Error.Message // of a download, which the client does not parse
	}
	status := fmt.Sprintf("%d %s", api.Code, http.StatusText(api.Code))
	if message != "" {
		status += ": " + strings.Join(strings.Fields(message), " ")
	}
	bucket, _, _ := strings.Cut(name, "/")
	switch api.Code {
	case http.StatusUnauthorized:
		status += "; " + login
	case http.StatusForbidden:
		status += "; the account of these credentials needs the role roles/storage.objectUser on " + bucketURL(bucket)
	}
	return strings.Replace(text, api.Error(), status, 1)
}

func (buckets) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	bucket, key, err := object(ctx, name)
	if err != nil {
		return nil, err
	}
	return openRange(ctx, name, bucket.Object(key), 0, -1)
}

// OpenRandom opens the present generation of an object for reading at any offset.
func (buckets) OpenRandom(ctx context.Context, name string) (storage.RandomReader, error) {
	bucket, key, err := object(ctx, name)
	if err != nil {
		return nil, err
	}
	o := bucket.Object(key)
	attributes, err := o.Attrs(ctx)
	if err != nil {
		return nil, bucketError(ctx, "reading", name, err)
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

// ReadAt reads a range of the object, in several requests if responses are short.
func (o *objectRanges) ReadAt(p []byte, offset int64) (int, error) {
	if offset >= o.size {
		return 0, io.EOF
	}
	length := int(min(int64(len(p)), o.size-offset))
	n := 0
	for n < length { // a response may be too short, although its own length agrees with that
		m, err := o.readOnce(p[n:length], offset+int64(n))
		n += m
		if err != nil {
			return n, err
		}
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// errReplaced is the error of an object that is not the one any more that was opened.
var errReplaced = errors.New("it is being replaced: run again")

// readOnce reads at least a byte with one request.
func (o *objectRanges) readOnce(p []byte, offset int64) (int, error) {
	r, err := openRange(o.ctx, o.name, o.object, offset, int64(len(p)))
	if errors.Is(err, fs.ErrNotExist) { // this generation of it
		err = fmt.Errorf("reading %s: %w", bucketURL(o.name), errReplaced)
	}
	if err != nil {
		return 0, err
	}
	defer r.Close()
	n, err := io.ReadFull(r, p)
	switch {
	case err == io.ErrUnexpectedEOF: // errors of r itself name the object
		err = nil
	case err == io.EOF:
		err = bucketError(o.ctx, "reading", o.name, err)
	}
	return n, err
}

// Create begins the upload of an object, which exists after Commit.
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
	cancellable, cancel := context.WithCancel(ctx)
	upload := object.NewWriter(cancellable)
	upload.ChunkRetryDeadline = Patience
	return &objectWriter{ctx: ctx, name: name, object: object, upload: upload, cancel: cancel}
}

// objectWriter uploads an object, which appears when the upload is closed.
type objectWriter struct {
	ctx    context.Context
	name   string
	object *cloud.ObjectHandle
	upload *cloud.Writer
	cancel context.CancelFunc
	size   int64
	crc    uint32 // CRC-32C of what was written
	err    error
	done   bool
}

// Write uploads in pieces, each of which has to be taken in time. After an error every call returns it.
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
		w.size += int64(n)
		w.crc = storage.CRC32C(w.crc, piece[:n])
		if err != nil {
			w.err = bucketError(w.ctx, "writing", w.name, err)
			break
		}
		p = p[n:]
	}
	return written, w.err
}

// Commit ends the upload. If its response is lost, the object is read back.
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
	err := soon(w.cancel, w.upload.Close)
	if err == nil || w.ctx.Err() == nil && w.stored() {
		return nil
	}
	w.err = bucketError(w.ctx, "writing", w.name, err)
	return w.err
}

// stored reports whether the object has what was written although the upload returned an error, as it
// does if only the response was lost.
func (w *objectWriter) stored() bool {
	ctx, cancel := context.WithTimeout(w.ctx, Answer)
	defer cancel()
	attributes, err := w.object.Attrs(ctx)
	return err == nil && attributes.Size == w.size && attributes.CRC32C == w.crc
}

// Abort cancels before it closes, because Close alone would store what was uploaded so far.
func (w *objectWriter) Abort() error {
	if w.done {
		return nil
	}
	w.done = true
	w.cancel()
	w.upload.Close() // its error only says that the upload was canceled
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
	bucket, key, err := object(ctx, name)
	for attempt := 0; err == nil; attempt++ {
		current, generation, err := b.read(ctx, name)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !bytes.Equal(current, content) {
			return nil
		}
		if err != nil {
			return err
		}
		err = bucket.Object(key).If(cloud.Conditions{GenerationMatch: generation}).Delete(ctx)
		if err == nil {
			return nil
		}
		if err = bucketError(ctx, "removing", name, err); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if !preconditionFailed(err) || attempt == refusals {
			return err
		}
	}
	return err
}

// refusals is how often a condition that holds may be refused before that is an error.
const refusals = 3

// preconditionFailed reports whether the object had another generation than a request's condition.
func preconditionFailed(err error) bool {
	var api *googleapi.Error
	return errors.As(err, &api) && api.Code == http.StatusPreconditionFailed
}

// replace swaps like CompareAndSwap, for a replacement that is not nil. It reads the object again after each
// error: if a request took effect but its response was lost, the client's repetition of it fails the
// condition, which looks as if another caller had been faster.
func (b buckets) replace(ctx context.Context, name string, old, replacement []byte) (bool, error) {
	bucket, key, err := object(ctx, name)
	if err != nil {
		return false, err
	}
	for attempt := 0; ; attempt++ {
		current, generation, err := b.read(ctx, name)
		if errors.Is(err, fs.ErrNotExist) {
			current, err = nil, nil
		}
		// A refused attempt may have been this one's first: then the content is the replacement.
		switch {
		case err != nil:
			return false, err
		case attempt > 0 && current != nil && bytes.Equal(current, replacement):
			return true, nil
		case (current == nil) != (old == nil) || !bytes.Equal(current, old):
			return false, nil
		}
		// The generation that was compared must still be the present one.
		condition := cloud.Conditions{DoesNotExist: true}
		if old != nil {
			condition = cloud.Conditions{GenerationMatch: generation}
		}
		w := newWriter(ctx, name, bucket.Object(key).If(condition))
		if _, err = w.Write(replacement); err == nil {
			err = w.Commit()
		}
		w.Abort()
		if err == nil {
			return true, nil
		}
		if !preconditionFailed(err) || attempt == refusals {
			return false, err
		}
	}
}

// read returns the content of an object and its generation, or of the one that replaces it meanwhile.
func (b buckets) read(ctx context.Context, name string) (data []byte, generation int64, err error) {
	for {
		r, err := b.OpenRandom(ctx, name)
		if err != nil {
			return nil, 0, err
		}
		data = make([]byte, r.Size())
		if _, err = io.ReadFull(r, data); !errors.Is(err, errReplaced) {
			return data, r.(openObject).generation, err
		}
	}
}

// Exists reports whether an object exists; a prefix of others is none.
func (buckets) Exists(ctx context.Context, name string) (bool, error) {
	bucket, key, err := object(ctx, name)
	if err != nil || key == "" {
		return false, err
	}
	if _, err = bucket.Object(key).Attrs(ctx); err == nil {
		return true, nil
	}
	if err = bucketError(ctx, "reading", name, err); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return false, err
}

// Remove removes an object. No object is no error.
func (buckets) Remove(ctx context.Context, name string) error {
	bucket, key, err := object(ctx, name)
	if err != nil {
		return err
	}
	if err := bucket.Object(key).Delete(ctx); err != nil {
		if err = bucketError(ctx, "removing", name, err); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// RemoveAll removes the objects below a name and the one of the name, but refuses a whole bucket.
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
		return nil, bucketError(ctx, "listing", name, err)
	}
	var names []string
	for objects := bucket.Objects(ctx, query); ; {
		attributes, err := objects.Next()
		if errors.Is(err, iterator.Done) {
			return names, nil
		}
		if err != nil {
			return nil, bucketError(ctx, "listing", name, err)
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

// CheckWritable writes and removes an empty object below a name.
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
