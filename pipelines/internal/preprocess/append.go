package preprocess

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/counts"
	"tagnet/formats/externalsort"
	"tagnet/formats/facts"
	"tagnet/formats/lock"
	"tagnet/formats/manifest"
	"tagnet/formats/rdf"
	"tagnet/formats/storage"
	"tagnet/formats/tables"
	"tagnet/formats/triples"
	"tagnet/model/budget"
	"tagnet/model/kg"
	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/workspace"
	"tagnet/stages/vocabulary"
)

// appending is a run of --append.
type appending struct {
	*flags
	e        *command.Environment
	before   *earlier
	source   dataset // its one file, until it is converted
	appended counts.Appended
	workspace.Replacement
}

// appendFacts makes a graph of the workspace's and the facts of a file, and puts it in the place of that one when it is complete.
func (f *flags) appendFacts(ctx context.Context, e *command.Environment) error {
	a := &appending{flags: f, e: e}
	if err := a.open(ctx); err != nil {
		return err
	}
	here := f.configuration(a.source)
	if !e.Force && slices.ContainsFunc(a.before.configuration.Appended, func(there configuration) bool {
		there.To = ""
		return same(there, here)
	}) {
		e.Say("the graph has the facts of %s already: nothing to do", f.append)
		return finish(ctx, e, a.source, false)
	}
	a.prepare(here)
	made, err := a.Begin(ctx, e.Force)
	if err != nil {
		return err
	}
	if made { // by a run that was killed then
		err = a.Take(ctx)
	} else {
		err = a.make(ctx)
	}
	if err != nil || !made && a.appended.New == 0 {
		return err
	}
	return a.finish(ctx)
}

// same reports whether two configurations are equal as they are recorded.
func same(a, b configuration) bool {
	different, err := workspace.Differences(encoded(a), encoded(b))
	return err == nil && len(different) == 0
}

// open opens the graph and the file.
func (a *appending) open(ctx context.Context) error {
	w := a.e.Workspace
	m, err := w.Require(ctx, workspace.GraphFolder, w.Command("preprocess"))
	if err != nil && w.Interrupted(ctx, workspace.GraphFolder) {
		a.prepare(configuration{})
		if err := a.Finish(ctx, a.e.Force); err != nil {
			return err
		}
		a.e.Say("%s: put in place what an earlier run, which was killed, had completed", w.Graph())
		m, err = w.Require(ctx, workspace.GraphFolder, w.Command("preprocess"))
	}
	if err != nil {
		return err
	}
	if a.before, err = openEarlier(ctx, w.Graph(), m); err != nil {
		return err
	}
	return a.openFile(ctx)
}

// openFile opens the file of --append. It is always converted, since facts that the graph holds out are left out.
func (a *appending) openFile(ctx context.Context) error {
	if err := checkReadable(a.append); err != nil {
		return fmt.Errorf("--append: %w", err)
	}
	s := a.before.summary
	a.source = dataset{name: s.Dataset, inferenceName: s.Inference, inductive: a.before.inductive, validOnInference: s.ValidOnInference, labels: map[string]string{}}
	if err := a.addSplits(ctx, &a.source, folder{url: a.append}, a.before.grows(), map[string]string{"train": a.append}); err != nil {
		return err
	}
	file := &a.source.files[0]
	file.convert, file.Lines = true, 0
	if isRDF(file.options.Format) && s.Prefixes == nil && s.Conversion != nil && strings.Contains(s.Conversion.Formats, string(facts.Turtle)) {
		return fmt.Errorf("the graph was made from Turtle by an earlier version, which did not keep the prefixes that its names have: %s with the same --dataset and --force makes it again",
			a.e.Workspace.Command("preprocess"))
	}
	return nil
}

// prepare sets the stages of the graph and of the one that takes its place.
func (a *appending) prepare(here configuration) {
	w := a.e.Workspace
	a.Old = workspace.Stage{Workspace: w, Name: "preprocess", Folder: workspace.GraphFolder, Command: a.e.Again()}
	a.New = a.Old
	a.New.Folder = workspace.ReplacementFolder(workspace.GraphFolder)
	if a.before == nil {
		return
	}
	m := a.before.manifest
	here.To = m.Checksum
	all := a.before.configuration
	all.Appended = append(slices.Clone(all.Appended), here)
	a.New.Configuration = all
	a.New.Earlier = append(slices.Clone(m.Earlier), manifest.Earlier{Graph: m.Checksum, Vocabulary: m.Vocabulary, Facts: a.before.facts()})
	a.Old.Ready = a.ready
}

