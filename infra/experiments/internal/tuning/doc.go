// Package tuning searches hyperparameters by successive halving (Jamieson and Talwalkar, AISTATS 2016): many candidates are trained for a
// few epochs, the better ones for some more, and so on to the last rung. It decides by the MRR on the validation split alone, and knows neither the
// test split nor how a candidate is trained.
//
// A candidate at a higher rung continues the training that it began, so that nothing is trained twice. Its learning rate therefore decays from the
// first epoch as it does in the whole training, and not faster to suit a rung: what a rung compares is the beginning of the trainings
// of which the last rung sees the end.
//
// All that a search decides follows from its file and from the trainings. One that was interrupted runs again from the
// beginning, finds the trainings that it made, and takes the same decisions.
package tuning
