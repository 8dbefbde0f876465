// Package pretrained opens weights that were trained before: models of package zoo, checkpoints, and files of PyTorch with those of
// ULTRA, none of which belongs to a relation. All become a Checkpoint over the relations of a graph; who asks it does not know what it
// was. Packages zoo, checkpoint and ultra read them.
package pretrained
