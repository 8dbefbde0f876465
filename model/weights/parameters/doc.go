// Package parameters names and shapes what a model learns, as NBFNet-PyG's state_dict does,
// so that weights can be exchanged with PyTorch. The shapes follow from the configuration;
// propagation, head and checkpoint read the tensors by name.
package parameters
