package discover

import (
	"tagnet/formats/storage"
	"tagnet/formats/storage/externalsort"
	"tagnet/formats/storage/lock"
	"tagnet/model/answer/discovery"
	"tagnet/model/answer/ranking"
	"tagnet/model/answer/workload"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/stages/predict/discover"
)

func (d *discovering) loads() []command.Load {
	var loads []command.Load
	work := d.Queries(1).Work
	candidates := int64(0)
	for _, p := range d.passes {
		rows := p.queries * int64(d.Best)
		candidates += rows
		loads = append(loads, command.Load{
			Step: "discover.candidates", Elements: p.queries, Unit: "queries", Parts: workload.Count(p.queries, rows, work),
			Bytes: discovery.CandidateBytes * rows,
		})
	}
	loads = append(loads,
		command.Load{Step: "discover.backward", Elements: d.backward, Unit: "queries backward, at most", Parts: discover.Ranges,
			Bytes: externalsort.FactRowBytes * candidates},
		command.Load{Step: "discover.select", Elements: candidates, Unit: "candidates, at most", Parts: discover.Ranges})
	return append(loads, d.ExplanationLoads("discover.explain", discover.Explained(int64(d.flags.most), d.Kept()))...)
}

// spillFolder returns where the spill files are, until there is a list.
func (d *discovering) spillFolder(held lock.Lock) discover.SpillFolder {
	return discover.SpillFolder{Folder: storage.Join(d.E.Workspace.Path(d.folder), "candidates"), Lock: held}
}

func (d *discovering) candidatesParams(p pass, held lock.Lock, announce string) discover.CandidatesParams {
	out := discover.CandidatesParams{Params: d.Params(announce), Spills: d.spillFolder(held), Name: p.name, TopK: d.Best}
	out.Verdicts, out.Best = d.Verdicts, d.Best+d.Model.Judged().More()
	out.Queries.Ask.Relations = p.relations
	out.Known, out.Ranks = ranking.LeftOut, true
	if p.lists.Sources != nil {
		out.Queries.Ask.Lists = d.listsURL(p)
	}
	if p.lists.Candidates != nil {
		out.Candidates = d.listsURL(p)
	}
	return out
}

// backwardParams returns the parameters of what is queried of the candidates of all passes.
func (d *discovering) backwardParams(held lock.Lock, announce string) discover.BackwardParams {
	p := discover.BackwardParams{Params: d.Params(announce), Spills: d.spillFolder(held), Of: d.passNames()}
	p.Best = 0 // the answers are wanted ones
	return p
}

func (d *discovering) passNames() (names []string) {
	for _, p := range d.passes {
		names = append(names, p.name)
	}
	return names
}

// listsURL returns the URL of the lists of a pass.
func (d *discovering) listsURL(p pass) string {
	return storage.Join(d.spillFolder(lock.Lock{}).Folder, p.name+"-"+listsFile)
}

// listParams returns the parameters of the pipeline that lists.
func (d *discovering) listParams(held lock.Lock) discover.ListParams {
	p := discover.ListParams{
		Spills: d.spillFolder(held), Of: d.passNames(), Folder: d.E.Workspace.Path(d.folder), Lock: held,
		TopK: d.Best, Most: d.flags.most, Least: d.flags.threshold, Params: d.Params(""),
	}
	p.Probabilities, p.Rules, p.Verdicts, p.Queries.Paths, p.Walks = d.Probabilities, d.Rules, d.Verdicts, d.Kept(), d.Walks
	return p
}
