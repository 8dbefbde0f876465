package lock

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tagnet/formats/storage"
	"tagnet/formats/storage/gcs/gcstest"
	"tagnet/formats/storage/storagetest"
)

// folders returns an empty folder of every kind of storage.
func folders(t *testing.T) map[string]string {
	return map[string]string{"local": t.TempDir(), "memory": storagetest.Memory(t), "gcs": gcstest.Bucket(t) + "/folder"}
}

func TestLock(t *testing.T) {
	ctx := t.Context()
	for name, folder := range folders(t) {
		t.Run(name, func(t *testing.T) {
			first, err := Acquire(ctx, folder, "train --workspace w", false)
			if err != nil {
				t.Fatal(err)
			}
			_, err = Acquire(ctx, folder, "train", false)
			var held *Held
			if !errors.As(err, &held) || held.Owner.Process != os.Getpid() || held.Owner.Command != "train --workspace w" {
				t.Fatalf("error %v", err)
			}
			host, _ := os.Hostname()
			for _, want := range []string{folder, host, held.Owner.Begun.Format(time.DateTime), "--force"} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not name %q", err, want)
				}
			}
			if err := CheckFree(ctx, folder); !errors.As(err, &held) {
				t.Errorf("free: %v", err)
			}
			if err := first.Check(ctx); err != nil {
				t.Error(err)
			}
			second, err := Acquire(ctx, folder, "train --force", true)
			if err != nil {
				t.Fatal(err)
			}
			for what, err := range map[string]error{"Check": first.Check(ctx), "Release": first.Release(ctx), "End": first.End(ctx)} {
				if lost := new(Lost); !errors.As(err, &lost) {
					t.Errorf("%s of a lock that was taken over: %v", what, err)
				}
			}
			if err := second.End(ctx); err != nil {
				t.Error(err)
			}
			third, err := Acquire(ctx, folder, "train", false)
			if err != nil {
				t.Fatalf("after its run ended: %v", err)
			}
			if err := third.Release(ctx); err != nil {
				t.Error(err)
			}
			if left, err := storage.List(ctx, folder); err != nil || len(left) > 0 {
				t.Errorf("left %q, error %v", left, err)
			}
			if err := CheckFree(ctx, folder); err != nil {
				t.Error(err)
			}
		})
	}
}

