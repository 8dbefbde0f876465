// Package kg loads the graph/ folder of a workspace, the knowledge graph that preprocess wrote: names of
// entities and relations, the graph itself (package graph), queries and known answers.
//
// It is plain Go over formats/workspace/tables and formats/workspace/manifest and keeps no state of its own. Pipelines
// load a folder once per process through a cache in stages; package model and other programs call Load. Package
// stages/encode writes the folder, except the types of entities (WriteTypes); the names of its files are here, so that
// writer and readers agree.
//
// Ids are dense: the position of each name among all names of its kind in byte order, so that they depend on nothing
// but the names. A NameSet collects and sorts names; IDs has the ids of a file of names without holding the names.
package kg
