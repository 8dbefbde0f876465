// Package pretrained reads weights that were trained elsewhere, for --from of train, and --weights and --model of score and
// serve, and writes them as a checkpoint that the stages read. Packages model/nbfnet and model/checkpoint convert them,
// infra/zoo has the models that tagnet comes with; this one has the flags, the files and the messages.
package pretrained
