package job

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"
)

var flinkREST = flag.String("flink_rest", "",
	"HOST:PORT of Flink's REST API and web page, for slots, progress and hosts; default port 8081 on the host of --endpoint")

// defaultREST is the port of Flink's REST API unless its configuration has another.
const defaultREST = "8081"

func (o Options) flink() bool { return strings.HasPrefix(strings.ToLower(o.Runner), "flink") }

// Flink reads the REST API of a Flink cluster.
type Flink struct {
	// Address is its host and port.
	Address string
	// NamedByUser reports that --flink_rest named it. Otherwise it is a guess, and may not be the
	// cluster of the job server.
	NamedByUser bool
}

// Overview is the state of a Flink cluster.
type Overview struct {
	Version      string `json:"flink-version"`
	TaskManagers int    `json:"taskmanagers"`
	Slots        int    `json:"slots-total"`
	Free         int    `json:"slots-available"`
}

// FindFlink returns the REST API of the options' cluster and its overview, or nil if it is not found at
// its default address. It returns an error if --flink_rest is given and does not answer.
func FindFlink(ctx context.Context, o Options) (*Flink, Overview, error) {
	var overview Overview
	if !o.flink() {
		return nil, overview, nil
	}
	f := &Flink{Address: *flinkREST, NamedByUser: *flinkREST != ""}
	if !f.NamedByUser {
		host, _, err := net.SplitHostPort(o.Endpoint)
		if err != nil {
			return nil, overview, nil
		}
		f.Address = net.JoinHostPort(host, defaultREST)
	}
	err := f.get(ctx, "/overview", &overview)
	if err == nil && overview.Version == "" {
		err = errors.New("its /overview has no flink-version")
	}
	switch {
	case err == nil:
		return f, overview, nil
	case f.NamedByUser:
		return nil, overview, fmt.Errorf("--flink_rest %s does not answer as Flink's REST API (%v): give the address of its web page, or leave the flag out",
			f.Address, err)
	}
	return nil, overview, nil
}

// restTimeout bounds a request; the cluster is near, and nothing depends on the answer.
const restTimeout = 3 * time.Second

// send sends a request without a body.
func send(ctx context.Context, method, address string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, "http://"+address, nil)
	if err != nil {
		return nil, err
	}
	return http.DefaultClient.Do(request)
}

// get reads the JSON of a path of Flink's REST API.
func (f *Flink) get(ctx context.Context, path string, into any) error {
	ctx, cancel := context.WithTimeout(ctx, restTimeout)
	defer cancel()
	response, err := send(ctx, http.MethodGet, f.Address+path)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", path, response.Status)
	}
	return json.NewDecoder(response.Body).Decode(into)
}

// AnswersHTTP reports whether an address answers HTTP, as Flink's web page does and a job server does not.
func AnswersHTTP(ctx context.Context, address string) bool {
	ctx, cancel := context.WithTimeout(ctx, restTimeout)
	defer cancel()
	response, err := send(ctx, http.MethodGet, address+"/overview")
	if err == nil {
		response.Body.Close()
	}
	return err == nil
}

// flinkJob is a job as Flink lists it.
type flinkJob struct {
	JID   string         `json:"jid"`
	Name  string         `json:"name"`
	State string         `json:"state"`
	Tasks map[string]int `json:"tasks"`
}

// job returns the job of an ID of the job server, or nil. The ID is Flink's name of the job and a UUID.
func (f *Flink) job(ctx context.Context, id string) *flinkJob {
	var list struct {
		Jobs []flinkJob `json:"jobs"`
	}
	if f == nil || f.get(ctx, "/jobs/overview", &list) != nil {
		return nil
	}
	name := id
	if at := strings.LastIndex(id, "_"); at > 0 {
		name = id[:at]
	}
	for _, j := range list.Jobs {
		if j.Name == name {
			return &j
		}
	}
	return nil
}

// cancel cancels the job of an ID of the job server, and reports whether Flink knows it.
func (f *Flink) cancel(ctx context.Context, id string) bool {
	j := f.job(ctx, id)
	if j == nil {
		return false
	}
	response, err := send(ctx, http.MethodPatch, f.Address+"/jobs/"+j.JID+"?mode=cancel")
	if err != nil {
		return false
	}
	response.Body.Close()
	return response.StatusCode < http.StatusBadRequest
}

// ended reports whether Flink lists the job of an ID of the job server as ended.
func (f *Flink) ended(ctx context.Context, id string) bool {
	j := f.job(ctx, id)
	return j != nil && (j.State == "CANCELED" || j.State == "FAILED" || j.State == "FINISHED")
}

// failedOn returns the host of the task that failed first, or "".
func (f *Flink) failedOn(ctx context.Context, id string) string {
	j := f.job(ctx, id)
	if j == nil {
		return ""
	}
	type exception struct {
		Endpoint string `json:"endpoint"`
	}
	var failures struct {
		ExceptionHistory struct {
			Entries []struct {
				exception
				ConcurrentExceptions []exception `json:"concurrentExceptions"`
			} `json:"entries"`
		} `json:"exceptionHistory"`
	}
	if f.get(ctx, "/jobs/"+j.JID+"/exceptions", &failures) != nil {
		return ""
	}
	for _, entry := range failures.ExceptionHistory.Entries {
		for _, e := range append([]exception{entry.exception}, entry.ConcurrentExceptions...) {
			if host, _, err := net.SplitHostPort(e.Endpoint); err == nil {
				return host
			}
		}
	}
	return ""
}