// deadOwner is the lock content of a process that has ended.
func deadOwner(t *testing.T) []byte {
	child := exec.Command(os.Args[0], "-test.run=^$")
	if err := child.Run(); err != nil {
		t.Fatal(err)
	}
	host, _ := os.Hostname()
	content, err := json.Marshal(Owner{Host: host, Process: child.Process.Pid, Started: "1", Command: "train", Token: "dead"})
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// TestOneStarterWins has many processes' worth of starters find the same free lock at once.
func TestOneStarterWins(t *testing.T) {
	ctx := t.Context()
	dead := deadOwner(t)
	for name, folder := range folders(t) {
		for from, content := range map[string][]byte{"absent": nil, "dead": dead, "cut short": []byte(`{"host":`), "empty": {}} {
			t.Run(name+" "+from, func(t *testing.T) {
				folder := storage.Join(folder, strings.ReplaceAll(from, " ", "-"))
				if content != nil {
					if err := storage.WriteFile(ctx, storage.Join(folder, FileName), content); err != nil {
						t.Fatal(err)
					}
				}
				var winners atomic.Int64
				var starters sync.WaitGroup
				for range 8 {
					starters.Go(func() {
						_, err := Acquire(ctx, folder, "train", false)
						if err == nil {
							winners.Add(1)
						} else if held := new(Held); !errors.As(err, &held) {
							t.Error(err)
						}
					})
				}
				starters.Wait()
				if winners.Load() != 1 {
					t.Errorf("%d starters hold the lock", winners.Load())
				}
			})
		}
	}
}

// TestWhichLocksAreFree checks that only a lock whose process is known to be dead is free.
func TestWhichLocksAreFree(t *testing.T) {
	t.Parallel()
	host, _ := os.Hostname()
	me := os.Getpid()
	start, _ := processStart(me)
	place := Owner{Host: host, Boot: "this boot", Namespace: "pid:[1]"}
	at := func(boot, namespace string, process int) Owner {
		return Owner{Host: host, Boot: boot, Namespace: namespace, Process: process, Started: start}
	}
	const dead = 1 << 30
	for name, c := range map[string]struct {
		owner  Owner
		shared fate // where the storage may be shared
		onDisk fate
	}{
		"same namespace":              {at("this boot", "pid:[1]", me), running, running},
		"same namespace, dead":        {at("this boot", "pid:[1]", dead), ended, ended},
		"other namespace":             {at("this boot", "pid:[2]", me), otherNamespace, otherNamespace},
		"other namespace, id is dead": {at("this boot", "pid:[2]", dead), otherNamespace, otherNamespace},
		"namespace unknown":           {at("this boot", "", dead), otherNamespace, otherNamespace},
		"other clock": {Owner{Host: host, Boot: "this boot", Namespace: "pid:[1]", Process: me, Started: start + "0",
			TimeNamespace: "time:[2]"}, running, running},
		"other clock, dead":        {Owner{Host: host, Boot: "this boot", Namespace: "pid:[1]", Process: dead, TimeNamespace: "time:[2]"}, ended, ended},
		"other boot":               {at("other boot", "pid:[1]", me), otherBoot, ended},
		"other boot, id is dead":   {at("other boot", "pid:[1]", dead), otherBoot, ended},
		"other boot and namespace": {at("other boot", "pid:[2]", dead), otherBoot, ended},
		"boot unknown":             {at("", "pid:[1]", dead), otherBoot, otherBoot},
		"both unknown":             {at("", "", me), running, running},
		"both unknown, dead":       {at("", "", dead), ended, ended},
		"other host, other boot":   {Owner{Host: host + "-other", Boot: "other boot", Namespace: "pid:[1]", Process: dead}, running, running},
		"ended elsewhere":          {Owner{Host: host, Boot: "other boot", Namespace: "pid:[2]", Process: me, Ended: true}, ended, ended},
	} {
		if got := c.owner.fate(place, false); got != c.shared {
			t.Errorf("%s, storage that may be shared: fate %d, want %d", name, got, c.shared)
		}
		if got := c.owner.fate(place, true); got != c.onDisk {
			t.Errorf("%s, on a disk: fate %d, want %d", name, got, c.onDisk)
		}
	}
	if got := at("this boot", "pid:[1]", dead).fate(Owner{Host: host}, true); got != otherBoot {
		t.Errorf("where the system does not tell: fate %d, want %d", got, otherBoot)
	}
	for name, c := range map[string]struct {
		owner Owner
		free  bool
	}{
		"this process":                   {Owner{Host: host, Process: me, Started: start}, false},
		"another process of the same id": {Owner{Host: host, Process: me, Started: start + "0", TimeNamespace: here().TimeNamespace}, start != ""},
		"start unknown":                  {Owner{Host: host, Process: me}, false},
		"another host":                   {Owner{Host: host + "-other", Process: 1 << 30}, false},
		"no such process":                {Owner{Host: host, Process: 1 << 30, Started: "5"}, true},
		"ended":                          {Owner{Host: host + "-other", Process: me, Ended: true}, true},
	} {
		content, err := json.Marshal(c.owner)
		if err != nil {
			t.Fatal(err)
		}
		if free := holder(t.Context(), "mem://folder", content) == nil; free != c.free {
			t.Errorf("%s: free %v, want %v", name, free, c.free)
		}
	}
}

// lockAndWait makes a test the process that locking starts.
func lockAndWait(t *testing.T) {
	if folder := os.Getenv("TAGNET_TEST_LOCK_AND_WAIT"); folder != "" {
		if _, err := Acquire(t.Context(), folder, "child", false); err != nil {
			t.Fatal(err)
		}
		os.Stdout.WriteString("locked\n")
		io.Copy(io.Discard, os.Stdin) // until the other process closes it or ends
		os.Exit(0)
	}
}

// locking starts a process that locks a folder, and returns when it has.
func locking(t *testing.T, folder string, command ...string) *exec.Cmd {
	t.Helper()
	child := exec.Command(command[0], command[1:]...)
	child.Env = append(os.Environ(), "TAGNET_TEST_LOCK_AND_WAIT="+folder)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := child.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, len("locked\n"))
	if _, err := out.Read(line); err != nil || !bytes.Equal(line, []byte("locked\n")) {
		t.Fatalf("%q, %v", line, err)
	}
	return child
}

