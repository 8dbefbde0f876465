package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// TemporaryPrefix begins the name of every file that is still being written.
const TemporaryPrefix = ".tagnet-tmp-"

// ErrUnavailable is wrapped by the errors of a remote storage that did not answer a request or refused it.
// Such an error says nothing about the file.
var ErrUnavailable = errors.New("storage unavailable")

// RandomReader is an open file that is read at any place. ReadAt may be called from several
// goroutines at once; Read and Seek may not.
type RandomReader interface {
	io.Reader
	io.ReaderAt
	io.Seeker
	io.Closer
	// Size is the length of the file in bytes when it was opened.
	Size() int64
}

// Writer is a file in the making. Exactly one of Commit and Abort ends it; Abort after
// Commit does nothing, so that it can be deferred.
type Writer interface {
	io.Writer
	// Commit makes the file appear under its name, whole and on disk. After an error of it,
	// or of any Write before it, nothing has appeared.
	Commit() error
	// Abort drops what was written, and the folders that Create made for it if nothing else is in them.
	Abort() error
}

// FileSystem is one kind of storage. Its methods take the path that follows "://" in a URL, do
// what the functions of this package of the same names do, and name the whole URL in their errors.
type FileSystem interface {
	Open(ctx context.Context, path string) (io.ReadCloser, error)
	OpenRandom(ctx context.Context, path string) (RandomReader, error)
	Create(ctx context.Context, path string) (Writer, error)
	Exists(ctx context.Context, path string) (bool, error)
	Remove(ctx context.Context, path string) error
	RemoveAll(ctx context.Context, path string) error
	// List returns URLs in any order, temporary files included.
	List(ctx context.Context, path string) ([]string, error)
	CheckWritable(ctx context.Context, path string) error
	CompareAndSwap(ctx context.Context, path string, old, replacement []byte) (bool, error)
}

// Local is implemented by a FileSystem in which folders exist without files in them, or which holds symbolic links,
// named pipes and devices beside files. Its methods do what the functions of this package of the same names do.
type Local interface {
	OpenStream(path string) (io.ReadCloser, error)
	CheckRegular(ctx context.Context, root, path string) error
	RemoveEmpty(path string)
	OnDisk(path string) bool
	CanExchange(path string) (bool, error)
	Exchange(a, b string) (bool, error)
	// RemoveEmptyBelow removes the folders below a folder that hold no files.
	RemoveEmptyBelow(path string)
}

// registered holds the file system of each URL scheme; "" is the scheme of plain paths.
var registered = struct {
	sync.RWMutex
	byScheme map[string]FileSystem
}{byScheme: map[string]FileSystem{"": files{}, "file": files{scheme: "file"}, "mem": memory{}}}

// Register makes URLs of a scheme be served by a file system. A package that implements one calls
// it from its init function, so that importing the package is enough. It panics if the scheme is
// registered already.
func Register(scheme string, system FileSystem) {
	registered.Lock()
	defer registered.Unlock()
	if registered.byScheme[scheme] != nil {
		panic(fmt.Sprintf("storage: scheme %q is registered twice", scheme))
	}
	registered.byScheme[scheme] = system
}

// resolve returns the file system of a URL and the path in it.
func resolve(ctx context.Context, url string) (FileSystem, string, error) {
	if err := ctx.Err(); err != nil {
		return nil, "", fmt.Errorf("%s: %w", url, err)
	}
	scheme, path := split(url)
	if strings.ContainsRune(url, 0) || path == "" {
		return nil, "", fmt.Errorf("%q is not a path or URL of a file", url)
	}
	registered.RLock()
	defer registered.RUnlock()
	system := registered.byScheme[scheme]
	if system == nil {
		return nil, "", fmt.Errorf("%s: unknown scheme %q; this program reads and writes %s%s", url, scheme, schemes(), missingImport[scheme])
	}
	return system, path, nil
}

// resolveChange is resolve for a call that changes files, which the guard of the context must allow.
func resolveChange(ctx context.Context, url string) (FileSystem, string, error) {
	system, path, err := resolve(ctx, url)
	if err == nil {
		err = guarded(ctx)
	}
	return system, path, err
}

// call calls a method of the file system of a URL.
func call[T any](ctx context.Context, url string, method func(FileSystem, context.Context, string) (T, error)) (value T, err error) {
	system, path, err := resolve(ctx, url)
	if err != nil {
		return value, err
	}
	return method(system, ctx, path)
}

// schemes lists what is registered, for messages. The caller holds the lock.
func schemes() string {
	known := []string{"plain paths"}
	for _, scheme := range slices.Sorted(maps.Keys(registered.byScheme)) {
		if scheme != "" {
			known = append(known, scheme+"://")
		}
	}
	return strings.Join(known, ", ")
}

