// Package command is the frame of every main: flags (the pipeline's own first, Beam's after them),
// signals, exit codes, errors in one line, and the closing lines that name the outputs and the
// next command.
//
// A pipeline is a value, so that its main is one line, and other pipelines and tests can run
// it in their process:
//
//	func main() { command.Main(preprocess.Pipeline()) }
package command
