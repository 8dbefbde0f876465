// Package calibration turns the scores of a trained model into probabilities.
//
// A score is a logit that training made large for true facts and small for the negatives that were drawn for them. Its
// sigmoid is the share of true facts among such pairs, half of which are true. What a person sees are the best
// candidates of a query, of which few are true, so that the sigmoid of their scores is far too high. A Calibration is
// fitted to such candidates instead: for queries of the validation split the best candidates without the known answers of
// other splits, each of them true if it is a validation fact.
//
// The base is Platt's scaling, a logistic regression with the score as its one feature,
//
//	log p/(1-p) = intercept + slope x score
//
// found by Newton's method (newton.go). A relation in one direction has an intercept and a slope of its own if it has
// enough queries. They minimize the log loss of its candidates plus a quadratic penalty for their distance from those of
// all candidates: a normal prior whose precision is the Fisher information of Strength average candidates. So with many
// candidates a relation decides alone, and with few it stays near the whole. Strength is the one under which queries that
// were left out are predicted best (strength.go). The answers to a query keep their order: a slope is never negative.
//
// For example, the whole gives each candidate 5%, and of 40 candidates of a relation with equal scores 10 are true, 25%. With
// strength 40 the relation gives them 18%. With 4,000 candidates, of which 1,000 are true, it gives them 25%.
//
// What is true is decided by the facts that are known: an answer that is true but missing from the dataset counts
// as false. The probability is that of being a held-out fact, and presumes that the candidates which it is used for are
// true as often as those of the validation split, the base rate.
//
// The package is plain arithmetic: model/checkpoint names the file beside a checkpoint, stages/calibrate collects the
// candidates, and package model and the pipeline score use the result.
package calibration
