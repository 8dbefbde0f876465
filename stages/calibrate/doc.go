// Package calibrate fits the calibration of a trained model: it scores the queries of the validation split with the
// model's weights, keeps the candidates that a person who asks would see as new, and writes the calibration beside the checkpoint.
//
// The candidates of a query are its TopK best ones that are no training facts. One is true if it is an answer of the split.
// Facts of the test split are not looked at: here they count as false, as facts do that no one knows yet. In the
// inductive setting the queries are those of the training graph, since the inference graph has no validation facts.
//
// Workers send candidates as numbers, 17 bytes each, through one barrier, and one worker fits them
// (model/calibration). Their order changes no bit of the file.
package calibrate
