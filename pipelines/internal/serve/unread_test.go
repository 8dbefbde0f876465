package serve

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"tagnet/pipelines/internal/cli/command"
)

// stopped is a reader that takes nothing until its channel is closed.
type stopped struct {
	back chan struct{}
	text bytes.Buffer
}

func (s *stopped) Write(text []byte) (int, error) {
	<-s.back
	return s.text.Write(text)
}

// TestUnread writes lines that nobody reads for a while: each is read later, in order, or counted in
// a line in its place.
func TestUnread(t *testing.T) {
	t.Parallel()
	reader := &stopped{back: make(chan struct{})}
	u := &unread{w: reader}
	const lines = mostUnread / 4 // of ten bytes; what is being written comes to what is held
	for i := range lines {
		fmt.Fprintf(u, "%09d\n", i)
	}
	if len(u.held) > mostUnread {
		t.Errorf("it holds %d bytes", len(u.held))
	}
	close(reader.back)
	u.flush()
	fmt.Fprintln(u, "the next")
	u.flush()
	got := strings.Split(reader.text.String(), "\n")
	kept := len(got) - 3
	for i, line := range got[:kept] {
		if line != fmt.Sprintf("%09d", i) {
			t.Fatalf("line %d is %q", i, line)
		}
	}
	if want := fmt.Sprintf("%d lines are left out here: nobody read this output", lines-kept); got[kept] != want || got[kept+1] != "the next" {
		t.Errorf("%d lines, then %q, want %q", kept, got[kept:], want)
	}
}

// listened sends the URL of a server that says where it listens. Then its reader stops, if it is to.
type listened struct {
	url   chan string
	stops bool
}

func (l *listened) Write(text []byte) (int, error) {
	if _, after, ok := strings.Cut(string(text), "listening on "); ok {
		url, _, _ := strings.Cut(after, "\n")
		l.url <- url
		if l.stops {
			select {}
		}
	}
	return len(text), nil
}

// TestNobodyReadsTheOutput has servers of whose standard output or standard error nothing is read: they
// answer, reload and end.
func TestNobodyReadsTheOutput(t *testing.T) {
	workspace := trained(t)
	for name, stderr := range map[string]io.Writer{"out": io.Discard, "stderr": &stopped{}} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			out, ended := &listened{make(chan string, 1), name == "out"}, make(chan int, 1)
			go func() {
				ended <- command.Run(ctx, Pipeline(), []string{"--workspace", workspace, "--listen", "127.0.0.1:0", "--verbose"}, out, stderr)
			}()
			url := <-out.url
			client := &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
			for range 3 {
				response, err := client.Post(url+"/reload", "", nil)
				if err != nil {
					t.Fatal(err)
				}
				response.Body.Close()
				if response.StatusCode != 200 {
					t.Errorf("status %d", response.StatusCode)
				}
			}
			cancel()
			select {
			case code := <-ended:
				if code != 0 {
					t.Errorf("exit code %d", code)
				}
			case <-time.After(20 * time.Second):
				t.Error("it does not end")
			}
		})
	}
}
