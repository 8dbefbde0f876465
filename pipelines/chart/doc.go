// Package chart draws figures as SVG, for a page or for a file of its own: the lines and bars of the report, and the
// paths that explain an answer. It is beside the commands, not below internal, for the figures of infra/experiments.
package chart
