package preprocess

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"tagnet/formats/counts"
	"tagnet/formats/manifest"
	"tagnet/formats/storage"
	"tagnet/formats/tables"
	"tagnet/model/checkpoint"
	"tagnet/model/kg"
	"tagnet/pipelines/internal/progress"
)

// encoded returns a configuration as it is recorded.
func encoded(c configuration) []byte {
	text, err := json.Marshal(c)
	if err != nil {
		panic(err) // it has texts and numbers
	}
	return text
}

// told says what became of the facts of a file.
func told(file string, n counts.Appended) string {
	text := fmt.Sprintf("%s: %s, %s of them new", file, plural(n.Facts, "fact"), progress.Count(n.New))
	if known := n.Facts - n.New - n.HeldOut; known > 0 {
		text += fmt.Sprintf("; left out: %s in the graph already, or repeated", progress.Count(known))
	}
	if n.HeldOut > 0 {
		text += fmt.Sprintf("; left out: %s of validation or test, where they stay, since the graph would give the answers away", progress.Count(n.HeldOut))
	}
	if n.Literals > 0 {
		text += fmt.Sprintf("; left out: %s whose object is a literal", plural(n.Literals, "statement"))
	}
	return text
}

// finish says what was appended, which models stay valid, and what to run next.
func (a *appending) finish(ctx context.Context) error {
	w := a.e.Workspace
	s, err := counts.ReadDataset(ctx, w.Graph())
	if err != nil {
		return err
	}
	if len(s.Appended) == 0 {
		return fmt.Errorf("%s names no appended file: %w", storage.Join(w.Graph(), counts.SummaryFile), manifest.ErrDamaged)
	}
	n := s.Appended[len(s.Appended)-1]
	if err := describe(ctx, a.e, s, a.source.fileNames()); err != nil {
		return err
	}
	to := "training facts"
	if s.InferenceGraph != nil {
		to = "inference graph"
	}
	a.e.Say("%s", told(a.append, n))
	line := fmt.Sprintf("appended to the %s; new entities: %s", to, progress.Count(n.Entities))
	if len(n.Relations) > 0 {
		line += "; new relations: " + few(n.Relations)
	}
	a.e.Say("%s", line)
	if err := a.sayModels(ctx); err != nil {
		return err
	}
	a.e.Say("distances, bundles, messages, analyses and evaluations are those of the earlier graph: their commands make them again with --force")
	a.e.Outputs(true, w.Graph(), storage.Join(w.Graph(), counts.SummaryFile))
	return nil
}

// sayModels says which models of the workspace answer on the new graph, and what to do about the others.
func (a *appending) sayModels(ctx context.Context) error {
	w := a.e.Workspace
	m, err := manifest.Read(ctx, w.Graph())
	if err != nil {
		return err
	}
	relations, err := tables.ReadNames(ctx, storage.Join(w.Graph(), kg.RelationsFile), tables.Relations)
	if err != nil {
		return err
	}
	vocabularies := []string{m.Vocabulary}
	for _, e := range m.Earlier {
		vocabularies = append(vocabularies, e.Vocabulary)
	}
	runs, err := w.Runs(ctx)
	if err != nil {
		return err
	}
	var valid []string
	for _, run := range runs {
		r, err := checkpoint.Folder(w.WithRun(run).Checkpoints()).Record(ctx, "best")
		damaged := new(checkpoint.DamagedError)
		switch {
		case errors.Is(err, checkpoint.ErrNone), errors.As(err, &damaged): // there is no model, or the commands that take it will say so
			continue
		case err != nil:
			return err
		}
		if err := r.Fits(relations, vocabularies...); err != nil {
			a.e.Say("the model of the run %s does not fit the new graph: %s; %s with the flags it had trains on this graph, and score and serve with --model FILE.pth take ULTRA's weights, which know any relation",
				run, unknownRelations(r, relations), w.WithRun(run).Command("train", "--force"))
			continue
		}
		valid = append(valid, run)
	}
	if len(valid) > 0 {
		a.e.Say("models that stay valid, with the weights of the earlier graph: %s", strings.Join(valid, ", "))
	}
	return nil
}

// unknownRelations names the relations that a model has not seen.
func unknownRelations(r checkpoint.Record, relations []string) string {
	known := map[string]bool{}
	for _, name := range r.Vocabulary.Relations {
		known[name] = true
	}
	var unknown []string
	for _, name := range relations {
		if !known[name] {
			unknown = append(unknown, strconv.Quote(name))
		}
	}
	switch len(unknown) {
	case 0:
		return "it was trained on another graph"
	case 1:
		return "it never saw the relation " + unknown[0]
	}
	return "it never saw the relations " + few(unknown)
}
