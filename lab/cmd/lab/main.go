// Command lab runs real Kubernetes clusters, and what belongs around them, as
// plain processes.
package main

import (
	"os"

	"go.landscaper.dev/lab/internal/cli"
)

func main() {
	os.Exit(cli.Run(os.Args[1:]))
}
