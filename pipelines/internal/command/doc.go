// Package command is what all mains share: flags with the pipeline's own first and Beam's
// after them, signals, exit codes, one line for an error, and the closing lines that say what
// was written and what to run next.
//
// A pipeline is a value, so that its main is one line and other pipelines and tests can run
// it in their process:
//
//	func main() { command.Main(preprocess.Pipeline()) }
package command
