// Package results reads and writes the result files of experiments: one training with its evaluations each, as JSON that is
// committed. The tables of infra/experiments, its comparisons and report are made from them; infra/experiments writes them.
//
// A result lies at DATASET/RUN.json below the folder of all results, where RUN is the name that RunName gives. Its numbers are
// copies of those in the files of the workspace, so that an equal training gives equal bytes except for times and machine.
package results
