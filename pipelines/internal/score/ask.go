package score

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"tagnet/formats/input/triples"
	"tagnet/formats/storage"
	"tagnet/formats/workspace/parquet"
	"tagnet/formats/workspace/tables"
	"tagnet/model/answer"
	"tagnet/model/answer/evaluation"
	"tagnet/model/answer/workload"
	"tagnet/model/budget"
	"tagnet/model/graph/kg"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/progress"
	"tagnet/pipelines/internal/cli/workspace"
	"tagnet/stages/evaluate"
	"tagnet/stages/score"
)

// queriesName is the folder of the answers to --queries, below that of the evaluations.
const queriesName = "queries"

// asking is what a user asks: the queries of a file, or those of many sources and relations.
type asking struct {
	folder string // below the workspace
	// cheap answers are overwritten without --force.
	cheap    bool
	own      ownQueries   // of --queries
	ask      workload.Ask // of --relation
	lists    tables.Lists // of --sources and --candidates
	recorded recorded
	// queries counts the lines or combinations, distinct those that differ, shown those that are printed.
	queries, distinct int64
	known             int64 // answers, with --known
	shown             int
	lines             int64 // distinct triples or pairs
	relations         int   // that are kept of a pair
	probabilities     score.Probabilities
}

// listsFile and queriesFile are the tables of queries and of lists of entities, in the folder of the answers.
const listsFile, queriesFile = "lists.arrow", "queries.arrow"

// url returns the URL of such a table.
func (a *scoring) url(file string) string {
	return storage.Join(a.e.Workspace.Path(a.asked.folder), file)
}

// table returns the URL of the table of queries, or "" if they are made where they are scored.
func (a *scoring) table() string {
	if a.asked == nil || len(a.asked.ask.Relations) > 0 {
		return ""
	}
	return a.url(queriesFile)
}

// divideAnswers returns the memory that answering takes.
func (a *scoring) divideAnswers(sizes budget.Sizes) budget.Estimate {
	if t := a.triples(); t != nil {
		return t.estimate(sizes)
	}
	lists := int64(len(a.asked.lists.Sources) + len(a.asked.lists.Candidates))
	return budget.Ask(sizes, a.model.Configuration, a.candidatesOf(), workload.MaxRows, lists, a.table() == "")
}

// candidatesOf returns how many candidates of a query are queried in the other direction, at most.
func (a *scoring) candidatesOf() int {
	asking := answer.Asking{Best: a.best}
	return asking.Candidates()
}

// followBackward shows behind a bar how many candidates are queried in the other direction, until stop is called.
func (a *scoring) followBackward(ctx context.Context, bar *progress.Bar) (stop func()) {
	if a.asked == nil || a.triples() != nil {
		return func() {}
	}
	return bar.Also("asking backward", a.backward(), "answers").Follow(ctx, score.BackwardCounter)
}

// backward returns the number of answers that are scored in the other direction, at most: candidates, and known answers, each of which is scored with
// its fact first, and without it in both directions.
func (a *scoring) backward() int64 { return a.distinct*int64(a.candidatesOf()) + 3*a.asked.known }

// countKnown counts the known answers that are listed with --known.
func (a *scoring) countKnown(ctx context.Context) error {
	q := a.asked
	if !a.known {
		return nil
	}
	known, err := a.view.Answers(ctx)
	if err != nil {
		return err
	}
	add := func(source, relation int32) { q.known += int64(min(answer.MostKnown, len(known.Of(source, relation)))) }
	for _, line := range q.own.lines {
		add(line.Source, line.Relation)
	}
	for _, relation := range q.ask.Relations {
		for _, source := range q.lists.Sources {
			add(source, relation)
		}
		for source := 0; q.lists.Sources == nil && source < a.view.Graph.Entities; source++ {
			add(int32(source), relation)
		}
	}
	return nil
}

// params sets what the workers need to answer.
func (q *asking) params(a *scoring, p *evaluate.Params) {
	p.Queries.Queries, p.Queries.Given, p.Relations = a.table(), q.own.given, q.relations
	p.Queries.Best = a.candidatesOf()
	p.Queries.Ask, p.Queries.WithKnown, p.Model.WithKnown = q.ask, a.known, a.known
	p.Model.Probabilities = q.probabilities
	if q.lists.Candidates != nil {
		p.Model.Candidates = a.url(listsFile)
	}
}

