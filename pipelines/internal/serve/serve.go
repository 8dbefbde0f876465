package serve

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"

	"tagnet/formats/storage"
	"tagnet/model"
	"tagnet/model/accelerator"
	"tagnet/model/answer"
	"tagnet/model/answer/probability"
	"tagnet/model/budget"
	"tagnet/model/engine/kernel"
	"tagnet/model/engine/relations"
	"tagnet/model/graph/kg"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/probabilities"
	"tagnet/pipelines/internal/scoring"
	"tagnet/stages/encode"
)

type flags struct {
	scoring.Flags
	listen, graph string
	queue         int
	timeout       time.Duration
	missing       answer.Missing
	// Whether verdicts are taken, and also where other machines reach the server.
	verdicts, fromAnywhere bool

	listener net.Listener
	ready    func(e *command.Environment, url string)
}

// Pipeline is `go run ./pipelines/serve`.
func Pipeline() command.Pipeline { return On(nil, nil) }

// On is the pipeline that answers on a listener of Listen, instead of on --listen, and calls a function with the URL of
// its page when it begins to, and with an environment whose output never waits. Both may be nil.
func On(listener net.Listener, ready func(e *command.Environment, url string)) command.Pipeline {
	f := &flags{listener: listener, ready: ready}
	return command.Pipeline{
		Name: "serve", WithoutJobs: true, Serves: true,
		Summary: "Answers queries over HTTP with a trained model: JSON for programs, and a page to ask them.",
		First:   "workspace run listen model graph missing reach device memory threads",
		Flags: func(set *flag.FlagSet) {
			ListenFlag(set, &f.listen)
			f.Register(set, "")
			command.GraphFlag(set, &f.graph)
			command.MissingFlag(set, &f.missing)
			set.BoolVar(&f.verdicts, "verdicts", false, "let people judge facts: POST /verdicts adds to the workspace's verdicts.tsv")
			set.BoolVar(&f.fromAnywhere, "verdicts_from_anywhere", false, "take --verdicts also where other machines reach the server")
			set.DurationVar(&f.timeout, "timeout", 20*time.Second, "`time` that a request may take, 1s to 1h; an interrupt waits as long for those under way")
			set.IntVar(&f.queue, "queue", 256, fmt.Sprintf("queries that may be under way or wait, %d to %d; a request beyond them gets status 429",
				mostQueries, mostQueue))
		},
		Run: f.run,
	}
}

// ListenFlag registers --listen.
func ListenFlag(set *flag.FlagSet, address *string) {
	set.StringVar(address, "listen", "127.0.0.1:8080", "`host:port` to listen on; there is no authentication: beyond this machine, put a proxy before it")
}

// mostQueue bounds --queue, and with it the memory that is set aside for requests.
const mostQueue = 1 << 16

// check returns an error of use for values that are out of range or refuse each other.
func (f *flags) check(e *command.Environment) error {
	if err := f.Check(e, 0); err != nil {
		return err
	}
	switch {
	case f.queue < mostQueries || f.queue > mostQueue:
		return command.FlagError("queue", f.queue, fmt.Sprintf("%d, the most queries of a request, to %d", mostQueries, mostQueue))
	case f.timeout < time.Second || f.timeout > time.Hour:
		return command.FlagError("timeout", f.timeout, "1s to 1h")
	}
	return nil
}

