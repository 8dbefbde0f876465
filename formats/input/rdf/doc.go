// Package rdf reads N-Triples, N-Quads and Turtle 1.1 as a stream, and shortens IRIs by prefixes.
//
// The readers hold one statement at a time, know the line of each, and bound the length of a term and the depth of
// nesting, so that a file of any size or origin can be read. Literals are recognized but not kept: they are no
// entities. Where a library would do it instead, none that is maintained was to be had for Turtle.
package rdf
