// Package chart draws the figures of the report, lines and bars, as SVG, for a page or for a file of
// its own. Its inputs are plain numbers and labels.
package chart
