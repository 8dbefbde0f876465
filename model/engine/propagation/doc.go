// Package propagation is TAGNet's message passing in float32, with a hand-written backward pass: the
// truncated Bellman-Ford of the paper's equation 8 with NBFNet's layers, and A*Net's selection of
// senders. Package window gives it the senders in order, package kernel does the arithmetic.
// Package internal/spec is the float64 specification that tests compare it with.
//
// A policy (policy.go) decides which entities a layer updates, along which edges: window.go, full.go and astar.go.
// A runner (runner.go, update.go) computes the layers that a policy describes, forward and backward.
//
// It is fast because of exact algebra:
//
//   - Empty messages are zero and are not sent.
//   - A layer touches the entities whose window is open, and no others (window.go).
//   - PNA's scalers depend on an entity's degree alone, so they fold into one weight matrix for each
//     degree (foldedweights.go); receivers are multiplied in buckets of equal degree (chunk.go).
//   - Equivalent states are computed once; see package window.
//   - States are kept by age, the number of layers since an entity was reached: a query needs delta+1
//     tables of them however many layers there are (statetables.go).
//   - Queries of one source that follow each other share its search and layout.
//   - While training, only the states that the candidates depend on are computed (needed.go, full.go), and,
//     within a window, only these are laid out where they are few.
//   - In NBFNet's first layer only the source sends anything: all other receivers of a degree share one
//     state, but for dropout (far.go).
//
// # Example
//
// Take the graph of package window's documentation, source a, two layers, delta 2. The states of age
// 0 of a level need the states of its parents, and so on:
//
//	layer 1  level 1, age 0: c, b      2 messages: a→c, a→b
//	         level 0, age 1: a         none: a has neither parents nor siblings
//	layer 2  level 2, age 0: d, f      2 messages: b→d, c→f; e copies d
//	         level 1, age 1: c, b      4 messages: a→c, b→c, a→b, c→b
//	         level 0, age 2: a         2 messages: b→a, c→a
//
// So the query sends 11 messages, counting the one that the copied state of e stands for, and updates
// 9 states, where full propagation sends 28 and updates 16.
package propagation
