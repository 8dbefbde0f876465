// Package parameters names and shapes the tensors of a model as NBFNet-PyG's state_dict,
// so that weights can be exchanged with PyTorch. The shapes follow from the configuration;
// propagation, head and checkpoint read the tensors by name.
package parameters
