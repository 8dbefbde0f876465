package preprocess

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/workspace"
	"tagnet/stages/graph"
)

// explain lets the error of a graph that was made from other texts name the flags that differ, such as
// a forgotten --dataset, instead of the files' hashes.
func (f *flags) explain(ctx context.Context, e *command.Environment, source dataset, err error) error {
	mismatch := new(workspace.Mismatch)
	if !errors.As(err, &mismatch) || len(mismatch.Differences) == 0 {
		return err
	}
	s, unread := graph.ReadSummary(ctx, e.Workspace.Graph())
	if unread != nil {
		return err
	}
	var flags, texts, others []string
	if s.Dataset != source.name {
		flags = append(flags, flagDiffers("dataset", s.Dataset, source.name, f.dataset))
	}
	if s.Inference != source.inferenceName {
		flags = append(flags, flagDiffers("inference", s.Inference, source.inferenceName, f.inference))
	}
	for _, d := range mismatch.Differences {
		if text, ok := strings.CutPrefix(d, "files."); ok {
			texts = append(texts, textDiffers(text))
		} else {
			others = append(others, d)
		}
	}
	switch {
	case len(flags) > 0: // other texts are other files
	case f.dataset == "" && len(texts) > 0:
		flags = append(flags, "it is not the built-in sample of this --seed")
	default:
		flags = texts
	}
	mismatch.Differences = append(flags, others...)
	return err
}

// flagDiffers says which dataset a flag named in the run that made the graph, and names in this one.
func flagDiffers(flag, there, here, given string) string {
	if there == "" {
		there = "not given"
	}
	switch {
	case given == "" && flag == "dataset":
		here = "not given (the built-in sample)"
	case given == "":
		here = "not given"
	}
	return fmt.Sprintf("--%s is %s there, %s here", flag, there, here)
}

// textDiffers rewrites "train differs" and "inference/train differs" to name a flag's file.
func textDiffers(difference string) string {
	flag := "dataset"
	if inference, ok := strings.CutPrefix(difference, "inference/"); ok {
		flag, difference = "inference", inference
	}
	split, rest, _ := strings.Cut(difference, " ")
	if split == "types" {
		return "the file of --types " + rest
	}
	return fmt.Sprintf("%s.txt of --%s %s", split, flag, rest)
}
