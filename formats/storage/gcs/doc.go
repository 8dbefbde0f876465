// Package gcs registers gs:// with package storage: Google Cloud Storage, or the emulator that
// STORAGE_EMULATOR_HOST names. A program imports it for this effect alone, so that libraries which
// use package storage do not link the cloud client.
//
// A call that fails for a temporary reason is repeated for three minutes. It ends early if its context is canceled. If
// the response to an upload is lost, or a repeated swap fails because the first one had succeeded, the object is read
// back: the call succeeded if it has the content that was written. formats/README.md lists the effect of each fault.
package gcs
