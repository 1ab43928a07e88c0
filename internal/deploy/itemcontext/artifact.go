package itemcontext

import (
	"context"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/content/component/access"
	"go.landscaper.dev/internal/content/component/oci"
)

// Artifact finds what a reference leads to. A digest counts more than a tag beside it.
func Artifact(ctx context.Context, session *component.Session, reference access.Reference) (oci.Store, ocispec.Descriptor, error) {
	store, name := session.Reader().Registry(reference.Scheme, reference.Host), reference.Tag
	if reference.Digest != "" {
		name = reference.Digest.String()
	}
	at, err := store.Resolve(ctx, reference.Repository, name)
	return store, at, err // says what was done
}
