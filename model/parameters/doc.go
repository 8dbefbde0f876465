// Package parameters names and shapes what a model learns, as NBFNet-PyG's state_dict does,
// so that weights can come from PyTorch and go there. It stands between the configuration
// and all that reads or changes weights.
package parameters
