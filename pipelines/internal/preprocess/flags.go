package preprocess

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"tagnet/formats/input/facts"
	"tagnet/pipelines/internal/cli/command"
)

// check reads the flags that say how facts are written.
func (f *flags) check(e *command.Environment) error {
	f.seed = e.Seed
	if f.columnList != "" {
		f.columns = strings.Split(f.columnList, ",")
		if len(f.columns) != 3 || slices.Contains(f.columns, "") {
			return command.FlagError("columns", fmt.Sprintf("%q", f.columnList), "three names or positions, such as head,relation,tail or 1,2,3")
		}
		if f.header == no && facts.NamedColumns(f.columns) {
			return command.Usage("--columns %s are names, and --header no says that the columns have none: give positions, such as 1,2,3", f.columnList)
		}
	}
	// The built-in sample takes none of the flags that describe files.
	for _, other := range []struct{ flag, value string }{{"inference", f.inference}, {"split", f.split}, {"types", f.types}, {"columns", f.columnList},
		{"format", string(f.format)}, {"entity_names", f.entityNames}, {"relation_names", f.relationNames}} {
		if f.isMade && other.value != "" {
			return command.Usage("--%s is %q without a --dataset of files: the built-in %s needs none", other.flag, other.value, f.made.Name)
		}
	}
	if f.inferenceOnly && (f.isMade || f.inference != "" || f.split != "") {
		return command.Usage("--inference_only takes one of the two graphs in the folder of --dataset: give that, and leave --inference and --split out")
	}
	if f.split == "" {
		return nil
	}
	if f.inference != "" {
		return command.Usage("--split with --inference: the inference graph has the test facts; give --dataset a folder with train.txt and valid.txt")
	}
	shares := strings.Split(f.split, ",")
	for i, share := range shares {
		value, err := strconv.ParseFloat(share, 64)
		if len(shares) != 3 || err != nil || !(value > 0) || value > 1e9 {
			return command.FlagError("split", fmt.Sprintf("%q", f.split), "the shares of training, validation and test, three numbers above 0 such as 80,10,10")
		}
		f.shares[i] = value
	}
	if sum := f.shares[0] + f.shares[1] + f.shares[2]; !slices.ContainsFunc([]float64{1, 10, 100},
		func(whole float64) bool { return math.Abs(sum-whole) <= 1e-9*whole }) {
		e.Say("--split %s adds up to %g: the shares are %s, %s and %s", f.split, sum, percent(f.shares[0]/sum), percent(f.shares[1]/sum),
			percent(f.shares[2]/sum))
	}
	return nil
}
