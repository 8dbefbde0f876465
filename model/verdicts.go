package model

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"tagnet/formats/input/triples"
	"tagnet/formats/workspace/verdicts"
)

// Verdict says whether a fact is true, as a person judged it.
type Verdict = verdicts.Verdict

// ErrNoWorkspace is the error of Judge for a model that no workspace has.
var ErrNoWorkspace = errors.New("verdicts are kept in a workspace: open one")

// Judge adds verdicts to the workspace's, and returns when they are kept and used: a judged fact is no new answer any
// more, and how many facts are missing is what verdicts tell, unless an option says it. Several processes may
// judge at once. The error of an unknown name is an *UnknownNameError; then no verdict is kept.
func (m *Model) Judge(ctx context.Context, list ...Verdict) error {
	if m.workspace == "" {
		return ErrNoWorkspace
	}
	if err := m.CheckVerdicts(ctx, list); err != nil {
		return err
	}
	if err := verdicts.Append(ctx, m.workspace, strings.Join(os.Args, " "), list...); err != nil {
		return err
	}
	return m.ReadVerdicts(ctx)
}

// CheckVerdicts returns an error for a verdict on a fact of names that the graph does not have, an *UnknownNameError,
// or that no fact has, and for one that is none.
func (m *Model) CheckVerdicts(ctx context.Context, list []Verdict) error {
	for i, v := range list {
		if !v.Judgment.IsValid() {
			return fmt.Errorf("verdict %d is %q, want true, false or undo", i+1, v.Judgment)
		}
		if reason, _ := triples.Check(v.Head, v.Relation, v.Tail); reason != "" {
			return fmt.Errorf("verdict %d: %s", i+1, reason)
		}
		if _, err := m.lookup.Fact(ctx, v.Head, v.Relation, v.Tail); err != nil {
			return fmt.Errorf("verdict %d: %w", i+1, err)
		}
	}
	return nil
}

// ReadVerdicts uses the verdicts that the workspace has now, which other processes may have added.
func (m *Model) ReadVerdicts(ctx context.Context) error {
	if m.workspace == "" || !m.overAll {
		return nil
	}
	m.reading.Lock()
	defer m.reading.Unlock()
	read, err := m.opened.ReadVerdicts(ctx, m.workspace)
	if err != nil {
		return err
	}
	told, err := m.opened.Tell(ctx, read, m.probabilitiesFolder(), nil)
	presumed := told.Presumed(m.said)
	m.presumed.Store(&presumed)
	m.told.Store(&told)
	return err
}

// Told returns lines on what verdicts tell of how many facts are missing; none if they are too few.
func (m *Model) Told() []string {
	told := m.told.Load()
	if told == nil {
		return nil
	}
	return told.Lines(m.opened.KG.Relations)
}
