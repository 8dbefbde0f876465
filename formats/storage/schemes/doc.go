// Package schemes registers the file systems that package storage lacks: gs://. Programs import it for its effect; a
// library does not, and links no client of a cloud.
package schemes

import _ "tagnet/formats/storage/gcs"
