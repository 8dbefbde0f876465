// Package calibrate fits the calibration of a trained model: it scores the queries of the validation split with the
// model's weights, keeps the candidates that a person who asks would see as new, and writes the calibration beside the checkpoint.
//
// The candidates of a query are its TopK best ones, without known answers of other splits and the source. One is true if it is an answer
// of the split. So facts of the test split count neither as true nor as false, as in filtered ranks: as false ones they would
// make probabilities too low, since they are as likely as the answers of the split. In the inductive setting the queries are
// those of the training graph, since the inference graph has no validation facts.
//
// Workers send candidates as numbers, 17 bytes each, through one barrier, and one worker fits them
// (model/calibration). Their order changes no bit of the file.
package calibrate
