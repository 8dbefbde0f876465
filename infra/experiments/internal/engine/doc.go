// Package engine makes the runs of a plan: it starts the commands of tagnet as processes, one after another, resumes interrupted trainings,
// and collects their outputs into result files.
//
// The folder of its state has a workspace for each dataset, logs/ with the output of the processes, and bin/ with the program. A run continues
// from its workspace alone.
package engine
