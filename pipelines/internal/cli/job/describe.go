package job

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
)

// description is a job as --dry_run prints it.
type description struct {
	Options
	Steps []step `json:"steps"`
	// Request is what Dataflow would receive.
	Request json.RawMessage `json:"request,omitempty"`
}

// step is a transform of a job, with its kind (Beam's URN) and the composites around it in its name.
type step struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
}

// Describe returns the job of a pipeline as indented JSON: its options and its steps, in the order in
// which data passes through them, and the request in which a runner without job server receives it.
func Describe(ctx context.Context, p *beam.Pipeline, o Options, request json.RawMessage) (string, error) {
	translated, err := o.marshal(ctx, p, "")
	if err != nil {
		return "", err
	}
	text, err := json.MarshalIndent(description{o, listSteps(translated), request}, "", "  ")
	return string(text), err
}

// Steps returns the names of a pipeline's steps, without Beam's own.
func Steps(ctx context.Context, p *beam.Pipeline, o Options) ([]string, error) {
	translated, err := o.marshal(ctx, p, "")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, s := range listSteps(translated) {
		if name := s.Name[strings.LastIndex(s.Name, "/")+1:]; s.Kind == "pardo" && strings.HasSuffix(name, "Fn") && !strings.HasPrefix(name, "beam.") {
			names = append(names, strings.TrimSuffix(name, "Fn"))
		}
	}
	return names, nil
}

// listSteps lists the transforms that are not composites.
func listSteps(p *pipepb.Pipeline) []step {
	all := p.GetComponents().GetTransforms()
	var list []step
	var add func(ids []string)
	add = func(ids []string) {
		for _, id := range ids {
			t := all[id]
			if len(t.GetSubtransforms()) > 0 {
				add(t.GetSubtransforms())
				continue
			}
			kind := strings.TrimSuffix(strings.TrimPrefix(t.GetSpec().GetUrn(), "beam:transform:"), ":v1")
			list = append(list, step{Name: t.GetUniqueName(), Kind: kind})
		}
	}
	add(p.GetRootTransformIds())
	return list
}
