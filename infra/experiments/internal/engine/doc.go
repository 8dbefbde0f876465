// Package engine makes the runs of a plan: it starts the commands of tagnet as processes, several at a time, resumes interrupted trainings,
// and collects their outputs into result files.
//
// The folder of its state has a workspace for each dataset, logs/ with the output of the processes and a journal for each run, and bin/ with the
// program. A run continues from its workspace alone; without the journal, only the times and the commit of its training are unknown.
package engine
