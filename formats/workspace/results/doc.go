// Package results reads and writes the result files of experiments: one training with its evaluations each, as JSON that is
// committed. The tables of infra/experiments, its comparisons and report are made from them; infra/experiments writes them.
//
// The path of a result is DATASET/RUN.json below the folder of all results, where RunName returns RUN. Its numbers are copied from the
// files of the workspace, so that equal trainings give equal bytes, except for times and machine.
package results
