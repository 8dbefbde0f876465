// Package counter counts what is done for those who watch: in Beam, as its counters do, and in
// this process, where it can be read at once. A runner tells of its counters now and then, and of
// several elements that are under way at a time Beam's local one tells only what one of them counted.
package counter
