// Package adam is the solver: Adam exactly as PyTorch has it, behind Gorgonia's Solver
// interface, with a state that a checkpoint can hold. It stands at the end of a training
// step. Unlike Gorgonia's own solvers it leaves gradients as they are.
package adam
