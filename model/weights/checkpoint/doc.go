// Package checkpoint stores the progress of a training: the weights and the optimizer's state as safetensors, and a
// record with the configuration and the position in the training. Training writes checkpoints and resumes from them;
// scoring, counting and package model load models from them.
//
// For every finished epoch NNN a folder has the files
//
//	epoch-NNN.safetensors            the weights
//	epoch-NNN.optimizer.safetensors  the optimizer's state, for the newest two epochs only; and the weights that
//	                                 training continues with, where the checkpoint's are an average
//	epoch-NNN.json                   the record, written last: without it the other files are ignored
//
// and the same files named step-SSSSSSSS for the newest position inside an epoch. Where several workers train, the
// folders rounds/shard-NNN hold each shard's checkpoint at the end of a round, until the round has one. The file best
// names the epoch with the best validation. Records contain no time, machine or number of threads: equal trainings
// give equal bytes, however often they were interrupted.
//
// The package reads and writes files in folder.go, read.go and write.go; record.go has the record, over.go lays
// weights over the relations of a graph. Package pretrained finds what a user names.
package checkpoint
