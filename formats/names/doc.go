// Package names writes names so that a person can read them and a program can read them back, and finds existing names
// from what a user wrote: those closest to a misspelled one (an entity, a relation, a preset, a dataset or a flag),
// which errors about an unknown name list, and names that begin with, or contain, the letters typed so far.
package names
