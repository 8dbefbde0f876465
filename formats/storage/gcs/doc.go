// Package gcs registers gs:// with package storage: Google Cloud Storage, or the emulator that
// STORAGE_EMULATOR_HOST names. A program imports it for this effect alone, so that libraries which
// use package storage do not link the cloud client.
//
// A call that fails for a temporary reason is repeated for three minutes. It ends early if its context
// is cancelled. An upload whose response is lost, and a swap that fails its own condition when it is repeated, are
// read back: they succeeded if the object has what was written. formats/README.md lists what each fault does.
package gcs
