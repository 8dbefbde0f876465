// Package image holds the Dockerfile of a cluster's workers; its tests check the files that the image is made of.
package image
