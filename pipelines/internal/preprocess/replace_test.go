package preprocess

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tagnet/formats/storage/storagetest"
	"tagnet/formats/workspace/manifest"
	"tagnet/model"
	"tagnet/pipelines/internal/cli/workspace"
	"tagnet/pipelines/internal/pipelinetest"
)

// contents returns what a reader finds in the graph of a workspace: names, edges, queries and known answers.
func contents(t *testing.T, w workspace.Workspace) (string, error) {
	loaded, _, err := w.OpenGraph(t.Context())
	if err != nil {
		return "", err
	}
	view := loaded.Inference
	known, err := view.Answers(t.Context())
	if err != nil {
		return "", err
	}
	queries, err := loaded.Queries(t.Context(), "test")
	if err != nil {
		return "", err
	}
	edges := ""
	for entity := range int32(view.Graph.Entities) {
		edges += fmt.Sprint(view.Graph.In(entity))
	}
	return fmt.Sprint(view.Entities, loaded.Relations, edges, queries, known), nil
}

// TestReadersWhileAGraphIsReplaced opens the graph again and again, by the commands' function and by the library's,
// while preprocess --force puts two others in its place in turn. Each time it is one of them, whole, or the error says
// that it is being replaced.
func TestReadersWhileAGraphIsReplaced(t *testing.T) {
	datasets := []string{pipelinetest.Dataset(t, pipelinetest.Ring("a", 20)), pipelinetest.Dataset(t, pipelinetest.Ring("b", 30))}
	for name, root := range map[string]string{"local": t.TempDir(), "memory": storagetest.Memory(t)} {
		t.Run(name, func(t *testing.T) {
			w, whole := workspace.New(root), map[string]bool{}
			for _, dataset := range datasets {
				pipelinetest.Succeed(t, Pipeline(), "--workspace", root, "--dataset", dataset, "--force")
				text, err := contents(t, w)
				if err != nil {
					t.Fatal(err)
				}
				whole[text] = true
			}
			var opened, refused atomic.Int64
			judge := func(err error) {
				replaced := new(manifest.Replaced)
				switch {
				case err == nil:
					opened.Add(1)
				case errors.As(err, &replaced) && !(name == "local" && replaced.Writer != nil):
					refused.Add(1)
				default:
					t.Error(err)
				}
			}
			done := make(chan struct{})
			var readers sync.WaitGroup
			read := func(once func()) {
				readers.Go(func() {
					for {
						select {
						case <-done:
							return
						case <-time.After(5 * time.Millisecond):
							once()
						}
					}
				})
			}
			for range 2 {
				read(func() {
					text, err := contents(t, w)
					if err == nil && !whole[text] {
						t.Errorf("a mixture: %.300s", text)
					}
					judge(err)
				})
			}
			read(func() {
				_, err := model.Open(t.Context(), root)
				judge(err)
			})
			for i := range 3 {
				pipelinetest.Succeed(t, Pipeline(), "--workspace", root, "--dataset", datasets[i%2], "--force")
				before := opened.Load()
				for deadline := time.Now().Add(10 * time.Second); opened.Load() == before && time.Now().Before(deadline); {
					time.Sleep(time.Millisecond)
				}
				if opened.Load() == before {
					t.Errorf("no reader opened the graph after replacement %d", i+1)
				}
			}
			close(done)
			readers.Wait()
			t.Logf("%d opened, %d refused", opened.Load(), refused.Load())
		})
	}
}
