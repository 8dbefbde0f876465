package preprocess

import (
	"context"
	"maps"
	"slices"

	"tagnet/formats/input/facts"
	"tagnet/formats/input/rdf"
	"tagnet/formats/storage"
)

// inferenceStems maps the names, without endings, of an inference graph's files that lie beside the files of its
// training graph to splits. ILPC has the first three, InGram msg with valid.txt and test.txt.
var inferenceStems = map[string]string{"inference": "train", "inference_validation": "valid", "inference_test": "test", "msg": "train"}

// graphs divides a folder of two graphs. inference has no files if the folder is one graph.
func (f *flags) graphs(ctx context.Context, files folder) (training, inference folder, err error) {
	inference = folder{url: files.url, files: map[string]string{}, others: files.others}
	for _, name := range files.others {
		stem, known := facts.Stem(name)
		if split := inferenceStems[stem]; known && split != "" && inference.files[split] == "" {
			inference.files[split] = name
		}
	}
	// Without training files of both, or with flags that say otherwise, it is one graph.
	if inference.files["train"] == "" || files.files["train"] == "" || f.inference != "" || f.split != "" {
		return files, folder{}, nil
	}
	training = files
	training.files = maps.Clone(files.files)
	// A split without a file of its own is the inference graph's: test.txt, and valid.txt if it is not about
	// the training graph.
	move := func(split string) {
		inference.files[split] = training.files[split]
		delete(training.files, split)
	}
	if inference.files["test"] == "" {
		move("test")
	}
	if stem, _ := facts.Stem(inference.files["train"]); stem == "msg" && training.files["valid"] != "" {
		ofTraining, err := f.within(ctx, files, "valid", "train")
		if err != nil {
			return training, inference, err
		}
		if !ofTraining {
			move("valid")
		}
	}
	maps.DeleteFunc(inference.files, func(_, name string) bool { return name == "" })
	read := slices.Collect(maps.Values(inference.files))
	training.others = slices.DeleteFunc(slices.Clone(files.others), func(name string) bool { return slices.Contains(read, name) })
	inference.others = nil
	return training, inference, nil
}

// within reports whether all entities of a split are in the facts of another: WikiTopics, which has the files of
// InGram, validates on the training graph.
func (f *flags) within(ctx context.Context, files folder, split, larger string) (bool, error) {
	left := map[string]bool{}
	each := func(visit func(entity string)) func(int, facts.Fact) error {
		return func(_ int, fact facts.Fact) error {
			visit(fact.Head)
			visit(fact.Tail)
			return context.Cause(ctx)
		}
	}
	for _, one := range []struct {
		split string
		do    func(entity string)
	}{{split, func(entity string) { left[entity] = true }}, {larger, func(entity string) { delete(left, entity) }}} {
		t := text{url: storage.Join(files.url, files.files[one.split])}
		var err error
		if t.options, err = f.options(ctx, t, false); err != nil {
			return false, err
		}
		t.options.Prefixes = &rdf.Prefixes{}
		if err := readSome(ctx, t, each(one.do)); err != nil {
			return false, err
		}
	}
	return len(left) == 0, nil
}