// answer answers the queries of --queries or --relation.
func (a *scoring) answer(ctx context.Context) error {
	if err := a.readAsk(ctx); err != nil {
		return err
	}
	if err := a.divide(ctx, a.asked.queries); err != nil {
		return err
	}
	if err := a.findProbabilities(ctx); err != nil {
		return err
	}
	stage := a.stage(a.asked.folder, a.asked.queries, a.asked.recorded)
	stage.Outputs = append([]string{evaluate.AnswersFile, evaluate.AnsweredFile, evaluate.PredictionsTable + "/"}, a.explanationOutputs()...)
	show := a.showAnswers
	if t := a.triples(); t != nil {
		stage.Outputs, show = []string{evaluate.TriplesFile, evaluate.TriplesTable + "/"}, t.show
	}
	begin := stage.Begin
	if a.asked.cheap {
		begin = stage.Replace
	}
	done, err := begin(ctx, a.e.Force)
	err = a.nameModels(ctx, err)
	if mismatch := new(workspace.Mismatch); errors.As(err, &mismatch) && len(mismatch.Differences) > 0 {
		return fmt.Errorf("%w; or --output NAME to keep both", err)
	}
	if err != nil {
		return err
	}
	if !done {
		guarded := stage.Lock().Guard(ctx)
		if table := a.table(); table != "" {
			err = kg.WriteQueries(guarded, table, a.asked.own.lines)
		}
		if err == nil && (a.asked.ask.Lists != "" || a.asked.lists.Candidates != nil) {
			err = tables.WriteLists(guarded, a.url(listsFile), a.asked.lists)
		}
		if err == nil {
			err = a.score(ctx, &stage, a.asked.queries)
		} else {
			stage.Abandon(false)
		}
		if err != nil {
			return err
		}
	}
	return show(ctx, !done)
}

// readAsk reads the queries and the lists.
func (a *scoring) readAsk(ctx context.Context) error {
	view := a.view
	q := &asking{recorded: a.recorded()}
	a.asked = q
	var err error
	if q.lists.Candidates, q.recorded.Candidates, err = a.list(ctx, "candidates", a.candidates, view); err != nil {
		return err
	}
	if q.lists.Candidates != nil {
		a.best = min(a.best, len(q.lists.Candidates))
	}
	q.recorded.TopK, q.recorded.Known, q.recorded.Answers = a.best, a.known, parquet.AnswersVersion
	name := queriesName
	if a.queries != "" {
		if q.own, err = readQueries(ctx, a.e, a.queries, a.loaded, view); err != nil {
			return err
		}
		name = givenNames[q.own.given]
		if n := q.own.duplicates; n > 0 {
			a.e.Say("%s: duplicate %s: %s; each is answered once", a.queries, name, progress.Count(int64(n)))
		}
		q.recorded.Queries, q.shown = q.own.sha256, 20
		q.queries = int64(len(q.own.lines))
		q.distinct = q.queries - int64(q.own.duplicates)
		q.cheap = a.output == ""
		if t := a.triples(); t != nil {
			err = t.read()
		}
		if err != nil {
			return err
		}
	} else {
		if q.lists.Sources, q.recorded.Sources, err = a.list(ctx, "sources", a.sources, view); err != nil {
			return err
		}
		if q.ask.Relations, q.recorded.Relations, err = a.askedRelations(ctx, "relation", a.relation); err != nil {
			return err
		}
		sources := int64(len(view.Entities))
		if q.lists.Sources != nil {
			sources = int64(len(q.lists.Sources))
		}
		q.queries = sources * int64(len(q.ask.Relations))
		q.distinct, q.shown = q.queries, 3
		name = a.derivedName("ask", a.relation)
		a.e.Say("queries: %s (sources: %s, relations: %s)", progress.Count(q.queries), progress.Count(sources), progress.Count(int64(len(q.ask.Relations))))
	}
	if err := a.countKnown(ctx); err != nil {
		return err
	}
	if a.output != "" {
		name = a.output
	}
	q.folder = a.e.Workspace.EvaluationFolder(name)
	if q.lists.Sources != nil {
		q.ask.Lists = a.url(listsFile)
	}
	return nil
}

