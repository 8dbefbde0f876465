package preprocess

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"tagnet/formats/storage"
	"tagnet/formats/workspace/counts"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/workspace"
)

// explain lets the error of a graph that was made from other texts name the flags that differ, such as a forgotten
// --dataset, instead of the files' hashes. It changes the workspace.Mismatch that err wraps, and returns err.
func (f *flags) explain(ctx context.Context, e *command.Environment, source dataset, err error) error {
	mismatch := new(workspace.Mismatch)
	if !errors.As(err, &mismatch) || len(mismatch.Differences) == 0 {
		return err
	}
	s, unread := counts.ReadDataset(ctx, e.Workspace.Graph())
	if unread != nil {
		return err
	}
	var differing, texts, others []string
	if s.Dataset != source.name {
		differing = append(differing, flagDiffers("dataset", s.Dataset, source.name, f.dataset))
	}
	if s.Inference != source.inferenceName {
		differing = append(differing, flagDiffers("inference", s.Inference, source.inferenceName, f.inference))
	}
	// Hashes of texts become the names of their flags; all other differences stay.
	for _, d := range mismatch.Differences {
		if text, ok := strings.CutPrefix(d, "files."); ok {
			texts = append(texts, f.textDiffers(source, text))
		} else {
			others = append(others, d)
		}
	}
	// With another flag, all texts are other files: the flag says enough.
	if len(differing) == 0 {
		differing = texts
		if f.isMade && len(texts) > 0 {
			differing = []string{"it is not the built-in sample of this --seed"}
		}
	}
	mismatch.Differences = append(differing, others...)
	return err
}

// flagDiffers says which dataset a flag named in the run that made the graph, and names in this one.
func flagDiffers(flag, there, here, value string) string {
	if there == "" {
		there = "not given"
	}
	switch {
	case value == "" && flag == "dataset":
		here = "not given (the built-in sample)"
	case value == "":
		here = "not given"
	}
	return fmt.Sprintf("--%s is %s there, %s here", flag, there, here)
}

// textDiffers rewrites "train differs" and "inference/train differs" to name a flag's file.
func (f *flags) textDiffers(source dataset, difference string) string {
	key, rest, _ := strings.Cut(difference, " ")
	flag, split := "dataset", key
	if inference, ok := strings.CutPrefix(key, "inference/"); ok {
		flag, split = "inference", inference
	}
	// The key is of a file with a flag of its own, of a table of names in the dataset's folder, or of a file of facts.
	switch {
	case split == "types", split == "entity_names" && f.entityNames != "", split == "relation_names" && f.relationNames != "":
		return fmt.Sprintf("the file of --%s %s", split, rest)
	case split == "entity_names", split == "relation_names":
		return fmt.Sprintf("the file of %s of --%s %s", strings.Replace(split, "_", " ", 1), flag, rest)
	}
	name := split + ".txt"
	if split == divided {
		name = "the file that --split divides"
	}
	for _, t := range source.files {
		if t.key == key {
			name = storage.Base(t.url)
		}
	}
	return fmt.Sprintf("%s of --%s %s", name, flag, rest)
}
