package predict

import (
	"context"
	"fmt"

	"tagnet/formats/storage"
	"tagnet/formats/workspace/verdicts"
	"tagnet/model/answer"
)

// Verdicts says where the verdicts of a run are. Its zero value stands for none.
type Verdicts struct {
	// Folder is the URL of the folder of their file, which does not change during the run; SHA256 is its hash.
	Folder, SHA256 string
}

// judge makes the facts of the verdicts judged in the model of this process, which other runs may have used before.
func (v Verdicts) judge(ctx context.Context, m *answer.Model) error {
	switch {
	case m.Judged().SHA256 == v.SHA256:
		return nil
	case v.SHA256 == "":
		m.Judge(nil)
		return nil
	}
	read, err := m.ReadVerdicts(ctx, v.Folder)
	if err == nil && read.SHA256 != v.SHA256 {
		err = fmt.Errorf("%s was replaced: run again", storage.Join(v.Folder, verdicts.File))
	}
	return err
}