// ready makes the checks before anything is written.
func (a *appending) ready(ctx context.Context) error {
	m := a.before.manifest
	bytes, err := kg.NameBytes(ctx, a.before.folder, m)
	if err != nil {
		return err
	}
	names := m.Rows["entities"] + m.Rows["inference_entities"] + m.Rows["relations"]
	if _, err := a.e.Plan(budget.Append(names, bytes, a.before.heldOut()), a.memory, 0); err != nil {
		return err
	}
	planned := a.source
	planned.names = []vocabulary.Names{{File: kg.EntitiesFile}}
	return a.e.Ready(command.Work{Jobs: func() ([]*beam.Pipeline, error) {
		return []*beam.Pipeline{a.pipeline(a.folder(), planned, lock.Lock{})}, nil
	}, Memory: a.memory, Count: a.source.rows(), Unit: "rows", Loads: a.source.loads()})(ctx)
}

// folder returns the folder of the new graph.
func (a *appending) folder() string { return a.e.Workspace.Path(a.New.Folder) }

// make makes the new graph and puts it in place, if the file has a new fact.
func (a *appending) make(ctx context.Context) error {
	defer budget.Limit(a.memory * budget.MiB)()
	err := a.write(a.New.Lock().Guard(ctx))
	if err != nil || a.appended.New == 0 {
		a.Abandon(err != nil && !command.Local())
	}
	switch {
	case err != nil:
		return err
	case a.appended.New == 0:
		a.e.Say("%s: nothing to append; the graph stays as it is", told(a.append, a.appended))
		return nil
	}
	rows, vocabulary, err := rows(ctx, a.folder())
	if err != nil {
		a.Abandon(!command.Local())
		return err
	}
	a.New.Vocabulary = vocabulary
	return a.Publish(ctx, rows)
}

// write writes the tables of the new graph, and its summary.
func (a *appending) write(ctx context.Context) error {
	defer vocabulary.Forget()
	defer externalsort.Forget()
	converted, err := a.convertAll(ctx)
	if err != nil {
		return err
	}
	if err := a.runJob(ctx, a.e, a.folder(), converted, a.New.Lock()); err != nil {
		return err
	}
	a.New.Outputs = outputs(converted, a.before.summary.Types != nil)
	return a.complete(ctx, converted)
}

// convertAll writes the facts of the graph's tables, and those of the file, as texts for the job.
func (a *appending) convertAll(ctx context.Context) (dataset, error) {
	source := a.source
	c := converter{flags: a.flags, folder: inputs(a.folder()), source: &source, prefixes: &rdf.Prefixes{}, header: headerCheck{known: a.before.relations}}
	if err := a.addPrefixes(ctx, &c); err != nil {
		return source, err
	}
	if err := a.before.readEntities(ctx); err != nil {
		return source, err
	}
	defer func() { a.before.entities = nil }() // they are many
	var err error
	if source.names, err = a.before.names(ctx, c.folder); err != nil {
		return source, err
	}
	c.bar = a.e.Progress.Begin("read facts", 0, "facts")
	defer c.bar.End()
	if err := a.copyRejects(ctx, &c); err != nil {
		return source, err
	}
	var files []text
	for _, p := range a.before.parts() {
		t := text{graph: p.graph, split: p.split}
		chunk := triples.Chunk{URL: storage.Join(c.folder, p.graph+"-"+p.split+".tsv"), Graph: p.graph, Split: p.split}
		chunk.Original = chunk.URL
		grows := p.graph == a.before.grows() && p.split == "train"
		if grows {
			chunk.Original = a.append
		}
		if err := a.writeText(ctx, &c, p, chunk.URL, grows); err != nil {
			return source, err
		}
		texts, err := c.scan(ctx, t, chunk)
		if err != nil {
			return source, err
		}
		files = append(files, texts...)
	}
	source.prefixes = c.declared()
	source.files = files
	return source, nil
}

// addPrefixes adds the prefixes that the names of the graph have or, if it is not from RDF, those of the file.
func (a *appending) addPrefixes(ctx context.Context, c *converter) error {
	s, file := a.before.summary, a.source.files[0]
	for prefix, namespaces := range s.Prefixes {
		for _, namespace := range namespaces {
			c.prefixes.Add(prefix, namespace)
		}
	}
	if s.Prefixes != nil || s.Conversion != nil && (strings.Contains(s.Conversion.Formats, string(facts.NTriples)) || strings.Contains(s.Conversion.Formats, string(facts.NQuads))) {
		return nil
	}
	return facts.Prefixes(ctx, file.url, file.options.Format, c.prefixes)
}

// writeText writes the facts of a part and, if it grows, those of the file.
func (a *appending) writeText(ctx context.Context, c *converter, p part, url string, grows bool) error {
	file, err := storage.Create(ctx, url)
	if err != nil {
		return err
	}
	defer file.Abort()
	out := bufio.NewWriterSize(file, 1<<16)
	if grows { // first, so that a bad line is found soon
		if err := a.writeFile(ctx, c, out); err != nil {
			return err
		}
	}
	if err := a.before.write(ctx, p, out); err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return file.Commit()
}

