package signature

import (
	"fmt"

	"github.com/opencontainers/go-digest"

	"go.landscaper.dev/internal/content/component/descriptor"
)

// Statement identifies what a descriptor says: its resources and references with their names,
// versions and types, and signed labels; not where contents are, and not the digests, which a signer
// adds later. Two readers that find the same component version get the same.
func Statement(d *descriptor.Descriptor) (string, error) {
	bare := *d
	bare.Resources = append([]descriptor.Resource{}, d.Resources...)
	for i := range bare.Resources {
		bare.Resources[i].Digest = nil
	}
	bare.References = append([]descriptor.Reference{}, d.References...)
	for i := range bare.References {
		bare.References[i].Digest = nil
	}
	normal, err := Normalise(&bare, JSONv3)
	if err != nil {
		return "", fmt.Errorf("component version %s:%s: %w", d.Name, d.Version, err)
	}
	return digest.FromBytes(normal).String(), nil
}
