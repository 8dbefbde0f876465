// Package checkpoint keeps what a training run has reached: the weights and the solver's state
// as safetensors, and beside them a record of the configuration and the position that they
// belong to. Training writes and resumes from it; scoring and counting load models from it.
//
// In the folder stand, for every finished epoch NNN,
//
//	epoch-NNN.safetensors            the weights
//	epoch-NNN.optimizer.safetensors  the solver's state, for the newest two epochs only
//	epoch-NNN.json                   the record, written last: without it nothing counts
//
// the same with step-SSSSSSSS, for the newest position inside an epoch, and best, a line that
// names the epoch with the best validation. Records hold no clock, no machine and no number of
// threads: equal runs give equal bytes, however often they were interrupted.
package checkpoint