// missingImport completes the message for a scheme whose package exists but is not imported.
var missingImport = map[string]string{"gs": `; for gs:// import _ "tagnet/formats/storage/gcs"`}

// Open opens a file for reading from its beginning. An absent file is an error that
// satisfies errors.Is(err, fs.ErrNotExist), in every scheme. What is no regular file, such as a named
// pipe, is an error too; symbolic links are followed.
func Open(ctx context.Context, url string) (io.ReadCloser, error) {
	return call(ctx, url, FileSystem.Open)
}

// OpenStream opens a file that a user names, which may also be a pipe or a device. It can be read
// once, and OpenStream waits for the other end of a named pipe.
func OpenStream(ctx context.Context, url string) (io.ReadCloser, error) {
	system, path, err := resolve(ctx, url)
	if err != nil {
		return nil, err
	}
	if local, ok := system.(Local); ok {
		return local.OpenStream(path)
	}
	return system.Open(ctx, path)
}

// OpenRandom opens a file for reading at any offset. It returns the errors of Open.
func OpenRandom(ctx context.Context, url string) (RandomReader, error) {
	return call(ctx, url, FileSystem.OpenRandom)
}

// mostText is the size in bytes above which a file is not read as a text.
const mostText = 256 << 20

// ReadText returns the content of a file of text, such as JSON, that has at most 256 MiB. It returns
// the errors of Open.
func ReadText(ctx context.Context, url string) ([]byte, error) { return readUpTo(ctx, url, mostText) }

// ReadFile returns the whole content of a file. It returns the errors of Open.
func ReadFile(ctx context.Context, url string) ([]byte, error) {
	return readUpTo(ctx, url, math.MaxInt64)
}

// readUpTo returns the content of a file of at most so many bytes.
func readUpTo(ctx context.Context, url string, most int64) ([]byte, error) {
	r, err := OpenRandom(ctx, url)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if r.Size() > most {
		return nil, fmt.Errorf("reading %s: %w", url, &Unreadable{fmt.Errorf("it has %d bytes, more than the %d of any such file", r.Size(), most)})
	}
	data := make([]byte, r.Size())
	_, err = io.ReadFull(r, data)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("reading %s: it became shorter meanwhile: %w", url, err)
	}
	return data, err
}

// Create begins to write a file, making the folders that lead to it, and removes what a
// killed process may have left of the same file. The context must live until Commit. A symbolic link of
// that name, or anything else that is no regular file, is an error.
func Create(ctx context.Context, url string) (Writer, error) {
	system, path, err := resolveChange(ctx, url)
	if err != nil {
		return nil, err
	}
	w, err := system.Create(ctx, path)
	if err != nil || ctx.Value(guardKey{}) == nil {
		return w, err
	}
	return guardedWriter{w, ctx}, nil
}

// WriteFile writes a file that appears whole or not at all.
func WriteFile(ctx context.Context, url string, data []byte) error {
	w, err := Create(ctx, url)
	if err != nil {
		return err
	}
	defer w.Abort()
	if _, err := w.Write(data); err != nil {
		return err
	}
	return w.Commit()
}

// Exists reports whether there is a file (not a folder) of that name.
func Exists(ctx context.Context, url string) (bool, error) {
	return call(ctx, url, FileSystem.Exists)
}

// Remove removes one file, of a symbolic link not its target. An absent file is no error.
func Remove(ctx context.Context, url string) error {
	system, path, err := resolveChange(ctx, url)
	if err != nil {
		return err
	}
	return system.Remove(ctx, path)
}

// RemoveAll removes a folder and everything below it, temporary files included. A folder that cannot be
// removed, such as a mount point, is emptied. An absent folder is no error. RemoveAll refuses to
// remove a root or a whole bucket.
func RemoveAll(ctx context.Context, url string) error {
	system, path, err := resolveChange(ctx, url)
	if err != nil {
		return err
	}
	return system.RemoveAll(ctx, path)
}

// List returns the URLs of all files below a folder, at any depth, sorted and in the form
// in which the folder was written. Temporary files are left out; an absent folder has none.
func List(ctx context.Context, url string) ([]string, error) {
	urls, err := call(ctx, url, FileSystem.List)
	if err != nil {
		return nil, err
	}
	urls = slices.DeleteFunc(urls, isTemporary)
	slices.Sort(urls)
	return urls, nil
}

// CompareAndSwap replaces a small file that holds exactly old, and returns false if it holds anything
// else. A nil old stands for a file that does not exist, a nil replacement removes the file. Of
// several callers with the same old, in whatever processes, one gets true.
func CompareAndSwap(ctx context.Context, url string, old, replacement []byte) (bool, error) {
	system, path, err := resolve(ctx, url)
	if err != nil {
		return false, err
	}
	return system.CompareAndSwap(ctx, path, old, replacement)
}

