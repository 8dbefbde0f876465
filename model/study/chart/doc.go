// Package chart draws figures as SVG, for a page or for a file of its own: the lines and bars of the report, and the
// paths that explain an answer. Commands and infra/experiments draw with it.
package chart