// run listens, loads the model and answers requests until it is interrupted.
func (f *flags) run(ctx context.Context, e *command.Environment) error {
	if err := f.check(e); err != nil {
		return err
	}
	e, flush := unwaiting(e)
	defer flush()
	hangups := newHangups()
	defer hangups.stop()
	listener := f.listener
	if listener == nil {
		var err error
		if listener, err = Listen(ctx, f.listen); err != nil { // before the model is loaded, which may take long
			return err
		}
	}
	defer listener.Close()
	local := listener.Addr().(*net.TCPAddr).IP.IsLoopback()
	if err := f.checkVerdicts(ctx, e, local); err != nil {
		return err
	}
	// A reload opens everything again in the same way.
	l := &reloader{e: e, inUse: new(sync.WaitGroup)}
	l.fit = func(s, earlier *server) {
		s.fit(ctx, earlier, l.say)
	}
	l.load = func(earlier *settings) (settings, error) {
		opened, err := f.load(ctx, e, earlier)
		opened.failures, opened.reload = e.Err, l.reload
		opened.local = local
		if e.Verbose {
			opened.log = e.Err
		}
		return opened, err
	}
	opened, err := l.load(nil)
	if err != nil {
		return err
	}
	defer budget.Limit(f.Memory * budget.MiB)()
	if l.current, err = newServer(opened); err != nil {
		return err
	}
	e.Say("%s; %d threads%s", l.current.described(), opened.threads, l.current.computing())
	if least := opened.with(opened.estimate).Least(opened.threads); least > f.Memory*budget.MiB {
		e.Say("a reload, which holds two graphs at a time, needs --memory %d or fewer --threads", least/budget.MiB)
	}
	if !opened.local {
		e.Say("warning: there is no authentication: whoever reaches %s can ask; 127.0.0.1 is reached from this machine alone", listener.Addr())
	}
	// Requests are answered from here on; the probabilities are fitted meanwhile.
	url := "http://" + shownAddress(listener.Addr())
	l.fit(l.current, nil)
	e.Say("listening on %s", url)
	if f.ready != nil {
		f.ready(e, url)
	}
	defer l.close()
	return f.serve(ctx, e, listener, l, hangups)
}

// checkVerdicts returns an error if the server may not take verdicts, or could not keep them.
func (f *flags) checkVerdicts(ctx context.Context, e *command.Environment, local bool) error {
	switch {
	case f.fromAnywhere && !f.verdicts:
		return command.Usage("--verdicts_from_anywhere is for a server that takes verdicts: give --verdicts, too")
	case !f.verdicts:
		return nil
	case !local && !f.fromAnywhere:
		return command.Usage("--verdicts: whoever reaches --listen %s could judge; listen on 127.0.0.1, or allow it with --verdicts_from_anywhere", f.listen)
	}
	if err := storage.CheckWritable(ctx, e.Workspace.Root()); err != nil {
		return fmt.Errorf("--verdicts are kept in the workspace: %w", err)
	}
	return nil
}

// Listen listens on the address of a flag --listen, which its errors name.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	const want = "host:port, such as 127.0.0.1:8080"
	if _, _, err := net.SplitHostPort(address); err != nil {
		return nil, command.FlagError("listen", fmt.Sprintf("%q", address), want)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	var unknown *net.DNSError
	var malformed *net.AddrError
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("--listen %s: another program listens there; name another port, or port 0 for any that is free", address)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("--listen %s: this user may not listen there; name a port above 1023", address)
	case errors.As(err, &unknown), errors.As(err, &malformed):
		return nil, command.FlagError("listen", fmt.Sprintf("%q", address), want)
	case err != nil:
		return nil, fmt.Errorf("--listen %s: %w", address, err)
	}
	return listener, nil
}

// load loads the model, after the checks that score makes, and divides the memory, beside what the earlier model takes
// unless that is nil.
func (f *flags) load(ctx context.Context, e *command.Environment, earlier *settings) (settings, error) {
	w := e.Workspace
	loaded, _, err := w.OpenGraph(ctx)
	if err != nil {
		return settings{}, err
	}
	opened, notCheckpoint, err := e.Open(ctx, f.Model, loaded)
	if err != nil {
		return settings{}, err
	}
	if f.graph == kg.All {
		if opened, err = opened.OverAllFacts(ctx); err != nil {
			return settings{}, err
		}
	}
	loaded = opened.KG
	if err := command.SetReach(&opened.Configuration, f.Reach); err != nil {
		return settings{}, err
	}
	about := f.graph
	if about != kg.All {
		about = "test" // without validation and test facts, it is the graph of the test split's queries
	}
	sizes, err := encode.SizesOf(ctx, loaded, about)
	if err != nil {
		return settings{}, err
	}
	if sizes.RelationEdges, err = relations.CountEdges(opened.Graph, opened.Configuration); err != nil {
		return settings{}, err
	}
	use := budget.Use{Task: "serving this graph", Paths: 1}
	if f.graph == kg.All {
		use.Rows = opened.Observations()
	}
	const perName, perQuery = 64, 64 << 10 // the index of names, which has copies; a query that waits, with its body and answers
	sizes.Graph += perName*sizes.Entities + sizes.Graph/4
	estimate := budget.ForModel(sizes, opened.Configuration, use)
	estimate.Held += perQuery*int64(f.queue) + probabilities.EstimateRules(sizes).Held - sizes.Graph
	// During a reload both models are held.
	needed, threads := estimate, f.Threads
	if earlier != nil {
		needed, threads = earlier.with(estimate), earlier.threads
	}
	allotment, err := e.Allot(needed, f.Memory, threads)
	if err != nil {
		return settings{}, err
	}
	opened.Resources.Threads = allotment.Threads
	if opened.Resources.Kernel, err = kernel.Named(f.Kernel); err != nil {
		return settings{}, err
	}
	m, err := f.prepare(ctx, e, opened)
	if err != nil {
		_ = opened.Close() // the first error says more
		return settings{}, err
	}
	named := m.Checkpoint()
	if notCheckpoint {
		named = "model " + cmp.Or(opened.Record.Origin.Model, opened.Record.Origin.File)
	}
	return settings{model: m, named: named, report: storage.Join(w.Report(), "index.html"), workspace: w, takesVerdicts: f.verdicts,
		estimate: estimate, threads: allotment.Threads, queue: f.queue, timeout: f.timeout}, nil
}

