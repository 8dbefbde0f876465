// Package pretrained reads the weights that another program trained, for --from of train and --weights of score, and
// writes them as a checkpoint that the stages read. Package model/nbfnet does the conversion; this one has the flags,
// the files and the messages.
package pretrained
