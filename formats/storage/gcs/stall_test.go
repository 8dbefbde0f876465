package gcs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tagnet/formats/storage"
)

// TestNoEmulator checks that an absent emulator is an immediate error that names it.
func TestNoEmulator(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	host := listener.Addr().String()
	listener.Close()
	for value, want := range map[string]string{
		host:             "reaching STORAGE_EMULATOR_HOST " + host,
		"http://" + host: "reaching STORAGE_EMULATOR_HOST http://" + host,
		host + "/":       "reaching STORAGE_EMULATOR_HOST " + host,
		"::1":            "STORAGE_EMULATOR_HOST is \"::1\": want HOST:PORT",
	} {
		t.Setenv("STORAGE_EMULATOR_HOST", value)
		_, err := storage.Exists(t.Context(), "gs://bucket/file")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", value, err, want)
		}
	}
}

// impatient shortens the timeouts for the duration of a test.
func impatient(t *testing.T, short time.Duration) {
	patience, answer, pause := Patience, Answer, Pause
	Patience, Answer, Pause = short, 50*time.Millisecond, 20*time.Millisecond
	t.Cleanup(func() { Patience, Answer, Pause = patience, answer, pause })
}

// TestNoResponse checks that every call ends in an error if the service accepts it and never responds.
func TestNoResponse(t *testing.T) {
	impatient(t, 200*time.Millisecond)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	t.Setenv("STORAGE_EMULATOR_HOST", listener.Addr().String())
	ctx, url := t.Context(), "gs://bucket/file"
	_, found := storage.Exists(ctx, url)
	_, read := storage.ReadFile(ctx, url)
	_, listed := storage.List(ctx, "gs://bucket")
	for what, err := range map[string]error{"Exists": found, "ReadFile": read, "List": listed, "WriteFile": storage.WriteFile(ctx, url, []byte("x")),
		"Remove": storage.Remove(ctx, url)} {
		if err == nil || !strings.Contains(err.Error(), "gs://bucket") {
			t.Errorf("%s: error %v", what, err)
		}
	}
}

// staller is a server of one object. Some of its responses stall after a few bytes: the connection stays open.
type staller struct {
	t       *testing.T
	content string
	ended   chan struct{} // closed at the end of the test

	mu             *sync.Mutex // guards the fields below
	contentStalls  int         // number of responses with content that will stall
	metadataStalls int         // number of responses with metadata that will stall
	bytes          int         // length of a response that stalls
	outage         bool        // instead of stalling, break the connection and all later ones
	out            bool        // the outage has begun
}

// ServeHTTP responds with the object's content or metadata.
func (s *staller) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.out {
		panic(http.ErrAbortHandler)
	}
	body, stalls, status := s.content, &s.contentStalls, http.StatusOK
	if r.URL.Query().Get("alt") != "media" {
		body, stalls = fmt.Sprintf(`{"bucket":"bucket","name":"file","size":"%d","generation":"1"}`, len(s.content)), &s.metadataStalls
	} else if text := r.Header.Get("Range"); text != "" {
		first, last := 0, len(s.content)-1
		if n, _ := fmt.Sscanf(text, "bytes=%d-%d", &first, &last); n == 0 {
			s.t.Errorf("range %q", text)
		}
		body, status = s.content[first:last+1], http.StatusPartialContent
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", first, last, len(s.content)))
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	if *stalls == 0 || len(body) <= s.bytes {
		io.WriteString(w, body)
		return
	}
	*stalls--
	io.WriteString(w, body[:s.bytes])
	w.(http.Flusher).Flush()
	if s.out = s.outage; s.out {
		panic(http.ErrAbortHandler)
	}
	s.mu.Unlock()
	defer s.mu.Lock()
	select {
	case <-s.ended:
	case <-r.Context().Done():
	}
}

// serve starts the server and lets gs:// use it.
func (s *staller) serve(t *testing.T) {
	s.t, s.content, s.ended, s.mu = t, "0123456789", make(chan struct{}), new(sync.Mutex)
	server := httptest.NewUnstartedServer(s)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Start()
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(s.ended) })
	t.Setenv("STORAGE_EMULATOR_HOST", strings.TrimPrefix(server.URL, "http://"))
}

