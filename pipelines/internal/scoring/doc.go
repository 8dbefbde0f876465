// Package scoring is what score, ask and discover share: the flags of the model and what is computed with it,
// the opened model, the job and the folder that it writes; and of ask and discover the lists of names,
// probabilities and explanations.
package scoring
