package preprocess

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"tagnet/formats/storage"
	"tagnet/formats/workspace/counts"
	"tagnet/formats/workspace/manifest"
	"tagnet/formats/workspace/tables"
	"tagnet/model/graph/kg"
	"tagnet/pipelines/internal/cli/progress"
)

const (
	// suspectFacts is the number of facts from which relations that are half as many are suspect.
	suspectFacts = 20
	// suspectRatio is how many times more relations than heads, or tails, are suspect.
	suspectRatio = 10
)

// order says that the columns of head, relation and tail seem to be in another order, and which, or returns "". columns
// are the value of --columns.
func order(ctx context.Context, folder string, s counts.Dataset, columns []string) (string, error) {
	relations := map[string]bool{}
	err := tables.EachName(ctx, storage.Join(folder, kg.RelationsFile), tables.Relations, func(name []byte) error {
		relations[string(name)] = true
		return nil
	})
	if err != nil {
		return "", err
	}
	var shared []string
	err = tables.EachName(ctx, storage.Join(folder, kg.EntitiesFile), tables.Entities, func(name []byte) error {
		if relations[string(name)] {
			shared = append(shared, string(name))
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	// Usually relations are few, and no entities: otherwise the columns are counted.
	mixed, many := 2*int64(len(shared)) >= s.Relations, s.Facts >= suspectFacts && 2*s.Relations >= s.Facts
	if !mixed && !many && suspectRatio*s.Relations < s.Facts {
		return "", nil
	}
	heads, tails, err := ends(ctx, folder, s)
	if err != nil {
		return "", err
	}
	fewest := min(heads, tails)
	if !many && (fewest >= s.Relations || !mixed && suspectRatio*fewest > s.Relations) {
		return "", nil
	}
	// The column with the fewest names is likely the relation.
	note := fmt.Sprintf("warning: %s of %s", plural(s.Relations, "relation"), plural(s.Facts, "fact"))
	if len(shared) > 0 {
		note += fmt.Sprintf(", and %s of their names are entities too, such as %s", progress.Count(int64(len(shared))), strconv.Quote(shared[0]))
	}
	if fewest >= s.Relations {
		return note + ": is the second column that of the relations? --columns takes others", nil
	}
	if columns == nil {
		columns = []string{"1", "2", "3"}
	}
	likely := []string{columns[0], columns[2], columns[1]}
	if heads < tails {
		likely = []string{columns[1], columns[0], columns[2]}
	}
	return note + fmt.Sprintf(": another column has only %s different names; if it is that of the relations, give --columns %s", progress.Count(fewest),
		strings.Join(likely, ",")), nil
}

// ends returns the numbers of different heads and tails of the training facts.
func ends(ctx context.Context, folder string, s counts.Dataset) (heads, tails int64, err error) {
	m, err := manifest.Read(ctx, folder)
	if err != nil {
		return 0, 0, err
	}
	isHead, isTail := make([]bool, s.Entities), make([]bool, s.Entities)
	for _, file := range kg.EdgeFiles(m, "train") {
		err := tables.EachEdges(ctx, storage.Join(folder, file.Name), func(e tables.Edges) error {
			for i, relation := range e.Relations {
				if int64(relation) < s.Relations { // no inverse
					isHead[e.Heads[i]], isTail[e.Tails[i]] = true, true
				}
			}
			return nil
		})
		if err != nil {
			return 0, 0, err
		}
	}
	for entity := range isHead {
		if isHead[entity] {
			heads++
		}
		if isTail[entity] {
			tails++
		}
	}
	return heads, tails, nil
}
