// Package messages is the stage that counts the messages of propagation, and how many of them
// truncation saves. It reads shards of sources and writes the table messages and summary.json. The
// counts of the window need no model; the counts of A*Net (choose.go) come from propagating with a
// checkpoint.
package messages
