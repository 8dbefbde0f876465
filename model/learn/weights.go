package learn

import (
	"strings"

	"tagnet/formats/workspace/safetensors"
	"tagnet/model/weights/checkpoint"
	"tagnet/model/weights/parameters"
)

// trainedPrefix begins the names of weights among the tensors of the optimizer's state. With
// Configuration.WeightAverage, a checkpoint's file of weights, which others read, has their average over the finished
// epochs, and the optimizer's state has the weights that the training continues with.
const trainedPrefix = "trained."

// averaged returns the weights that the current epoch leaves: at its end, or averaged over it and earlier
// epochs. It changes nothing.
func (l *learner) averaged() *parameters.Set[float32] {
	share := l.Configuration.WeightAverage
	if share == 0 {
		return l.parameters
	}
	average := l.emptyWeights()
	for i, t := range l.parameters.Tensors {
		to := average.Tensors[i].Data
		copy(to, t.Data)
		if l.average == nil {
			continue
		}
		for j, before := range l.average.Tensors[i].Data {
			to[j] = float32(share*float64(before) + (1-share)*float64(to[j]))
		}
	}
	return average
}

func (l *learner) emptyWeights() *parameters.Set[float32] {
	return parameters.NewSet[float32](parameters.Layout(l.Configuration, l.relationCount()))
}

// stored returns the tensors of a checkpoint: the weights that others read, and the state that only the training reads.
func (l *learner) stored() (weights, state []safetensors.Tensor[float32]) {
	state, _ = l.solver.State()
	trained := l.parameters.Tensors
	if l.Configuration.WeightAverage == 0 {
		return trained, state
	}
	for _, t := range trained {
		state = append(state, safetensors.Tensor[float32]{Name: trainedPrefix + t.Name, Shape: t.Shape, Data: t.Data})
	}
	if l.average == nil { // in the first epoch
		return trained, state
	}
	return l.average.Tensors, state
}

// restoreWeights sets the weights and their average to a checkpoint's. It returns the rest of the optimizer's state.
func (l *learner) restoreWeights(s checkpoint.State) ([]safetensors.Tensor[float32], error) {
	l.average = nil
	var trained, moments []safetensors.Tensor[float32]
	for _, t := range s.Optimizer {
		if name, ok := strings.CutPrefix(t.Name, trainedPrefix); ok {
			trained = append(trained, safetensors.Tensor[float32]{Name: name, Shape: t.Shape, Data: t.Data})
		} else {
			moments = append(moments, t)
		}
	}
	if len(trained) == 0 { // without an average, or the weights of a file, before the first epoch
		return moments, checkpoint.Fill(l.parameters, s.Weights)
	}
	if s.Record.Partial == nil || s.Record.Epoch > 1 {
		l.average = l.emptyWeights()
		if err := checkpoint.Fill(l.average, s.Weights); err != nil {
			return nil, err
		}
	}
	return moments, checkpoint.Fill(l.parameters, trained)
}
