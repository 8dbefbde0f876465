// Package ultra computes the scores of ULTRA.
package ultra
