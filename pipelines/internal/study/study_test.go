package study

import (
	"context"
	"os"
	"testing"

	"tagnet/formats/workspace/parquet"
	"tagnet/pipelines/internal/pipelinetest"
)

func TestMain(m *testing.M) { os.Exit(pipelinetest.Main(m, Messages())) }

// rowsOf returns the rows of all parts of a table.
func rowsOf(ctx context.Context, table string) (all []parquet.MessageCount, err error) {
	err = parquet.EachPart(ctx, table, func(rows []parquet.MessageCount) error {
		all = append(all, rows...)
		return nil
	})
	return all, err
}
