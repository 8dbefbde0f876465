package pipelinetest

import (
	"errors"
	"path/filepath"
	"testing"

	"tagnet/formats/workspace/manifest"
	"tagnet/model/engine/parts"
	"tagnet/model/graph/kg"
	"tagnet/model/learn/learntest"
	"tagnet/model/weights/configuration"
	"tagnet/stages/worker"
)

// Bundles writes the parts of the graph of a workspace for the queries of splits, by searches of the whole graph.
func Bundles(t testing.TB, workspace string, reach, layers int, splits ...string) {
	t.Helper()
	folder, m := graphOf(t, workspace)
	k, err := kg.Load(t.Context(), folder, m)
	if err != nil {
		t.Fatal(err)
	}
	c := configuration.Default()
	c.Reach, c.Layers = reach, layers
	for _, split := range splits {
		url := filepath.Join(workspace, "bundles", parts.Name(split, reach, layers))
		if err := learntest.WriteParts(t.Context(), url, k, split, c, nil, 3); err != nil {
			t.Fatal(err)
		}
	}
}

// graphOf returns the folder of the graph of a workspace, and its manifest.
func graphOf(t testing.TB, workspace string) (string, manifest.Manifest) {
	t.Helper()
	folder := filepath.Join(workspace, "graph")
	m, err := manifest.Read(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	return folder, m
}

// HoldsGraph reports whether this process has loaded the graph of a workspace.
func HoldsGraph(t testing.TB, workspace string) bool {
	t.Helper()
	folder, m := graphOf(t, workspace)
	held := true
	worker.Load(worker.Key{Kind: "graph", URL: folder}, m.Checksum, func() (*kg.KG, error) {
		held = false
		return nil, errors.New("it is not held")
	})
	return held
}
