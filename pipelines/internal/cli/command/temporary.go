package command

import (
	"context"
	"fmt"
	"os"

	"tagnet/pipelines/internal/cli/workspace"
)

// makeTemporary makes a temporary folder the workspace, until remove is called.
func (e *Environment) makeTemporary(ctx context.Context, p Pipeline) (remove func(), err error) {
	folder, err := os.MkdirTemp("", "tagnet-"+p.Name+"-")
	if err != nil {
		return nil, fmt.Errorf("making a temporary folder, which TMPDIR or --workspace moves: %w", err)
	}
	e.Workspace = workspace.New(folder).WithRun(e.Workspace.Run())
	end := OnSecondInterrupt(ctx, func() string { return folder + " is not removed" })
	return func() {
		end()
		if err := os.RemoveAll(folder); err != nil {
			fmt.Fprintf(e.Err, "%s: removing the temporary folder: %s\n", p.Name, OneLine(err))
		}
	}, nil
}
