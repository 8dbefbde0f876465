package predict

import (
	"context"
	"fmt"

	"tagnet/formats/storage"
	"tagnet/formats/workspace/manifest"
	"tagnet/model/answer"
	"tagnet/model/answer/probability"
	"tagnet/stages/worker"
)

// Probabilities says where the probabilities of the model are. Its zero value stands for none.
type Probabilities struct {
	// Folder is the URL of the folder of their file, SHA256 the checksum of the file.
	Folder, SHA256 string
	// Presumed says how many facts they presume to be missing.
	Presumed probability.Presumed
}

// Estimator returns the estimator of the probabilities of this process's model, nil without any. The
// process reads them once.
func (p Params) Estimator(ctx context.Context) (estimator *probability.Estimator, err error) {
	if p.Probabilities.Folder == "" {
		return nil, nil
	}
	err = p.Use(ctx, func(m *answer.Model) (err error) {
		type version struct {
			Probabilities
			file string
		}
		v := version{p.Probabilities, m.ProbabilitiesFile()}
		estimator, err = worker.Load(worker.Key{Kind: "probabilities"}, v, func() (*probability.Estimator, error) { return p.Probabilities.read(ctx, m) })
		return err
	})
	return estimator, err
}

func (p Probabilities) read(ctx context.Context, m *answer.Model) (*probability.Estimator, error) {
	url := storage.Join(p.Folder, m.ProbabilitiesFile())
	file, err := manifest.HashFile(ctx, url)
	if err != nil {
		return nil, err
	}
	if file.SHA256 != p.SHA256 {
		return nil, fmt.Errorf("%s was replaced: run again; every worker must see this file", url)
	}
	if _, err := m.ReadProbabilities(ctx, p.Folder); err != nil {
		return nil, err
	}
	return m.Estimator(p.Presumed)
}
