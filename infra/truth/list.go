package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"tagnet/formats/input/datasets"
	"tagnet/formats/storage"
	"tagnet/formats/workspace/manifest"
	"tagnet/model/graph/kg"
)

// listed is a fact of a list.
type listed struct {
	datasets.Fact
	probability float64 // -1 if there is none
	lower       float64 // of both scores
	true        bool
}

// list lists what the graph lacks of relations, all candidates with probabilities that presume the share that was removed, in the order of the list.
func (s setting) list(ctx context.Context, o options, folder, relations string, missing float64, topK int) ([]listed, error) {
	name := fmt.Sprintf("list-%d", topK)
	err := o.command(ctx, folder, append([]string{"discover", "--relation", relations, "--most", strconv.Itoa(mostListed), "--top_k", strconv.Itoa(topK),
		"--missing", fmt.Sprintf("%.4f", missing), "--output", name, "--device", "cpu", "--memory", "4096"}, o.threads()...)...)
	if err != nil {
		return nil, err
	}
	return readList(filepath.Join(folder, "workspace", "runs", "main", "facts", name, "facts.tsv"))
}

// mostListed is more facts than have a probability worth a look; those beyond would all be in the first bin.
const mostListed = 1_000_000

// readList reads the text of a list.
func readList(path string) (list []listed, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Scan()
	column := map[string]int{}
	for i, name := range strings.Split(lines.Text(), "\t") {
		column[name] = i
	}
	for lines.Scan() {
		fields := strings.Split(lines.Text(), "\t")
		field := func(name string) string { return fields[column[name]] }
		number := func(name string) float64 {
			x, e := strconv.ParseFloat(field(name), 64)
			if e != nil && err == nil {
				err = fmt.Errorf("reading %s: %s of line %d: %w", path, name, len(list)+2, e)
			}
			return x
		}
		l := listed{Fact: datasets.Fact{Head: field("head"), Relation: field("relation"), Tail: field("tail")}, probability: -1}
		if field("probability") != "" {
			l.probability = number("probability")
		}
		if l.lower = min(number("tail_score"), number("head_score")); err != nil {
			return nil, err
		}
		list = append(list, l)
	}
	return list, lines.Err()
}

// hidden returns the heads of a relation's facts that --split keeps from training.
func hidden(ctx context.Context, folder, relation string) (map[string]bool, error) {
	url := storage.Join(filepath.Join(folder, "workspace"), kg.Folder)
	made, err := manifest.Read(ctx, url)
	if err != nil {
		return nil, err
	}
	graph, err := kg.Load(ctx, url, made)
	if err != nil || !graph.IsDivided() {
		return nil, err
	}
	queries, err := graph.HeldOut(ctx)
	heads := map[string]bool{}
	for _, q := range queries {
		if int(q.Relation) < len(graph.Relations) && graph.Relations[q.Relation] == relation {
			heads[graph.Inference.Entities[q.Source]] = true
		}
	}
	return heads, err
}
