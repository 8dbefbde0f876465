// Package pretrained has the flags and messages of weights that were trained elsewhere, for --from of train and --model of
// score and serve. Package model/pretrained opens the files, model/zoo has the models that tagnet comes with.
package pretrained
