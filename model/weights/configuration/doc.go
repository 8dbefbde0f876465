// Package configuration holds every hyperparameter of a model and of its training, with the named
// presets of the paper's authors. All other packages of the model read it; it imports none of them.
package configuration
