// Package zeroshot measures models of any graph on many graphs, as a list says: it scores each graph with each model, and again after
// a fine-tuning, and writes a result file for each graph and model.
package zeroshot