const stalled = "gs://bucket/file"

// readers are the ways to read the object.
var readers = map[string]func(ctx context.Context) ([]byte, error){
	"stream": func(ctx context.Context) ([]byte, error) {
		r, err := storage.Open(ctx, stalled)
		if err != nil {
			return nil, err
		}
		defer r.Close()
		return io.ReadAll(r)
	},
	"ranges": func(ctx context.Context) ([]byte, error) { return storage.ReadFile(ctx, stalled) },
}

// TestStalledResponses checks that the client requests the rest of a response that stalls, and that it
// is an error if no data ever arrive.
func TestStalledResponses(t *testing.T) {
	for name, read := range readers {
		for _, c := range []struct {
			name     string
			staller  staller
			patience time.Duration
			fails    bool
		}{
			{"once", staller{metadataStalls: 1, contentStalls: 1, bytes: 4}, time.Minute, false},
			{"often", staller{contentStalls: 3, bytes: 2}, time.Minute, false},
			{"forever", staller{contentStalls: 1 << 30}, 200 * time.Millisecond, true},
		} {
			t.Run(name+" "+c.name, func(t *testing.T) {
				impatient(t, c.patience)
				c.staller.serve(t)
				got, err := read(t.Context())
				switch {
				case c.fails && (err == nil || !strings.Contains(err.Error(), "reading "+stalled+": no response within")):
					t.Errorf("read %q, error %v", got, err)
				case !c.fails && (err != nil || string(got) != c.staller.content):
					t.Errorf("read %q, error %v", got, err)
				}
			})
		}
	}
}

// TestOutageIsNotTheEnd checks that a broken connection is not mistaken for the end of an object, before
// or in the middle of its content.
func TestOutageIsNotTheEnd(t *testing.T) {
	for name, read := range readers {
		for _, stalls := range [][2]int{{0, 1}, {1, 0}} {
			t.Run(fmt.Sprint(name, stalls), func(t *testing.T) {
				impatient(t, 200*time.Millisecond)
				s := staller{metadataStalls: stalls[0], contentStalls: stalls[1], bytes: 4, outage: true}
				s.serve(t)
				if stalls[0] > 0 {
					s.out = true
				}
				got, err := read(t.Context())
				if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
					t.Errorf("read %q, error %v", got, err)
				} else if strings.Count(err.Error(), stalled) != 1 {
					t.Errorf("the object is not named once: %v", err)
				}
			})
		}
	}
}

// dying is a connection that silently stops transferring data once it is dead.
type dying struct {
	net.Conn
	dead   *atomic.Bool
	closed chan struct{}
	close  sync.Once
}

func (d *dying) Read(p []byte) (int, error) {
	n, err := d.Conn.Read(p)
	if d.dead.Load() {
		<-d.closed
		return 0, net.ErrClosed
	}
	return n, err
}

func (d *dying) Close() error {
	d.close.Do(func() { close(d.closed) })
	return d.Conn.Close()
}

// TestDeadConnectionIsAbandoned checks that later calls do not use an HTTP/2 connection that died.
func TestDeadConnectionIsAbandoned(t *testing.T) {
	impatient(t, time.Minute)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, r.Proto)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	var connections atomic.Int64
	var dead atomic.Bool
	of := transport()
	of.TLSClientConfig = server.Client().Transport.(*http.Transport).TLSClientConfig
	of.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := new(net.Dialer).DialContext(ctx, network, address)
		if err != nil || connections.Add(1) > 1 {
			return c, err
		}
		return &dying{Conn: c, dead: &dead, closed: make(chan struct{})}, nil
	}
	client := &http.Client{Transport: unstalled{of}}
	get := func() (string, error) {
		answer, err := client.Get(server.URL)
		if err != nil {
			return "", err
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		return string(body), err
	}
	if body, err := get(); err != nil || body != "HTTP/2.0" {
		t.Fatalf("%q, error %v", body, err)
	}
	dead.Store(true)
	for begun := time.Now(); ; {
		body, err := get()
		if err == nil && body == "HTTP/2.0" {
			break
		}
		if time.Since(begun) > 5*time.Second {
			t.Fatalf("after %d connections: %q, error %v", connections.Load(), body, err)
		}
	}
}