// askedRelations returns the ids of the relations of a flag, ascending, and how the manifest records them.
func (a *scoring) askedRelations(ctx context.Context, flag, value string) (ids []int32, record string, err error) {
	lookup := a.loaded.Lookup(a.view)
	base := int32(len(a.loaded.Relations))
	words := strings.Split(value, ",")
	_, whole := slices.BinarySearch(a.loaded.Relations, strings.TrimPrefix(value, "~"))
	if whole {
		words = []string{value} // a name with a comma, or with spaces around it
	}
	for _, word := range words {
		if !whole {
			word = strings.TrimSpace(word)
		}
		name, inverse := strings.CutPrefix(word, "~")
		if name == everything {
			for id := range base {
				if inverse {
					id += base
				}
				ids = append(ids, id)
			}
			continue
		}
		id, err := lookup.Relation(ctx, name, inverse)
		if err != nil {
			return nil, "", flagged(flag, err)
		}
		ids = append(ids, id)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	named := make([]string, len(ids))
	for i, id := range ids {
		named[i] = evaluation.Queried(evaluation.Directed(a.loaded.Relations, id))
	}
	return ids, strings.Join(named, ","), nil
}

// flagged makes the error of an unknown name in a flag one of that flag.
func flagged(flag string, err error) error {
	if unknown := new(kg.UnknownNameError); errors.As(err, &unknown) || errors.Is(err, kg.ErrNoTypes) {
		return command.Usage("--%s: %v", flag, err)
	}
	return err
}

// typePrefix begins the value of a flag that names a type of entities.
const typePrefix = "type:"

// list returns the entities of a flag, ascending, or nil for all, and how the manifest records them.
func (a *scoring) list(ctx context.Context, flag, value string, view *kg.View) (ids []int32, record string, err error) {
	if value == "" || value == everything {
		return nil, "", nil
	}
	if name, of := strings.CutPrefix(value, typePrefix); of {
		ids, err = view.OfType(ctx, name)
		return ids, value, flagged(flag, err)
	}
	lookup := kg.NewLookup(view.Entities, nil)
	ids, err = readOnce(ctx, flag, value, func(file string, r io.Reader) (ids []int32, err error) {
		names := &fileNames{lookup: lookup, file: file}
		err = triples.ReadNames(file, r, func(line int, name string) error {
			id, err := names.entity(ctx, line, name)
			ids = append(ids, id)
			return err
		})
		if err == nil {
			err = names.failed(a.e)
		}
		return ids, err
	})
	if errors.Is(err, fs.ErrNotExist) && lookup.HasEntity(value) {
		return nil, "", command.Usage("--%s: %s is an entity, but no file: give a file with a name on each line, or - and the names on standard input", flag, value)
	}
	if err != nil {
		return nil, "", err
	}
	lines := len(ids)
	slices.Sort(ids)
	ids = slices.Clip(slices.Compact(ids))
	if n := lines - len(ids); n > 0 {
		a.e.Say("%s: duplicate names: %s; each counts once", value, progress.Count(int64(n)))
	}
	hash := sha256.New()
	if err := binary.Write(hash, binary.LittleEndian, ids); err != nil {
		return nil, "", err
	}
	return ids, fmt.Sprintf("%d names, %x", len(ids), hash.Sum(nil)), nil
}

// notInNames are the characters that a derived name replaces.
var notInNames = regexp.MustCompile(`[^\pL\pN._]+`)

// derivedName returns the name of the answers about some relations: the flags, as far as a folder's name can hold them.
func (a *scoring) derivedName(kind, relations string) string {
	parts := []string{kind, relations}
	for _, value := range []string{a.sources, a.candidates} {
		switch {
		case value == "" || value == everything:
			value = ""
		case value == standardInput:
			value = "input"
		case strings.HasPrefix(value, typePrefix):
			value = strings.TrimPrefix(value, typePrefix)
		default:
			value = strings.TrimSuffix(path.Base(value), path.Ext(value))
		}
		parts = append(parts, value)
	}
	if a.known {
		parts = append(parts, "known")
	}
	if a.graph != kg.All {
		parts = append(parts, a.graph)
	}
	name := ""
	for _, part := range parts {
		const longest = 40
		part = strings.ReplaceAll(part, "~", "inverse-")
		letters := []rune(strings.Trim(notInNames.ReplaceAllString(part, "-"), "-."))
		if letters = letters[:min(longest, len(letters))]; len(letters) > 0 {
			name += "-" + string(letters)
		}
	}
	return name[1:]
}

// recorded returns what the manifests of a split's evaluation and of answers have in common.
func (a *scoring) recorded() recorded {
	r := recorded{
		Checkpoint: a.model.Record.Name(), Weights: a.model.Record.Weights.SHA256, TopK: a.best,
		Paths: a.kept(), PathChoice: a.choice(), Reach: a.model.Configuration.Reach,
	}
	if a.asks() {
		r.Graph = a.graph
		if a.fit != nil {
			r.Missing = a.missing
		}
	} else {
		r.Split, r.Predictions = a.split, parquet.PredictionsVersion
	}
	if from := a.model.Record.Origin; !a.given && from != nil && from.Relations == "" {
		r.From = from
	}
	return r
}
