// Package pipelinetest runs pipelines in tests: in the test's process (Run, Succeed, Fail), as a
// process that can be killed (Main, Command, Kill), or as a bare Beam graph (Environment). It makes
// small datasets and workspaces, and compares folders of output files.
//
// It imports no pipeline, so that the tests of every pipeline can import it.
package pipelinetest
