package lock

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
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
	for name, c := range map[string]struct {
		owner Owner
		free  bool
	}{
		"this process":                   {Owner{Host: host, Process: me, Started: start}, false},
		"another process of the same id": {Owner{Host: host, Process: me, Started: start + "0"}, start != ""},
		"start unknown":                  {Owner{Host: host, Process: me}, false},
		"another host":                   {Owner{Host: host + "-other", Process: 1 << 30}, false},
		"no such process":                {Owner{Host: host, Process: 1 << 30, Started: "5"}, true},
		"ended":                          {Owner{Host: host + "-other", Process: me, Ended: true}, true},
	} {
		content, err := json.Marshal(c.owner)
		if err != nil {
			t.Fatal(err)
		}
		if free := holder(content) == nil; free != c.free {
			t.Errorf("%s: free %v, want %v", name, free, c.free)
		}
	}
}

// TestKilledOwner kills a process that holds a lock.
func TestKilledOwner(t *testing.T) {
	if folder := os.Getenv("TAGNET_TEST_LOCK_AND_WAIT"); folder != "" {
		if _, err := Acquire(t.Context(), folder, "child", false); err != nil {
			t.Fatal(err)
		}
		os.Stdout.WriteString("locked\n")
		select {}
	}
	folder := t.TempDir()
	child := exec.Command(os.Args[0], "-test.run=^TestKilledOwner$")
	child.Env = append(os.Environ(), "TAGNET_TEST_LOCK_AND_WAIT="+folder)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, len("locked\n"))
	if _, err := out.Read(line); err != nil || !bytes.Equal(line, []byte("locked\n")) {
		t.Fatalf("%q, %v", line, err)
	}
	_, err = Acquire(t.Context(), folder, "next", false)
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
