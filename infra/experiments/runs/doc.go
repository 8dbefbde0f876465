// Package runs is the command experiments: it trains and evaluates the models that a file lists, several at a time, resumes what was
// interrupted, and writes a result file for each. Without a file it makes those of the paper's tables, or the sweep of --vary. With
// --search it looks for better hyperparameters.
package runs
