// Package configuration holds every choice that decides what a model is and how it learns,
// with the named presets of the paper's authors. It is the first room of the model: all
// others read it, and it knows none of them.
package configuration
