package parquet

import (
	"context"
	"fmt"
	"io/fs"

	"tagnet/formats/storage"
)

// PartFile returns the URL of a part of a table in many files, counted from 0. The table is a folder, as pandas, DuckDB
// and Spark read it.
func PartFile(table string, number, parts int) string {
	return storage.Join(table, partName(number, parts))
}

func partName(number, parts int) string {
	return fmt.Sprintf("part-%05d-of-%05d.parquet", number, parts)
}

// TableFiles returns the URLs of the parts of a table, in order. If there are none, or some are missing, the error
// wraps fs.ErrNotExist.
func TableFiles(ctx context.Context, table string) ([]string, error) {
	urls, err := storage.List(ctx, table)
	if err != nil {
		return nil, err
	}
	if len(urls) == 0 {
		return nil, fmt.Errorf("%s has no parts: %w", table, fs.ErrNotExist)
	}
	parts := make([]string, len(urls))
	for i := range parts {
		parts[i] = PartFile(table, i, len(urls))
		if storage.Base(urls[i]) != partName(i, len(urls)) { // urls are sorted
			return nil, fmt.Errorf("%s is missing, beside %d other files: %w", parts[i], len(urls), fs.ErrNotExist)
		}
	}
	return parts, nil
}

// WriteText writes the text of a table: a heading, and the lines of the rows of each part in order. A table that has
// another number of parts is an error.
func WriteText[R Row](ctx context.Context, url, heading, table string, parts int, lines func(rows []R) []byte) error {
	w, err := storage.Create(ctx, url)
	if err != nil {
		return err
	}
	defer w.Abort()
	if _, err := w.Write([]byte(heading)); err != nil {
		return err
	}
	read := 0
	err = EachPart(ctx, table, func(rows []R) error {
		read++
		_, err := w.Write(lines(rows))
		return err
	})
	if err != nil {
		return err
	}
	if read != parts {
		return fmt.Errorf("%s has %d parts of %d", table, read, parts)
	}
	return w.Commit()
}

// EachPart calls each with the rows of every part of a table, in order. One part at a time is in memory. An error of
// each ends it and is returned.
func EachPart[R Row](ctx context.Context, table string, each func(rows []R) error) error {
	urls, err := TableFiles(ctx, table)
	if err != nil {
		return err
	}
	for _, url := range urls {
		rows, err := Read[R](ctx, url)
		if err == nil {
			err = each(rows)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
