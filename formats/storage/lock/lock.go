package lock

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"time"

	"tagnet/formats/remedy"
	"tagnet/formats/storage"
)

// FileName is the name of the lock file in the folder that it protects.
const FileName = ".lock"

// Owner is the content of a lock file.
type Owner struct {
	// Host is the name of the machine on which the process runs.
	Host string `json:"host"`
	// Process is its id there, and Started what tells it from a later process with the same id:
	// on Linux its start in clock ticks since boot by the clock of TimeNamespace, elsewhere empty.
	Process       int    `json:"process"`
	Started       string `json:"process_start,omitempty"`
	TimeNamespace string `json:"time_namespace,omitempty"`
	// Boot and Namespace are the boot of the machine and the PID namespace in which the process has its id; empty where
	// the system does not tell.
	Boot      string `json:"boot,omitempty"`
	Namespace string `json:"pid_namespace,omitempty"`
	// Command is the command line.
	Command string `json:"command"`
	// Begun is when the lock was acquired.
	Begun time.Time `json:"begun"`
	// Token is different in every lock.
	Token string `json:"token"`
	// Ended reports that the run has ended and left unfinished files in the folder.
	Ended bool `json:"ended,omitempty"`
}

// Lock is the lock of a folder as its owner holds it. It is plain data: workers on other machines
// can Check a copy.
type Lock struct{ URL, Content string }

// Held is the error of a folder that another run is writing.
type Held struct {
	Folder string
	Owner  Owner
	// TakeOver says what takes over the folder of a run that has ended; the zero Help is the flag --force.
	TakeOver remedy.Help
}

// Error names the process, since when it writes, what is known of it, and what to do.
func (h *Held) Error() string { return h.Unwrap().Error() }

// Unwrap returns the text of the error and what to do.
func (h *Held) Unwrap() error {
	if h.TakeOver.String() != "" {
		return h.withRemedy(h.TakeOver)
	}
	return h.withRemedy(remedy.Do("take over with %v", remedy.Flag("force")))
}

// ForReader returns the error of a run that needs the folder and does not write it: --force is not its own flag.
func (h *Held) ForReader() error {
	return h.withRemedy(remedy.Do("take over with %v of that command", remedy.Flag("force")))
}

// withRemedy returns the error with the owner and what to do; takeOver is the words for overwriting with force.
func (h *Held) withRemedy(takeOver remedy.Help) error {
	o, help := h.Owner, remedy.Do("wait until it ends, or stop it and %v", takeOver)
	switch o.fate(here(), false) {
	case otherNamespace:
		help = remedy.Do("it runs or ran in another container of that host, and cannot be seen from here; wait until it ends, or %v if it has ended", takeOver)
	case otherBoot:
		help = remedy.Do("it ran before %s was restarted, or runs on another machine of that name; %v if it has ended", o.Host, takeOver)
	}
	return remedy.Errorf(help, "%s is being written by process %d on host %s since %s (%s)", h.Folder, o.Process, o.Host, o.Begun.Format(time.DateTime+" MST"),
		o.Command)
}

// Lost is the error of a run whose folder another run took over.
type Lost struct{ URL string }

// Error names the lock file and what to do.
func (l *Lost) Error() string {
	return fmt.Sprintf("another run took over the folder of %s, so that this run cannot complete it: run again when the other has ended", l.URL)
}

// Acquire locks a folder for a command. It returns a *Held error if another run holds the lock,
// unless force is true.
func Acquire(ctx context.Context, folder, command string, force bool) (Lock, error) {
	me := here()
	me.Process, me.Command = os.Getpid(), command
	me.Started, _ = processStart(me.Process)
	me.Begun, me.Token = time.Now().UTC().Truncate(time.Second), fmt.Sprintf("%016x%016x", rand.Uint64(), rand.Uint64())
	content, err := json.Marshal(me)
	if err != nil {
		return Lock{}, err
	}
	l := Lock{URL: storage.Join(folder, FileName), Content: string(content)}
	for {
		current, err := read(ctx, l.URL)
		if err != nil {
			return Lock{}, err
		}
		if owner := holder(ctx, folder, current); owner != nil && !force {
			return Lock{}, &Held{Folder: folder, Owner: *owner}
		}
		waits := time.AfterFunc(silence, func() { slog.Warn(waiting(folder, current)) })
		swapped, err := storage.CompareAndSwap(ctx, l.URL, current, content)
		waits.Stop()
		if err != nil {
			return Lock{}, fmt.Errorf("locking %s: %w", folder, err)
		}
		if swapped {
			return l, nil
		}
		force = false // another run was faster
	}
}

