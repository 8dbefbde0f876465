// Package chart draws the figures of the report: lines, bars and stacked bars, each an SVG
// that stands in a page or alone in a file. It knows numbers and names, and nothing of what
// they mean.
package chart
