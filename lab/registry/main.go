// Registry is the reference OCI registry with what a lab needs of it: files on a disk, and
// accounts in a file. The published program has the storage of three clouds besides, whose
// client libraries are most of what is compiled.
package main

import (
	"os"

	"github.com/distribution/distribution/v3/registry"
	_ "github.com/distribution/distribution/v3/registry/auth/htpasswd"
	_ "github.com/distribution/distribution/v3/registry/storage/driver/filesystem"
)

func main() {
	if registry.RootCmd.Execute() != nil {
		os.Exit(1)
	}
}
