package quickstart

import (
	"context"
	"flag"
	"io"
	"net/url"
	"time"

	"tagnet/formats/names"
	"tagnet/formats/storage"
	"tagnet/formats/workspace/counts"
	"tagnet/formats/workspace/metrics"
	"tagnet/model"
	"tagnet/model/graph/kg"
	"tagnet/model/graph/synthetic"
	"tagnet/model/zoo"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/progress"
	"tagnet/pipelines/internal/score"
	"tagnet/pipelines/internal/serve"
)

type playground struct {
	listen string
	open   bool
	graph  string
}

// Playground is `go run ./pipelines/playground`.
func Playground() command.Pipeline {
	f := &playground{}
	return command.Pipeline{
		Name: "playground",
		Summary: "Makes a sample graph whose rules are known, answers its held-out queries with a model that has not seen it, trains another one on it, " +
			"lists the surest facts that the graph lacks, and serves the model and the report on a page, until it is interrupted.",
		Flags: func(set *flag.FlagSet) {
			serve.ListenFlag(set, &f.listen)
			GraphFlag(set, &f.graph)
			set.BoolVar(&f.open, "open", true, "open the page in the browser, where there is a display and a browser")
		},
		Run:       f.run,
		Several:   true,
		Temporary: true,
	}
}

// run makes a graph and a model, opens the page and serves it until it is interrupted.
func (f *playground) run(ctx context.Context, e *command.Environment) error {
	begun := time.Now()
	listener, err := serve.Listen(ctx, f.listen) // before the work, which would be in vain; who asks now waits for the page
	if err != nil {
		return err
	}
	defer listener.Close()
	kept := "which is kept"
	if e.Temporary {
		kept = "which is removed at the end"
	}
	e.Say("workspace   %s, %s", e.Workspace.Root(), kept)
	if err := f.prepare(ctx, e); err != nil {
		return err
	}
	query, err := f.tellNew(ctx, e)
	if err != nil {
		return err
	}
	page := serve.On(listener, func(e *command.Environment, address string) {
		asked := address + "/?" + query.Encode()
		e.Say("page        %s", asked)
		e.Say("report      %s/report", address)
		e.Say("ready after %.1f s; Ctrl-C ends it", time.Since(begun).Seconds())
		f.show(e, asked)
	})
	return e.Embed(ctx, page, "--workspace", e.Workspace.Root())
}

// show opens the page in the browser. Where none can be started, its address is printed already.
func (f *playground) show(e *command.Environment, address string) {
	if !f.open || !command.HasDisplay() {
		return
	}
	browser := command.Browser(context.Background(), address) // which an interrupt does not close
	if err := browser.Start(); err != nil {
		e.Say("no browser could be started (%v): open the page yourself", err)
		return
	}
	go func() { _ = browser.Wait() }()
}

// act is a step with the line that is printed before it and the function that tells its result.
type act struct {
	Step
	before string
	told   func(ctx context.Context, e *command.Environment) error
}

// acts returns the steps of quickstart, with the foundation model before the training.
func (f *playground) acts() []act {
	zero := Step{Title: "answer the held-out queries with " + zoo.Zero, Pipeline: score.Pipeline(),
		Arguments: []string{"--run", zoo.Zero, "--model", zoo.Zero, "--split", "test"}}
	var list []act
	for _, s := range Steps(f.graph) {
		switch s.Pipeline.Name {
		case "preprocess":
			list = append(list, act{s, "", f.tellGraph}, act{zero, "", tellZero})
		case "train":
			list = append(list, act{s, "training    a model of this graph", nil})
		case "score":
			list = append(list, act{s, "", tellTrained})
		default:
			list = append(list, act{s, "", nil})
		}
	}
	return list
}