// silence is how long Acquire waits for a lock file that another process is changing, or was stopped
// at, before it says so.
const silence = 2 * time.Second

// waiting says what Acquire waits for, and who holds the lock, since when.
func waiting(folder string, content []byte) string {
	text := "waiting for the lock file of " + folder + ", which another process is changing or was stopped at"
	var o Owner
	if json.Unmarshal(content, &o) != nil || o.Process == 0 {
		return text
	}
	return text + ": " + remedy.Without(&Held{Folder: folder, Owner: o})
}

// CheckFree returns a *Held error if a run that may be alive holds the lock of a folder.
func CheckFree(ctx context.Context, folder string) error {
	current, err := read(ctx, storage.Join(folder, FileName))
	if err != nil {
		return err
	}
	if owner := holder(ctx, folder, current); owner != nil {
		return &Held{Folder: folder, Owner: *owner}
	}
	return nil
}

// LastCommand returns the command line of the run that wrote the lock file of a folder, whether it is alive or not, and
// "" if there is none.
func LastCommand(ctx context.Context, folder string) (string, error) {
	content, err := read(ctx, storage.Join(folder, FileName))
	var owner Owner
	if err != nil || json.Unmarshal(content, &owner) != nil {
		return "", err
	}
	return owner.Command, nil
}

// read returns the content of a lock file, nil if it does not exist.
func read(ctx context.Context, url string) ([]byte, error) {
	// Not storage.ReadFile, which fails if the file is rewritten meanwhile: a torn read cannot be
	// parsed, or is refused by the swap.
	file, err := storage.Open(ctx, url)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the lock file: %w", err)
	}
	data, err := io.ReadAll(file)
	if err = cmp.Or(err, file.Close()); err != nil {
		return nil, fmt.Errorf("reading the lock file: %w", err)
	}
	return data, nil
}

// holder returns the owner that the lock file of a folder names, or nil if the lock is free. A file that cannot be
// parsed was left by a process that was killed while writing it.
func holder(ctx context.Context, folder string, content []byte) *Owner {
	var owner Owner
	if json.Unmarshal(content, &owner) != nil || owner.Process == 0 || owner.fate(here(), storage.OnDisk(ctx, folder)) == ended {
		return nil
	}
	return &owner
}

// Check returns a *Lost error if another run has taken the lock over. The zero Lock is never lost.
func (l Lock) Check(ctx context.Context) error {
	if l.URL == "" {
		return nil
	}
	current, err := read(ctx, l.URL)
	if err == nil && string(current) != l.Content {
		err = &Lost{URL: l.URL}
	}
	return err
}

// Guard returns a context in which storage changes files only while the lock is held: it calls Check
// before each change. Every step of a run writes the files of the locked folder in such a context.
func (l Lock) Guard(ctx context.Context) context.Context {
	if l.URL == "" {
		return ctx
	}
	return storage.WithGuard(ctx, l.Check)
}

// Release removes the lock file. It returns a *Lost error if another run has taken it over.
func (l Lock) Release(ctx context.Context) error { return l.swap(ctx, nil) }

// End marks the lock file: the run has ended and files of it are left in the folder, or are still
// being written by its workers. It returns a *Lost error if another run has taken it over.
func (l Lock) End(ctx context.Context) error {
	var owner Owner
	if err := json.Unmarshal([]byte(l.Content), &owner); err != nil {
		return fmt.Errorf("%s: %w", l.URL, err)
	}
	owner.Ended = true
	content, err := json.Marshal(owner)
	if err != nil {
		return err
	}
	return l.swap(ctx, content)
}

func (l Lock) swap(ctx context.Context, content []byte) error {
	swapped, err := storage.CompareAndSwap(ctx, l.URL, []byte(l.Content), content)
	if err == nil && !swapped {
		err = &Lost{URL: l.URL}
	}
	return err
}
