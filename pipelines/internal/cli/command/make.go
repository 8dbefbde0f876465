package command

import (
	"context"

	"tagnet/pipelines/internal/cli/workspace"
)

// MakeFolder makes the folder of an output, unless it is complete, and reports whether it did. job writes the files,
// and returns the counts for the manifest.
func (e *Environment) MakeFolder(ctx context.Context, s *workspace.Output, job func() (rows map[string]int64, err error)) (made bool, err error) {
	done, err := s.Begin(ctx, e.Force)
	if done || err != nil {
		return false, err
	}
	err = FillFolder(ctx, s, job)
	return err == nil, err
}

// FillFolder makes the folder of an output that was begun. What a job that fails has written is removed, unless the
// output is resumed.
func FillFolder(ctx context.Context, s *workspace.Output, job func() (rows map[string]int64, err error)) error {
	rows, err := job()
	switch {
	case err == nil:
		return s.Publish(ctx, rows)
	case s.Resumed:
		s.Pause()
	default:
		s.Abandon(!Local())
	}
	return s.Explain(ctx, err)
}
