package itemcontext

import (
	"context"
	"fmt"

	"github.com/opencontainers/go-digest"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/content/component/access"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/repository"
	"go.landscaper.dev/internal/content/component/signature"
	"go.landscaper.dev/internal/model/given"
)

// Found is the resource that the Installation of an item has found, and perhaps verified. A deployer
// reads it again, and takes nothing else.
type Found struct {
	item     *v1alpha1.DeployItem
	resource *v1alpha1.GivenResource
}

// FoundFor returns the resource that an item was given; nil if its digest is not known.
func FoundFor(item *v1alpha1.DeployItem) (*Found, error) {
	read, err := given.Of(item)
	if err != nil || read == nil || read.Resource == nil {
		return nil, err
	}
	return &Found{item, read.Resource}, nil
}

// Digest is that of the content.
func (f *Found) Digest() *descriptor.Digest {
	return &descriptor.Digest{HashAlgorithm: f.resource.HashAlgorithm, NormalisationAlgorithm: f.resource.NormalisationAlgorithm, Value: f.resource.Value}
}

// CheckVersion refuses another component version than the Installation has found.
func (f *Found) CheckVersion(version *repository.Version) error {
	if version.Name != f.resource.ComponentName || version.Version != f.resource.Version {
		return f.Explain(fmt.Errorf("the item refers to component version %s:%s now", version.Name, version.Version))
	}
	says, err := signature.Statement(version.Descriptor)
	if err != nil {
		return err // names the component version
	}
	if says != f.resource.ComponentDigest {
		return f.Explain(fmt.Errorf("the descriptor says something else than when its Installation has read it (digest %s, and %s before)", says, f.resource.ComponentDigest))
	}
	return nil
}

// CheckContent refuses another content than the Installation has found, if it has found one. The
// manifest is that of an artifact, if the content is in one.
func CheckContent(item *v1alpha1.DeployItem, data []byte, manifest digest.Digest) error {
	f, err := FoundFor(item)
	if err != nil || f == nil {
		return err // names the item
	}
	return f.Explain(access.Compare(data, manifest, f.Digest()))
}

// CheckManifest refuses another artifact than the Installation has found, if it has found one.
func CheckManifest(item *v1alpha1.DeployItem, manifest digest.Digest) error {
	return CheckContent(item, nil, manifest)
}

// Explain says of which item and resource an error is.
func (f *Found) Explain(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("resource %q of component version %s:%s, as DeployItem %s/%s was given it: %w; start a job of the Installation if the change is wanted",
		f.resource.ResourceName, f.resource.ComponentName, f.resource.Version, f.item.Namespace, f.item.Name, err)
}

// Read reads the content of a resource: that which the Installation has found, if it has.
func (f *Found) Read(ctx context.Context, reader *access.Reader, version *repository.Version, resource *descriptor.Resource, limit int64) ([]byte, string, error) {
	if f == nil {
		return reader.Read(ctx, version, resource, limit) // names the resource
	}
	if err := f.CheckVersion(version); err != nil {
		return nil, "", err
	}
	data, mediaType, err := reader.Exactly(ctx, version, resource, f.Digest(), limit)
	return data, mediaType, f.Explain(err)
}
