// Package chart draws the figures of the report, lines and bars, as SVG that a page or a file of its
// own holds. It knows numbers and names, and nothing of their meaning.
package chart
