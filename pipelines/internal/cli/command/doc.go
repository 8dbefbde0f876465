// Package command runs a pipeline as a program: it parses flags (the pipeline's own and Beam's), handles
// signals, prints an error as one line, sets the exit code, and prints closing lines that name the
// outputs and the next command.
//
// A pipeline is a value, so that its main function is one line, and other pipelines and tests can run
// it in their process:
//
//	func main() { command.Main(preprocess.Pipeline()) }
package command
