package truth

import (
	"context"
	"encoding/json"
	"fmt"

	"tagnet/infra/internal/engine"
)

// Results are the results of settings.
type Results []result

// Results returns the results of a list in a folder, without the settings that are not measured.
func (l List) Results(ctx context.Context, folder string) (all Results, err error) {
	for _, s := range l.settings() {
		r, err := engine.Read(ctx, folder, s.Name())
		if err != nil {
			return nil, err
		}
		if r == nil {
			continue
		}
		m := result{Setting: s}
		if err := json.Unmarshal(r.Commands[Measured].Made, &m); err != nil {
			return nil, fmt.Errorf("%s/%s.json: %w", folder, s.Name(), err)
		}
		all = append(all, m)
	}
	return all, nil
}

// Missed counts the settings that miss a tolerance.
func (all Results) Missed() (n int) {
	for _, r := range all {
		n += min(1, len(r.Misses()))
	}
	return n
}