// writeFile writes the facts of the file but those that the graph holds out.
func (a *appending) writeFile(ctx context.Context, c *converter, out *bufio.Writer) error {
	leftOut, err := a.before.leftOut(ctx)
	if err != nil {
		return err
	}
	t := a.source.files[0]
	err = c.each(ctx, t, storage.Join(c.folder, "appended.rejects"), func(line int, f facts.Fact) error {
		a.appended.Facts++
		if heldOut, found := leftOut[fingerprintOf(f)]; found {
			if heldOut {
				a.appended.HeldOut++
			}
			return nil
		}
		return writeFact(out, f, line)
	})
	if err != nil {
		return err
	}
	if err := c.header.suspicious(); err != nil {
		return err
	}
	return t.unchanged(ctx)
}

// copyRejects copies the lines of the graph's rejects.tsv.
func (a *appending) copyRejects(ctx context.Context, c *converter) error {
	lines := a.before.summary.Rejected
	if lines == 0 {
		return nil
	}
	file, err := storage.Open(ctx, storage.Join(a.before.folder, kg.RejectsFile))
	if err != nil {
		return err
	}
	defer file.Close()
	text := bufio.NewReader(file)
	if _, err := text.ReadString('\n'); err != nil && !errors.Is(err, io.EOF) { // the heading
		return err
	}
	to := storage.Join(c.folder, "earlier.rejects")
	w, err := storage.Create(ctx, to)
	if err != nil {
		return err
	}
	defer w.Abort()
	if _, err := io.Copy(w, text); err != nil {
		return err
	}
	c.source.rejects = append(c.source.rejects, triples.Rejects{URL: to, Lines: lines})
	return w.Commit()
}

// complete writes the types, and completes the summary. It counts what is new.
func (a *appending) complete(ctx context.Context, source dataset) error {
	s, err := counts.ReadDataset(ctx, a.folder())
	if err != nil {
		return err
	}
	old := a.before.summary
	if err := a.writeTypes(ctx, source, &s); err != nil {
		return err
	}
	s.Repeated, s.Unread, s.Conversion = old.Repeated, old.Unread, old.Conversion
	if s.Prefixes = old.Prefixes; s.Prefixes == nil {
		s.Prefixes = source.prefixes
	}
	relations, err := tables.ReadNames(ctx, storage.Join(a.folder(), kg.RelationsFile), tables.Relations)
	if err != nil {
		return err
	}
	n := &a.appended
	n.File, n.Literals = storage.Base(a.append), source.converted.Literals
	n.New, n.Entities = s.Facts-old.Facts, s.Entities-old.Entities
	if g := s.InferenceGraph; g != nil {
		n.New, n.Entities = g.Facts-old.InferenceGraph.Facts, g.Entities-old.InferenceGraph.Entities
	}
	n.Relations = slices.DeleteFunc(relations, func(name string) bool { return slices.Contains(a.before.relations, name) })
	s.Appended = append(slices.Clone(old.Appended), *n)
	return storage.WriteJSON(ctx, storage.Join(a.folder(), counts.SummaryFile), s)
}

// writeTypes writes the types that the entities have, with those that new facts of the relation of types give.
func (a *appending) writeTypes(ctx context.Context, source dataset, s *counts.Dataset) error {
	old := a.before.summary
	if old.Types == nil {
		return nil
	}
	if err := a.before.readEntities(ctx); err != nil {
		return err
	}
	defer func() { a.before.entities = nil }()
	for _, g := range []struct {
		of, file string
		entities int64
		old, new **counts.Types
	}{{triples.Training, kg.TypesFile, s.Entities, &old.Types, &s.Types}, {triples.Inference, kg.InferenceTypesFile, 0, nil, nil}} {
		if g.of == triples.Inference {
			if s.InferenceGraph == nil {
				continue
			}
			g.entities, g.old, g.new = s.InferenceGraph.Entities, &old.InferenceGraph.Types, &s.InferenceGraph.Types
		}
		written, err := kg.WriteTypes(ctx, kg.TypesParams{
			Folder: a.folder(), Spill: storage.Join(a.folder(), spillFolder), Inference: g.of == triples.Inference, Entities: g.entities, EdgeShards: source.edgeShards(),
			Each: a.before.types(g.file, a.before.entities[g.of]), Relation: a.before.configuration.TypeRelation, BufferBytes: typeBufferBytes,
		})
		if err != nil {
			return err
		}
		written.Listed, written.Unknown, written.UnknownNames = (*g.old).Listed, (*g.old).Unknown, (*g.old).UnknownNames // of the file of --types
		*g.new = &written
	}
	return nil
}
