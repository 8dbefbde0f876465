// Package gcs registers gs:// with package storage: Google Cloud Storage, or the emulator that
// STORAGE_EMULATOR_HOST names. A program imports it for this effect alone, so that libraries which
// use package storage do not link the cloud client.
package gcs
