// Package workspace knows where everything lies below a workspace, and when a folder of it is
// complete: its manifest.json is there, is written last, and records what the content was
// made with and from. Pipelines ask it before they build anything (Require, Begin) and end
// with Publish.
package workspace
