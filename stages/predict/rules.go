package predict

import (
	"context"
	"fmt"

	"tagnet/formats/storage"
	"tagnet/model/answer/rules"
	"tagnet/stages/worker"
)

// Rules says where the rules of the graph that is queried are. Its zero value stands for none.
type Rules struct {
	// URL is that of their file, Checksum the one of rules.Rules.
	URL, Checksum string
}

// read returns the rules, which the process reads once.
func (r Rules) read(ctx context.Context) (*rules.Rules, error) {
	if r.URL == "" {
		return &rules.Rules{}, nil
	}
	return worker.Load(worker.Key{Kind: "rules"}, r, func() (*rules.Rules, error) {
		text, err := storage.ReadText(ctx, r.URL)
		if err != nil {
			return nil, err
		}
		mined, err := rules.Parse(r.URL, text)
		if err == nil && mined.Checksum != r.Checksum {
			err = fmt.Errorf("%s was replaced: run again; every worker must see this file", r.URL)
		}
		return mined, err
	})
}
