// Package pretrained opens weights that were trained elsewhere, in files of PyTorch: ULTRA's, none of which belongs to a relation,
// and those of NBFNet-PyG, which belong to relations that another file names. Both become a Checkpoint over the relations of a
// graph; who asks it does not know which file it was. Packages ultra and nbfnet read the tensors.
package pretrained