// Clear removes every file below a folder except one, temporary files included, and the folders below it that are empty
// then. Only the owner of the folder may call it: it also removes what others are writing there.
func Clear(ctx context.Context, folder, except string) error {
	if err := removeBelow(ctx, folder, func(url string) bool { return url != except }); err != nil {
		return err
	}
	system, path, err := resolveChange(ctx, folder)
	if local, ok := system.(Local); ok && err == nil {
		local.RemoveEmptyBelow(path)
	}
	return err
}

// RemoveEmpty removes a folder if nothing is in it. Where folders exist only by their files it has
// nothing to do.
func RemoveEmpty(ctx context.Context, folder string) {
	system, path, err := resolveChange(ctx, folder)
	if local, ok := system.(Local); ok && err == nil {
		local.RemoveEmpty(path)
	}
}

// RemoveTemporary removes the temporary files below a folder, which killed processes left. Only the
// owner of the folder may call it.
func RemoveTemporary(ctx context.Context, folder string) error {
	return removeBelow(ctx, folder, isTemporary)
}

func removeBelow(ctx context.Context, folder string, chosen func(url string) bool) error {
	urls, err := call(ctx, folder, FileSystem.List)
	for _, url := range urls {
		if err == nil && chosen(url) {
			err = Remove(ctx, url)
		}
	}
	return err
}

// CheckRegular returns an error that names what is neither a folder nor a regular file, such as a
// symbolic link, among a file or folder below root, the folders between the two, and everything in it.
// Whoever writes there checks first, so that a workspace that came from elsewhere cannot lead it to
// other files. The path may be absent, and root itself may lie behind symbolic links.
func CheckRegular(ctx context.Context, root, url string) error {
	system, path, err := resolve(ctx, url)
	if local, ok := system.(Local); ok && err == nil {
		_, root := split(root)
		err = local.CheckRegular(ctx, root, path)
	}
	return err
}

// OnDisk reports whether a folder is known to lie on a disk that one machine at a time mounts: what wrote there before
// this machine was started has ended.
func OnDisk(ctx context.Context, url string) bool {
	system, path, err := resolve(ctx, url)
	local, ok := system.(Local)
	return err == nil && ok && local.OnDisk(path)
}

// CanExchange reports whether Exchange can exchange a folder for another one beside it. An error that does not answer
// that, as of a full disk, is returned.
func CanExchange(ctx context.Context, folder string) (bool, error) {
	system, path, err := resolveChange(ctx, folder)
	if err != nil {
		return false, err
	}
	local, ok := system.(Local)
	if !ok {
		return false, nil
	}
	can, err := local.CanExchange(path)
	if err != nil {
		return false, explain("writing beside", folder, err)
	}
	return can, nil
}

// Exchange gives two folders of the same storage each other's names in one step: whoever looks finds the one or the
// other, whole. It reports false, and does nothing, where the storage has no such step.
func Exchange(ctx context.Context, a, b string) (bool, error) {
	system, path, err := resolveChange(ctx, a)
	if err != nil {
		return false, err
	}
	local, ok := system.(Local)
	if !ok {
		return false, nil
	}
	_, other := split(b)
	exchanged, err := local.Exchange(path, other)
	if err != nil {
		return false, explain("exchanging", a, err)
	}
	return exchanged, nil
}

// CheckWritable reports whether files can be written into a folder, which need not exist. It
// leaves nothing behind.
func CheckWritable(ctx context.Context, url string) error {
	system, path, err := resolve(ctx, url)
	if err != nil {
		return err
	}
	if err := system.CheckWritable(ctx, path); err != nil {
		return fmt.Errorf("%s cannot be written to: %w", url, err)
	}
	return nil
}

// explain adds the remedy to the errors of writing that a user can do something about.
func explain(doing, url string, err error) error {
	var path *fs.PathError
	var rename *os.LinkError
	switch { // the message names the URL already, and users do not know the temporary name
	case errors.As(err, &path):
		err = path.Err
	case errors.As(err, &rename):
		err = rename.Err
	}
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return fmt.Errorf("%s %s: the disk is full (%w); free some space there or write elsewhere", doing, url, err)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%s %s: %w; allow writing there or write elsewhere", doing, url, err)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s %s: %w: it was removed while it was written; does another run make the same folder?", doing, url, err)
	case errors.Is(err, syscall.ENOTEMPTY):
		return fmt.Errorf("%s %s: %w: something was written there meanwhile; does another run make the same folder?", doing, url, err)
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%s %s: %w: a file stands where a folder is needed", doing, url, err)
	}
	return fmt.Errorf("%s %s: %w", doing, url, err)
}
