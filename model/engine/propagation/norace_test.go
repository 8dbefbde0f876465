//go:build !race

package propagation

const raceDetector = false
