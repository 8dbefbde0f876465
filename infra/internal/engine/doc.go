// Package engine makes the runs of a list: each is commands, one after another, as processes, and what they took and
// wrote becomes a result file. A run whose file exists is skipped, an interrupted one continues with the command that
// was not done.
//
// The folder of the state has work/, in which all commands run, logs/ with what they print, bin/ with the programs, and
// unfinished/ with the results of runs of which some commands are missing. Only one process uses a state.
package engine
