package train

import (
	"context"
	"errors"
	"io/fs"

	"tagnet/formats/manifest"
	"tagnet/model/budget"
	"tagnet/pipelines/internal/command"
)

// planWithBundles plans again with the bundles, which a training holds and whose size is known once
// they are made. Nothing of an earlier training is deleted before.
func (f *flags) planWithBundles(ctx context.Context, e *command.Environment, sizes budget.Sizes) error {
	for split, copies := range map[string]int64{"train": 1, "valid": 2} { // known answers of validation are decoded too
		m, err := manifest.Read(ctx, e.Workspace.Path("bundles/"+split))
		if errors.Is(err, fs.ErrNotExist) {
			continue // a split without queries has no bundles
		}
		if err != nil {
			return err
		}
		for _, file := range m.Files {
			sizes.BundleFiles += copies * file.Size
		}
	}
	plan, err := e.Plan(budget.Train(sizes, f.configuration), f.memory, f.replicas)
	f.plan.MaxThreads = plan.MaxThreads
	return err
}
