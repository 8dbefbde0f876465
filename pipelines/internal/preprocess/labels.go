package preprocess

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"tagnet/formats/input/facts"
	"tagnet/formats/input/triples"
	"tagnet/formats/storage"
	"tagnet/formats/workspace/manifest"
)

// label gives the files of one graph the names that stand for their ids: from --entity_names and --relation_names,
// OpenKE's tables, or .dict files whose ids the facts have. The other files of the folder are not read.
func (f *flags) label(ctx context.Context, d *dataset, files []text, source folder) error {
	var used []string
	for _, kind := range []struct {
		flag, file, openKE, dict string
		set                      func(o *facts.Options, labels *facts.Labels)
	}{
		{"entity_names", f.entityNames, openKEEntities, dictEntities, func(o *facts.Options, l *facts.Labels) { o.Entities = l }},
		{"relation_names", f.relationNames, openKERelations, dictRelations, func(o *facts.Options, l *facts.Labels) { o.Relations = l }},
	} {
		// A flag takes precedence over files of the folder.
		url, read := kind.file, facts.ReadLabels
		switch {
		case url != "":
		case source.openKE:
			url, read = storage.Join(source.url, kind.openKE), facts.ReadNameIDs
		case slices.Contains(source.others, kind.dict):
			url = storage.Join(source.url, kind.dict)
		default:
			continue
		}
		if err := checkReadable(url); err != nil {
			if kind.file != "" {
				return fmt.Errorf("--%s: %w", kind.flag, err)
			}
			return err
		}
		// A .dict file of a dataset whose facts have names already is not used. The first file tells
		// for all of the folder.
		isDict := kind.file == "" && !source.openKE
		if isDict {
			ids, err := hasIDs(ctx, files[0], kind.flag == "entity_names")
			if err != nil {
				return err
			}
			if !ids {
				continue
			}
		}
		labels, err := read(ctx, url)
		if err != nil {
			return err
		}
		file, err := manifest.HashFile(ctx, url)
		if err != nil {
			return err
		}
		d.divisions = append(d.divisions, pairColumns(url, labels.Columns)...)
		// The hash of the names decides the graph as the facts do.
		key := kind.flag
		if files[0].graph == triples.Inference && kind.file == "" {
			key = "inference/" + key
		}
		d.labels[key] = file.SHA256
		used = append(used, url)
		for i := range files {
			kind.set(&files[i].options, labels)
			files[i].convert, files[i].Lines = true, 0 // the job reads names: ids are replaced first, and how many facts there are is unknown until then
		}
	}
	for _, t := range files {
		used = append(used, t.url)
	}
	used = append(used, f.types, f.entityNames, f.relationNames)
	d.unread = append(d.unread, source.unread(used...)...)
	return nil
}

// hasIDs reports whether the first fact of a file has numbers for its entities, or for its relation.
func hasIDs(ctx context.Context, t text, entities bool) (bool, error) {
	if isRDF(t.options.Format) {
		return false, nil
	}
	t.options.Entities = nil // they may be set already, and count the ids that they lack
	var first facts.Fact
	err := readSome(ctx, t, func(_ int, f facts.Fact) error {
		first = f
		return errEnough
	})
	if err != nil {
		return false, err
	}
	if entities {
		return isNumber(first.Head) && isNumber(first.Tail), nil
	}
	return isNumber(first.Relation), nil
}

func isNumber(name string) bool { return name != "" && strings.Trim(name, "0123456789") == "" }
