// Package stagetest runs transforms alone, without the commands around them: on the runner of local commands, over
// graphs that package encode writes into memory.
package stagetest