// unshared locks a folder by a process in namespaces that a program makes, and returns the owner that its lock names.
func unshared(t *testing.T, folder string, program ...string) Owner {
	t.Helper()
	if out, err := exec.Command(program[0], append(program[1:], "true")...).CombinedOutput(); err != nil {
		t.Skipf("no such namespace can be made here: %v: %s", err, out)
	}
	name, _, _ := strings.Cut(t.Name(), "/")
	child := locking(t, folder, append(program, os.Args[0], "-test.run=^"+name+"$")...)
	t.Cleanup(func() { child.Process.Kill(); child.Wait() })
	content, err := os.ReadFile(filepath.Join(folder, FileName))
	if err != nil {
		t.Fatal(err)
	}
	var owner Owner
	if err := json.Unmarshal(content, &owner); err != nil {
		t.Fatal(err)
	}
	return owner
}

// TestOtherNamespace finds the lock of a live process in another PID namespace, as that of another container,
// whose id stands for another process here, or for none. A namespace that sees the /proc of this one reads the
// start of no process there.
func TestOtherNamespace(t *testing.T) {
	lockAndWait(t)
	for name, program := range map[string][]string{
		"own proc":   {"unshare", "--pid", "--fork", "--kill-child", "--mount-proc"},
		"outer proc": {"unshare", "--pid", "--fork", "--kill-child"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			if owner := unshared(t, folder, program...); (owner.Started == "") != (name == "outer proc") {
				t.Errorf("the lock of process %d names the start %q", owner.Process, owner.Started)
			}
			_, err := Acquire(t.Context(), folder, "next", false)
			if held := new(Held); !errors.As(err, &held) ||
				!strings.Contains(err.Error(),
					"in another container of that host, and cannot be seen from here; wait until it ends, or take over with --force") {
				t.Errorf("while the owner lives: %v", err)
			}
			if err := CheckFree(t.Context(), folder); !errors.As(err, new(*Held)) {
				t.Errorf("free: %v", err)
			}
			l, err := Acquire(t.Context(), folder, "next", true)
			if err != nil {
				t.Fatal(err)
			}
			if err := l.Release(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestOtherTimeNamespace finds the lock of a live process whose clock counts from another boot, so that its start
// reads differently here.
func TestOtherTimeNamespace(t *testing.T) {
	lockAndWait(t)
	folder := t.TempDir()
	owner := unshared(t, folder, "unshare", "--time", "--boottime", "100000", "--fork", "--kill-child")
	if start, _ := processStart(owner.Process); start == owner.Started {
		t.Fatalf("the start is %s in both namespaces", start)
	}
	if _, err := Acquire(t.Context(), folder, "next", false); !errors.As(err, new(*Held)) {
		t.Errorf("while the owner lives: %v", err)
	}
}

// TestOtherBoot finds the lock of an earlier boot of this machine, or of another machine with its name. Only on a disk
// it is free.
func TestOtherBoot(t *testing.T) {
	me := here()
	if me.Boot == "" {
		t.Skip("this system does not tell its boot")
	}
	me.Boot, me.Process, me.Command = "another", os.Getpid(), "train"
	content, err := json.Marshal(me)
	if err != nil {
		t.Fatal(err)
	}
	for name, folder := range folders(t) {
		if err := storage.WriteFile(t.Context(), storage.Join(folder, FileName), content); err != nil {
			t.Fatal(err)
		}
		_, err := Acquire(t.Context(), folder, "next", false)
		if storage.OnDisk(t.Context(), folder) {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		want := "(train); it ran before " + me.Host + " was restarted, or runs on another machine of that name; take over with --force if it has ended"
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", name, err, want)
		}
	}
}

// TestLockThatIsALink puts a symbolic link in the place of a lock file.
func TestLockThatIsALink(t *testing.T) {
	t.Parallel()
	for _, force := range []bool{false, true} {
		folder := t.TempDir()
		precious := filepath.Join(folder, "precious")
		if err := os.WriteFile(precious, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(precious, filepath.Join(folder, FileName)); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
		if _, err := Acquire(t.Context(), folder, "train", force); err == nil || !strings.Contains(err.Error(), FileName+": it is a symbolic link") {
			t.Errorf("error %v", err)
		}
		if text, err := os.ReadFile(precious); string(text) != "x" || err != nil {
			t.Errorf("its target holds %q, error %v", text, err)
		}
	}
}

// FuzzLockFile reads lock files that anybody may have written.
func FuzzLockFile(f *testing.F) {
	for _, seed := range []string{
		"", "{", "null", `{"host":"a","process":1}`, `{"process":-1,"ended":true}`,
		`{"host":"a","process":7,"boot":"b","pid_namespace":"pid:[1]","command":"train"}`, `{"process":1e9}`,
	} {
		f.Add([]byte(seed), false)
		f.Add([]byte(seed), true)
	}
	me := here()
	f.Fuzz(func(t *testing.T, content []byte, mine bool) {
		var parsed Owner
		err := json.Unmarshal(content, &parsed)
		if mine && err == nil { // few inputs name this host
			parsed.Host = me.Host
			content, err = json.Marshal(parsed)
		}
		folder := storagetest.Memory(t)
		if err := storage.WriteFile(t.Context(), storage.Join(folder, FileName), content); err != nil {
			t.Fatal(err)
		}
		owner := holder(t.Context(), folder, content)
		elsewhere := parsed.Host != me.Host || (parsed.Boot != "" || parsed.Namespace != "") && (parsed.Boot != me.Boot || parsed.Namespace != me.Namespace)
		switch {
		case err != nil, parsed.Process == 0, parsed.Ended:
			if owner != nil {
				t.Errorf("held by %+v", owner)
			}
		case elsewhere && owner == nil:
			t.Error("the lock of a process that may live is free")
		}
		command, failed := LastCommand(t.Context(), folder)
		if failed != nil || err == nil && command != parsed.Command || err != nil && command != "" {
			t.Errorf("the command is %q, error %v", command, failed)
		}
		if free := CheckFree(t.Context(), folder); (free == nil) != (owner == nil) || free != nil && free.Error() == "" {
			t.Errorf("CheckFree: %v", free)
		}
	})
}

// TestKilledOwner kills a process that holds a lock.
func TestKilledOwner(t *testing.T) {
	lockAndWait(t)
	folder := t.TempDir()
	child := locking(t, folder, os.Args[0], "-test.run=^TestKilledOwner$")
	_, err := Acquire(t.Context(), folder, "next", false)
	if held := new(Held); !errors.As(err, &held) || held.Owner.Process != child.Process.Pid {
		t.Errorf("while the owner lives: %v", err)
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if start, _ := processStart(os.Getpid()); start == "" {
		_ = child.Wait() // the system does not tell that a process ended before its parent reads how
	}
	for deadline := time.Now().Add(10 * time.Second); alive(child.Process.Pid, "") && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	if _, err := Acquire(t.Context(), folder, "next", false); err != nil {
		t.Errorf("after the owner was killed: %v", err)
	}
	_ = child.Wait()
}
