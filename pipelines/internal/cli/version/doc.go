// Package version is the command that says what a program of tagnet is: its version, what it computes with here, and the formats of its files.
package version
