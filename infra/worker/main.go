// Worker is the program that a cluster's workers run: the transforms of every command, without the commands and
// without CUDA, whose library would make it depend on the system's. It is given to Beam with --worker_binary.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/harness/init" // registers the worker's side of Beam
	_ "golang.org/x/crypto/x509roots/fallback"                               // root certificates, where the host has none

	_ "tagnet/formats/storage/schemes"
	_ "tagnet/stages/bundle"
	_ "tagnet/stages/encode"
	_ "tagnet/stages/predict"
	_ "tagnet/stages/predict/discover"
	_ "tagnet/stages/study"
	_ "tagnet/stages/train"
)

func main() {
	flag.Parse()
	beam.Init() // does not return in a worker
	fmt.Fprintln(os.Stderr, "worker: this program is started by a runner; give its path to a command with --worker_binary")
	os.Exit(2)
}
