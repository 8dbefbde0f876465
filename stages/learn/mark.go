package learn

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"tagnet/formats/storage"
)

// Mark is a file that says whose the folder of checkpoints is: this training's as long as it holds
// the text. Another run that begins the folder writes its own. Without a URL nobody is asked.
type Mark struct{ URL, Text string }

// ErrDisplaced tells of a training whose checkpoints another run has begun anew, or goes on with.
var ErrDisplaced = errors.New("another run trains here now")

// check returns ErrDisplaced where the folder is another run's. It is asked before anything is
// written: two trainings would otherwise mix their checkpoints.
func (m Mark) check(ctx context.Context) error {
	if m.URL == "" {
		return nil
	}
	text, err := storage.ReadFile(ctx, m.URL)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("looking whose the checkpoints are: %w", err)
	}
	if string(text) != m.Text {
		return fmt.Errorf("%w: %s is not this run's any more; train again when the other has ended", ErrDisplaced, m.URL)
	}
	return nil
}
