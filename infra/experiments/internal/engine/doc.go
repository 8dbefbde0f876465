// Package engine makes the runs of a plan: it starts the commands of tagnet as processes, several at a time, resumes what was interrupted, and collects
// what they wrote into result files.
//
// The folder of its state has a workspace for each dataset, logs/ with what the processes printed and a journal of them, and bin/ with the program. All
// that a run needs to continue lies in the workspace; without the journal only times and the commit of its training are unknown.
package engine
