package metrics

import "fmt"

// Protocol says which queries an evaluation has, and among which entities their answers are ranked. "" is Test.
type Protocol string

const (
	// Test takes the queries of the split, and ranks each answer among all entities but the other known answers.
	Test Protocol = "test"
	// ValidAndTest takes the queries of the inference graph's validation and test facts together, and ranks like Test:
	// the protocol of RED-GNN, AdaProp, A*Net and ULTRA in the inductive setting. The split is test.
	ValidAndTest Protocol = "valid-and-test"
	// GraIL takes the queries of the split, and ranks each answer among 50 candidates: itself and random
	// entities that are no known answers. GraIL's paper speaks of 50 negatives; its program, and those that
	// were derived from it, draw 49.
	GraIL Protocol = "grail"
)

// Protocols lists the names of all protocols.
var Protocols = []string{string(Test), string(ValidAndTest), string(GraIL)}

// About describes the protocol in a few words.
func (p Protocol) About() string {
	switch p {
	case ValidAndTest:
		return "validation and test facts of the inference graph, among all entities: RED-GNN, AdaProp, A*Net, ULTRA"
	case GraIL:
		return fmt.Sprintf("test facts, each answer among %d random negatives: GraIL", negatives)
	}
	return "test facts, among all entities"
}

// negatives is how many entities GraIL draws for each answer.
const negatives = 49

// Negatives returns how many random entities an answer is ranked among, or 0 if these are all entities.
func (p Protocol) Negatives() int {
	if p == GraIL {
		return negatives
	}
	return 0
}
