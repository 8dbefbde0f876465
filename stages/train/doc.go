// Package train is the Beam transform of training: one DoFn call trains all epochs of a model by package model/learn.
//
// Rounds trains one model by several workers instead. A client runs several of the learn.Tasks in one Beam
// pipeline, and the next pipeline continues where they end.
package train
