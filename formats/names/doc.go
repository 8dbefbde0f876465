// Package names finds what a person meant who wrote a name that does not exist: an entity, a
// relation, a preset, a dataset. Every error about such a name names the closest ones.
package names
