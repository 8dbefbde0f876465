// Package workspace knows the paths below a workspace, who may write a folder of it, and when a folder is complete.
//
// A pipeline writes a folder in this order: Output.Begin takes the folder's lock file, so that no
// other run writes there, the pipeline's Beam job writes the files, and Output.Publish writes
// manifest.json, which records what the folder was made with and from, and releases the lock. A
// folder with a manifest is complete. A folder with a lock file whose run has ended or died holds
// leftovers, which the next run removes or resumes. Files in a folder with neither are never touched. Nothing
// is written through a symbolic link below the workspace.
package workspace
