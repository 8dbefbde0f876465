package storage

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"
)

// staller serves one object. Some of its answers stop after a few bytes, and are left open.
type staller struct {
	t       *testing.T
	content string
	stalls  int // answers that are to stop, of those that bring what is in the object
	early   int // and of those that bring what is known of it
	bytes   int // what such an answer brings
	ended   chan struct{}
}

// ServeHTTP makes an http.Handler of a staller.
func (s *staller) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, stalls, status := s.content, &s.stalls, http.StatusOK
	if r.URL.Query().Get("alt") != "media" {
		body, stalls = fmt.Sprintf(`{"bucket":"bucket","name":"file","size":"%d","generation":"1"}`, len(s.content)), &s.early
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
	select {
	case <-s.ended:
	case <-r.Context().Done():
	}
}

// TestAnswersThatStall holds that where an answer stops in its middle the rest is asked for, and
// that it is an error if nothing ever comes.
func TestAnswersThatStall(t *testing.T) {
	const url = "gs://bucket/file"
	readers := map[string]func() ([]byte, error){
		"stream": func() ([]byte, error) {
			r, err := Open(t.Context(), url)
			if err != nil {
				return nil, err
			}
			defer r.Close()
			return io.ReadAll(r)
		},
		"ranges": func() ([]byte, error) { return ReadFile(t.Context(), url) },
	}
	for name, read := range readers {
		for _, c := range []struct {
			name                 string
			early, stalls, bytes int
			patience             time.Duration
			fails                bool
		}{
			{"once", 1, 1, 4, time.Minute, false},
			{"often", 0, 3, 2, time.Minute, false},
			{"for ever", 0, 1 << 30, 0, 200 * time.Millisecond, true},
		} {
			t.Run(name+" "+c.name, func(t *testing.T) {
				impatient(t, c.patience)
				s := &staller{t: t, content: "0123456789", stalls: c.stalls, early: c.early, bytes: c.bytes, ended: make(chan struct{})}
				server := httptest.NewServer(s)
				t.Cleanup(server.Close)
				t.Cleanup(func() { close(s.ended) })
				t.Setenv("STORAGE_EMULATOR_HOST", strings.TrimPrefix(server.URL, "http://"))
				got, err := read()
				switch {
				case c.fails && (err == nil || !strings.Contains(err.Error(), "reading "+url+": no answer within")):
					t.Errorf("read %q, error %v", got, err)
				case !c.fails && (err != nil || string(got) != s.content):
					t.Errorf("read %q, error %v", got, err)
				}
			})
		}
	}
}
