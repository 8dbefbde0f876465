package serve

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestHostileConnections fills a server with connections whose clients stop, and asks it over a new one.
func TestHostileConnections(t *testing.T) {
	p := launch(t, trained(t))
	const good = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
	for name, test := range map[string]struct {
		sends    string
		answered bool // before it waits
		busy     bool // the server may be
	}{
		"silent":           {"", false, false},
		"half a header":    {good, false, false},
		"idle":             {good + "\r\n", true, false},
		"half of a second": {good + "\r\n" + good, true, false},
		"half a body":      {"POST /answer HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{", false, true},
		"no such path":     {"POST /answers HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{", false, true},
	} {
		hostile := make([]net.Conn, mostConnections)
		for i := range hostile {
			connection, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer connection.Close()
			hostile[i] = connection
			connection.SetDeadline(time.Now().Add(20 * time.Second))
			io.WriteString(connection, test.sends)
			if !test.answered {
				continue
			}
			if line, err := bufio.NewReader(connection).ReadString('\n'); !strings.HasPrefix(line, "HTTP/1.1 200") {
				t.Fatalf("%s: connection %d: %q, %v", name, i, line, err)
			}
		}
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 3 * time.Second}
		response, err := client.Get(p.url + "/healthz")
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if response.Body.Close(); response.StatusCode != http.StatusOK && (!test.busy || response.StatusCode != http.StatusServiceUnavailable) {
			t.Errorf("%s: status %d", name, response.StatusCode)
		}
		for _, connection := range hostile {
			connection.Close()
		}
	}
}

// TestBurst has more clients at once than connections. Each of them gets a response.
func TestBurst(t *testing.T) {
	p := launch(t, trained(t))
	const clients = 2 * mostConnections
	failed := make(chan error, clients)
	begin := make(chan struct{})
	for range clients {
		go func() {
			<-begin
			client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}
			response, err := client.Post(p.url+"/answer", "application/json", strings.NewReader("{}")) // not sent again, as a GET would be
			if err == nil {
				response.Body.Close()
			}
			failed <- err
		}()
	}
	close(begin)
	lost := 0
	var last error
	for range clients {
		if err := <-failed; err != nil {
			lost, last = lost+1, err
		}
	}
	if lost > 0 {
		t.Errorf("%d of %d clients got no response: %v", lost, clients, last)
	}
}

// TestLongestWaitingIsClosed has one connection too many, twice: no active connection is closed for
// it, and no young one.
func TestLongestWaitingIsClosed(t *testing.T) {
	t.Parallel()
	c := connections{open: map[net.Conn]connection{}}
	closed := map[string]bool{}
	all := make([]*named, mostConnections)
	for i := range all {
		all[i] = &named{name: fmt.Sprint(i), closed: closed}
		c.follow(all[i], http.StateNew)
	}
	c.follow(all[0], http.StateActive)
	c.follow(all[1], http.StateActive)
	c.follow(all[1], http.StateIdle) // waits since now
	c.follow(&named{name: "one more", closed: closed}, http.StateNew)
	c.follow(all[2], http.StateActive) // its goroutine has not seen the end yet
	c.follow(&named{name: "two more", closed: closed}, http.StateNew)
	if len(closed) != 2 || !closed["2"] || !closed["3"] || len(c.open) != mostConnections {
		t.Errorf("%d connections are open, closed are %v", len(c.open), closed)
	}
}

type named struct {
	net.Conn
	name   string
	closed map[string]bool
}

func (n *named) Close() error {
	n.closed[n.name] = true
	return nil
}

// TestCrowded has more requests than connections may have, one of them with a body that does not arrive.
func TestCrowded(t *testing.T) {
	t.Parallel()
	s, address := start(t)
	for i := range mostRequests + 1 {
		of := &named{name: fmt.Sprint(i)}
		s.connections.follow(of, http.StateNew)
		s.connections.follow(of, http.StateActive)
	}
	got := send(t, "GET", address+"/healthz", "")
	if f := read[failure](t, got); got.status != 503 || got.header.Get("Retry-After") != "1" || !strings.HasPrefix(f.Text, "448 connections have requests") {
		t.Errorf("%+v", got)
	}
	refusedBeforeItsBody(t, address, "/answer", 503)
}

// refusedBeforeItsBody sends a request without its body, and checks the status of the response.
func refusedBeforeItsBody(t *testing.T, address, path string, want int) {
	t.Helper()
	connection, err := net.Dial("tcp", strings.TrimPrefix(address, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	connection.SetDeadline(time.Now().Add(5 * time.Second)) // httptest's server has no limit
	fmt.Fprintf(connection, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{", path)
	if text, err := io.ReadAll(connection); !strings.HasPrefix(string(text), fmt.Sprintf("HTTP/1.1 %d", want)) {
		t.Errorf("%q, %v", text, err)
	}
}

// TestRefusedBody has a request that is refused before its body has arrived. Its client is told soon.
func TestRefusedBody(t *testing.T) {
	t.Parallel()
	_, address := start(t)
	refusedBeforeItsBody(t, address, "/entities", 405)
}

// TestKeepsConnections has refused requests on a connection that stays open, one with a body that has arrived.
func TestKeepsConnections(t *testing.T) {
	t.Parallel()
	_, address := start(t)
	connection, err := net.Dial("tcp", strings.TrimPrefix(address, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	responses := bufio.NewReader(connection)
	for range 2 {
		for request, want := range map[string]int{
			"GET /answers HTTP/1.1\r\nHost: localhost\r\n\r\n":                                                404,
			"POST /entities HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}":                       405,
			"GET " + ask("Person 01", "knows") + " HTTP/1.1\r\nHost: localhost\r\n\r\n":                       200,
			"POST /answer HTTP/1.1\r\nHost: localhost\r\nContent-Length: 20\r\n\r\n" + `{"source":"nobody"} `: 400,
		} {
			fmt.Fprint(connection, request)
			response, err := http.ReadResponse(responses, nil)
			if err != nil {
				t.Fatalf("%q: %v", request, err)
			}
			io.Copy(io.Discard, response.Body)
			if response.Body.Close(); response.StatusCode != want || response.Close {
				t.Errorf("%q: status %d, want %d; closed: %v", request, response.StatusCode, want, response.Close)
			}
		}
	}
}

// TestWriteDeadline checks that a client that does not read its response holds it for a time without --timeout.
func TestWriteDeadline(t *testing.T) {
	t.Parallel()
	s, _ := start(t, func(o *settings) { o.timeout = time.Hour })
	w := &writer{ResponseRecorder: httptest.NewRecorder()}
	s.ServeHTTP(w, httptest.NewRequest("GET", "http://localhost"+ask("Person 01", "knows"), nil))
	if left := time.Until(w.deadline); w.Code != http.StatusOK || left <= 0 || left > writeTimeout {
		t.Errorf("status %d, %v are left to read it", w.Code, left)
	}
}

type writer struct {
	*httptest.ResponseRecorder
	deadline time.Time
}

func (w *writer) SetWriteDeadline(t time.Time) error {
	w.deadline = t
	return nil
}
