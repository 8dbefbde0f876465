// Package gcstest gives tests a Google Cloud Storage that runs in the test's process and, where a test
// asks for it, fails as the real one and the network before it may fail.
package gcstest
