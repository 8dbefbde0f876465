package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/infra/experiments/internal/plan"
	"tagnet/stages/bundle"
)

// TestPlannedProtocols checks that experiments can list the protocols of score, and no others.
func TestPlannedProtocols(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff(bundle.Protocols, plan.Protocols); diff != "" {
		t.Error(diff)
	}
	if plan.Protocols[1] != string(bundle.ValidAndTest) {
		t.Errorf("%s takes validation facts", bundle.ValidAndTest)
	}
}
