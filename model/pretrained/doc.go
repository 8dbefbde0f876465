// Package pretrained finds and opens the weights that a user names: checkpoints, models of package zoo, and files of
// PyTorch with weights of ULTRA, none of which belongs to a relation. Package answer makes a model of them.
package pretrained
