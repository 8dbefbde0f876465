// Package names writes names so that a person can read them and a program can read them back, and finds the existing names
// closest to a misspelled one: an entity, a relation, a preset, a dataset or a flag. Errors about an unknown name list
// them.
package names
