package plan

import (
	"fmt"
	"maps"
	"strings"
)

// runNames holds the names of runs. Names that differ only in upper and lower case are equal, as on some file systems.
type runNames struct {
	runs     map[string]bool
	datasets map[string]Run // the first run of each folder
	cells    map[string]Run // the first run of each cell
}

func newNames() runNames {
	return runNames{map[string]bool{}, map[string]Run{}, map[string]Run{}}
}

// add returns an error if a run has the name of another one, the folder of another dataset, or the cell of another model: means over seeds
// are those of a cell.
func (n runNames) add(r Run) error {
	folder, id := strings.ToLower(r.Dataset), strings.ToLower(r.ID())
	if other, ok := n.datasets[folder]; !ok {
		n.datasets[folder] = r
	} else if other.Source != r.Source || other.Inference != r.Inference {
		return fmt.Errorf("the datasets %s and %s have the same folder %s: rename one of them", described(other), described(r), r.Dataset)
	}
	if n.runs[id] {
		return fmt.Errorf("the run %s stands in the file twice", r.ID())
	}
	n.runs[id] = true
	if other, ok := n.cells[r.Cell()]; !ok {
		n.cells[r.Cell()] = r
	} else if other.Experiment != r.Experiment || !maps.Equal(other.Varied, r.Varied) || other.Configuration != r.Configuration {
		return fmt.Errorf("%s and %s differ not only in their seeds: name one of the experiments otherwise", other.ID(), r.ID())
	}
	return nil
}

// described names the folders of a run's dataset.
func described(r Run) string {
	if r.Inference == "" {
		return r.Source
	}
	return r.Source + " with " + r.Inference
}
