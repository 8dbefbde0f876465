// Package names finds what a person meant who wrote a name that does not exist: an entity, a
// relation, a preset, a dataset, a flag. Errors about such a name name the closest ones.
package names
