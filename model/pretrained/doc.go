// Package pretrained opens weights that were trained before: models of package zoo, checkpoints, and files of PyTorch with those of
// ULTRA, none of which belongs to a relation, or of NBFNet-PyG, which belong to relations that another file names. All become a
// Checkpoint over the relations of a graph; who asks it does not know what it was. Packages zoo, checkpoint, ultra and nbfnet read them.
package pretrained