// prepare reads all that an opened model answers with.
func (f *flags) prepare(ctx context.Context, e *command.Environment, opened *answer.Model) (*model.Model, error) {
	err := accelerator.SelectDevice(opened, f.Device)
	if err == nil {
		err = opened.Prepare()
	}
	if err != nil {
		return nil, fmt.Errorf("--device %v: %w", f.Device, err)
	}
	opened.Resources.Announce = func(text string) { e.Say("%s", text) }
	m, err := model.Named(ctx, opened, e.Workspace.Root(), f.missing)
	if errors.As(err, new(*kg.UnknownNameError)) || errors.As(err, new(*probability.UntoldError)) {
		return nil, command.Usage("--missing: %v", err)
	}
	if err != nil {
		return nil, err
	}
	_, err = m.Types(ctx) // not later, when another graph may have replaced this one
	return m, err
}

// serve serves until ctx is done, and then until the requests under way are answered.
func (f *flags) serve(ctx context.Context, e *command.Environment, listener net.Listener, l *reloader, hangups *hangups) error {
	s := l.current.shared
	h := &http.Server{
		Handler: l, ConnState: s.connections.follow, MaxHeaderBytes: mostHeader, ErrorLog: log.New(io.Discard, "", 0),
		ReadHeaderTimeout: headerTimeout, ReadTimeout: bodyTimeout, WriteTimeout: f.timeout + bodyTimeout + writeTimeout, IdleTimeout: idleTimeout,
	}
	ended := make(chan error, 1)
	go func() { ended <- h.Serve(listener) }()
	// Until an interrupt: a hangup reloads, unless it closes the terminal.
	for stopped := false; !stopped; {
		select {
		case err := <-ended:
			return fmt.Errorf("--listen %s: %w", f.listen, err)
		case <-ctx.Done():
			stopped = true
		case <-hangups.received:
			if stopped = hangups.closed(); !stopped {
				go l.hangup()
			}
		}
	}
	defer command.OnSecondInterrupt(ctx, func() string { return fmt.Sprintf("%d requests were not answered", s.requests.Load()) })()
	// Afterwards requests under way are answered, for at most the timeout of a request.
	if n := s.requests.Load(); n > 0 {
		e.Say("interrupted: answering %d requests that are under way, at most %v; a second interrupt ends at once", n, f.timeout)
	}
	s.stopping.Store(true)
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), f.timeout+writeTimeout)
	defer cancel()
	// Shutdown would drop requests of connections that are accepted and not yet read, so it comes last.
	listener.Close()
	<-ended // every accepted connection is counted
	h.SetKeepAlivesEnabled(false)
	s.connections.wait(bounded)
	if err := h.Shutdown(bounded); err != nil {
		n := s.requests.Load()
		h.Close()
		e.Say("stopped; %d requests were not answered", n)
		return nil
	}
	e.Say("stopped; every request was answered")
	return nil
}

// shownAddress returns the address of a listener as a browser on this machine takes it.
func shownAddress(address net.Addr) string {
	a := address.(*net.TCPAddr)
	if a.IP.IsUnspecified() {
		return fmt.Sprintf("localhost:%d", a.Port)
	}
	return a.String()
}
