package worker

import (
	"errors"
	"sync"
	"testing"
)

// The cache is shared by the process: each test has a kind of its own.

func TestLoadLoadsOnce(t *testing.T) {
	t.Parallel()
	var loads int // counted without a lock: -race finds a second load
	var wait sync.WaitGroup
	for range 20 {
		wait.Go(func() {
			got, err := Load(Key{"once", "a"}, "1", func() (int, error) { loads++; return 7, nil })
			if err != nil || got != 7 {
				t.Errorf("got %d, %v, want 7", got, err)
			}
		})
	}
	wait.Wait()
	if loads != 1 {
		t.Errorf("loaded %d times, want once", loads)
	}
}

func TestLoadReplacesAnotherVersion(t *testing.T) {
	t.Parallel()
	get := func(url, version, value string) string {
		got, err := Load(Key{"version", url}, version, func() (string, error) { return value, nil })
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	for _, c := range []struct{ url, version, value, want string }{
		{"a", "1", "first", "first"},
		{"b", "1", "second", "second"},
		{"a", "1", "unused", "first"},
		{"a", "2", "third", "third"},
		{"a", "1", "fourth", "fourth"},
		{"b", "1", "unused", "second"},
	} {
		if got := get(c.url, c.version, c.value); got != c.want {
			t.Errorf("%s version %s: %q, want %q", c.url, c.version, got, c.want)
		}
	}
	Forget("version")
	if got := get("b", "1", "fifth"); got != "fifth" {
		t.Errorf("after Forget: %q, want fifth", got)
	}
}

type closed struct{ times int }

func (c *closed) Close() error { c.times++; return nil }

func TestLoadClosesAReplacedVersion(t *testing.T) {
	t.Parallel()
	first, second := &closed{}, &closed{}
	for _, c := range []struct {
		version, closed int
		value           *closed
	}{{1, 0, first}, {1, 0, first}, {2, 1, second}} {
		if _, err := Load(Key{"close", "a"}, c.version, func() (*closed, error) {
			if first.times != c.closed {
				t.Errorf("version %d is loaded when the first was closed %d times, want %d", c.version, first.times, c.closed)
			}
			return c.value, nil
		}); err != nil {
			t.Fatal(err)
		}
		if first.times != c.closed || second.times != 0 {
			t.Errorf("after version %d: closed %d and %d times, want %d and 0", c.version, first.times, second.times, c.closed)
		}
	}
}

func TestDiscardCloses(t *testing.T) {
	t.Parallel()
	a, b, other := &closed{}, &closed{}, &closed{}
	for key, value := range map[Key]*closed{{"discard", "a"}: a, {"discard", "b"}: b, {"kept", "a"}: other} {
		if _, err := Load(key, 1, func() (*closed, error) { return value, nil }); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // the second finds nothing
		if err := Discard(func(k Key) bool { return k == Key{"discard", "a"} }); err != nil {
			t.Fatal(err)
		}
		if a.times != 1 || b.times != 0 || other.times != 0 {
			t.Errorf("closed %d, %d and %d times, want only the first, once", a.times, b.times, other.times)
		}
	}
	if got, err := Load(Key{"discard", "a"}, 1, func() (*closed, error) { return other, nil }); got != other || err != nil {
		t.Errorf("after Discard: %v, %v, want another value", got, err)
	}
	failure := errors.New("not closed")
	if _, err := Load(Key{"discard", "c"}, 1, func() (failing, error) { return failing{failure}, nil }); err != nil {
		t.Fatal(err)
	}
	if err := Discard(func(k Key) bool { return k.URL == "c" }); !errors.Is(err, failure) {
		t.Errorf("error %v, want that of Close", err)
	}
}

type failing struct{ err error }

func (f failing) Close() error { return f.err }

func TestLoadDoesNotCacheErrors(t *testing.T) {
	t.Parallel()
	failure := errors.New("no such file")
	if _, err := Load(Key{"error", "a"}, 1, func() (int, error) { return 0, failure }); !errors.Is(err, failure) {
		t.Errorf("error %v, want %v", err, failure)
	}
	if got, err := Load(Key{"error", "a"}, 1, func() (int, error) { return 3, nil }); err != nil || got != 3 {
		t.Errorf("the next load: %d, %v, want 3", got, err)
	}
}

func TestLoadsMayNest(t *testing.T) {
	t.Parallel()
	got, err := Load(Key{"nest", "model"}, 1, func() (int, error) {
		return Load(Key{"nest", "graph"}, 1, func() (int, error) { return 5, nil })
	})
	if err != nil || got != 5 {
		t.Errorf("got %d, %v, want 5", got, err)
	}
}

func TestRegistered(t *testing.T) {
	t.Parallel()
	a, release := Register("a")
	b, _ := Register("b")
	if got, ok := Registered[string](a); !ok || got != "a" {
		t.Errorf("%q, %v, want a", got, ok)
	}
	if _, ok := Registered[int](b); ok {
		t.Error("a value of another type was returned")
	}
	release()
	if _, ok := Registered[string](a); ok {
		t.Error("the value is known after its release")
	}
	if got, ok := Registered[string](b); !ok || got != "b" {
		t.Errorf("%q, %v, want b", got, ok)
	}
}