// prepare makes what the page and the report show.
func (f *playground) prepare(ctx context.Context, e *command.Environment) error {
	for _, a := range f.acts() {
		if a.before != "" && !e.Workspace.Complete(ctx, e.Workspace.CheckpointsFolder()) {
			e.Say("%s", a.before)
		}
		if err := a.Run(ctx, quiet(e, a.Pipeline.Name)); err != nil {
			return err
		}
		if a.told == nil {
			continue
		}
		if err := a.told(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// quiet returns an environment in which a step prints nothing, except a training its epochs, and with
// --verbose everything.
func quiet(e *command.Environment, step string) *command.Environment {
	if e.Verbose {
		return e
	}
	silent := *e
	silent.Out, silent.Err = io.Discard, io.Discard
	if step != "train" {
		silent.Progress = progress.New(io.Discard, false)
	}
	return &silent
}

// tellGraph prints the size of the made graph and how many facts it lacks.
func (f *playground) tellGraph(ctx context.Context, e *command.Environment) error {
	d, err := counts.ReadDataset(ctx, e.Workspace.Graph())
	if err != nil {
		return err
	}
	made, _ := synthetic.SampleNamed(f.graph)
	folder := e.Workspace.Path(f.graph)
	missing, err := synthetic.ReadMissing(ctx, folder)
	if err != nil {
		return err
	}
	e.Say("facts       %s, about %s %s; %d relations follow rules", progress.Count(d.Facts), progress.Count(d.Entities), made.Description, d.Relations)
	e.Say("missing     %s facts that are true, in %s", progress.Count(int64(len(missing))), storage.Join(folder, synthetic.MissingFile))
	return nil
}

func tellZero(ctx context.Context, e *command.Environment) error {
	return tell(ctx, e, e.Workspace.WithRun(zoo.Zero).Evaluation("test"),
		"zero-shot   MRR %.4f over %s held-out queries, by a model that learned from other graphs")
}

func tellTrained(ctx context.Context, e *command.Environment) error {
	return tell(ctx, e, e.Workspace.Evaluation("test"), "trained     MRR %.4f over the same %s queries")
}

// tell prints the MRR and the number of queries of an evaluation in a format.
func tell(ctx context.Context, e *command.Environment, folder, format string) error {
	m, err := storage.ReadJSON[metrics.Evaluation](ctx, storage.Join(folder, metrics.File))
	if err != nil {
		return err
	}
	e.Say(format, m.Pessimistic.MRR, progress.Count(m.Queries))
	return nil
}

// listed is the number of new facts that are printed.
const listed = 10

// tellNew prints the surest new facts and how many of them are true, and returns the query to which the
// first is an answer, as the parameters of the page. The probabilities of the model are in the workspace
// then, if it can be written.
func (f *playground) tellNew(ctx context.Context, e *command.Environment) (url.Values, error) {
	m, err := model.Open(ctx, e.Workspace.Root())
	if err != nil {
		return nil, err
	}
	defer m.Close()
	if err := m.Fit(ctx, nil); err != nil {
		return nil, err
	}
	facts, err := m.Discover(ctx, model.Discovery{Most: listed})
	if err != nil {
		return nil, err
	}
	folder := e.Workspace.Path(f.graph)
	missing, err := synthetic.ReadMissing(ctx, folder)
	if err != nil {
		return nil, err
	}
	e.Say("new facts   the %d surest of those that the graph lacks", len(facts))
	found, asked := 0, url.Values{}
	for i, fact := range facts {
		if i == 0 {
			asked = url.Values{"source": {fact.Head}, "relation": {fact.Relation}}
		}
		note := ""
		if missing[kg.Triple{Head: fact.Head, Relation: fact.Relation, Tail: fact.Tail}] {
			found++
			note = ", missing"
		}
		e.Say("            %s %s %s: %s%s", names.Escape(fact.Head), names.Escape(fact.Relation), names.Escape(fact.Tail), model.Odds(fact.Probability), note)
	}
	e.Say("right       %d of these %d are in %s", found, len(facts), storage.Join(folder, synthetic.MissingFile))
	return asked, nil
}
