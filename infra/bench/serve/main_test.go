package main

import (
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"tagnet/infra/internal/program"
	"tagnet/model"
)

func TestWrongFlags(t *testing.T) {
	t.Parallel()
	for _, arguments := range []string{"--requests 9", "--clients 0", "--malformed 1", "--malformed NaN", "--per_source 0", "--k 0", "--port 3", "more"} {
		if _, err := parse(strings.Fields(arguments), io.Discard); !errors.As(err, new(program.UsageError)) {
			t.Errorf("%s: %v", arguments, err)
		}
	}
}

func TestPercentile(t *testing.T) {
	t.Parallel()
	var w work
	for i := range 200 {
		w.took = append(w.took, time.Duration(i+1)*time.Millisecond)
	}
	for p, want := range map[int]float64{1: 2, 50: 100, 99: 198, 100: 200} {
		if got := w.percentile(p); got != want {
			t.Errorf("%d%%: %g, want %g", p, got, want)
		}
	}
	if got := new(work).percentile(50); got != 0 {
		t.Errorf("without answers: %g", got)
	}
}

// TestSame has responses that differ from the right one in one thing.
func TestSame(t *testing.T) {
	t.Parallel()
	want := []model.Answer{{Entity: "a", Score: 1.5, Known: true}, {Entity: "b", Score: 0.1}}
	const right = `{"source":"s","relation":"r","answers":[{"entity":"a","score":1.5,"hops":1,"known":true},{"entity":"b","score":0.1,"hops":null,"known":false}]}`
	if err := same(want, []byte(right)); err != nil {
		t.Error(err)
	}
	for _, change := range [][2]string{{`"a"`, `"c"`}, {"1.5", "1.25"}, {"true", "false"}, {`{"entity":"a","score":1.5,"hops":1,"known":true},`, ""}, {"]}", ""}} {
		if same(want, []byte(strings.Replace(right, change[0], change[1], 1))) == nil {
			t.Errorf("%q instead of %q is not noticed", change[1], change[0])
		}
	}
}

func TestSendMalformed(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for _, reply := range []string{"HTTP/1.1 405 Method Not Allowed\r\n\r\n", ""} {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			io.WriteString(connection, reply)
			connection.Close()
		}
	}()
	for _, want := range []int{405, 0} {
		if got, err := sendMalformed(listener.Addr().String(), malformed[0]); got != want || err != nil {
			t.Errorf("status %d, %v; want %d", got, err, want)
		}
	}
}
