package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// malformed are requests as they are sent, each wrong in its own way.
var malformed = []string{
	"GARBAGE\r\n\r\n",
	"GET / HTTP/9.9\r\n\r\n",
	"GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n",
	"PUT /answer HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n",
	"GET /answer HTTP/1.1\r\nHost: localhost\r\n\r\n",
	"GET /answer?source=%zz HTTP/1.1\r\nHost: localhost\r\n\r\n",
	"GET /answer?source=a&relation=b&k=-1 HTTP/1.1\r\nHost: localhost\r\n\r\n",
	"GET /answer?source=no+such+entity&relation=_hypernym HTTP/1.1\r\nHost: localhost\r\n\r\n",
	"GET /explain?source=a&relation=b HTTP/1.1\r\nHost: localhost\r\n\r\n",
	"GET /entities?count=1000000 HTTP/1.1\r\nHost: localhost\r\n\r\n",
	"GET /\x00 HTTP/1.1\r\nHost: localhost\r\n\r\n",
	"GET / HTTP/1.1\r\nHost: somewhere.else\r\n\r\n",
	"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("x", 100<<10) + "\r\n\r\n",
	"POST /answer HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
	"POST /answer HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
	body(`{"source":`),
	body(`{"queries":[]}`),
	body(`{"queries":[` + strings.Repeat(`{"source":"a","relation":"b"},`, 1000) + `{}]}`),
	body(strings.Repeat("[", 100<<10)),
	body(`{"source":"` + strings.Repeat("x", 1<<20) + `","relation":"b"}`),
}

// body returns a request with a JSON body.
func body(text string) string {
	return fmt.Sprintf("POST /answer HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(text), text)
}

// sendMalformed sends a malformed request and returns the status of the response, or 0 if the server closes the
// connection without one.
func sendMalformed(address, text string) (status int, err error) {
	connection, err := net.Dial("tcp", address)
	if err != nil {
		return 0, err
	}
	defer connection.Close()
	const patience = time.Minute
	if err := connection.SetDeadline(time.Now().Add(patience)); err != nil {
		return 0, err
	}
	// The server may answer before it has read all, and close the connection then.
	_, _ = io.WriteString(connection, text)
	line, _ := bufio.NewReader(connection).ReadString('\n')
	if words := strings.Fields(line); len(words) > 1 && strings.HasPrefix(words[0], "HTTP/") {
		return strconv.Atoi(words[1])
	}
	return 0, nil
}
