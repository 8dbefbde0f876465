// Package playground runs the steps of quickstart quietly, and the model of any graph before its training, and then serve on the trained model, in
// one process: from nothing to a page on which a person asks. It does nothing that the single commands cannot do.
package playground
