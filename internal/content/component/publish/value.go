package publish

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"go.landscaper.dev/internal/content/component/access"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/oci"
	"go.landscaper.dev/internal/content/component/repository"
)

// value is a content that becomes part of the component version with a copy.
type value struct {
	kind     string
	identity descriptor.Identity
	// access is that of the copied descriptor.
	access *descriptor.Typed
	// resource is nil for a source.
	resource *descriptor.Resource
	// layers are where the content is; none while that is not known.
	layers    []ocispec.Descriptor
	mediaType string
	// elsewhere says why nothing here can read the content: it stays where it is.
	elsewhere string
}

// values are the contents that have to be stored.
func (c *copying) values() []*value {
	var all []*value
	for i := range c.descriptor.Resources {
		resource := &c.descriptor.Resources[i]
		if c.isValue(resource.Access, c.ByValue) {
			all = append(all, &value{kind: "resource", identity: descriptor.IdentityOf(*resource, c.descriptor.Resources), access: &resource.Access, resource: resource})
		}
	}
	for i := range c.descriptor.Sources {
		source := &c.descriptor.Sources[i]
		if c.isValue(source.Access, false) {
			all = append(all, &value{kind: "source", identity: descriptor.IdentityOf(*source, c.descriptor.Sources), access: &source.Access})
		}
	}
	return all
}

// isValue reports that a content has to be stored with the copy: it is known only beside the
// original, or the caller has asked for that.
func (c *copying) isValue(from descriptor.Typed, elsewhere bool) bool {
	switch strings.ToLower(from.Kind()) {
	case "localblob", "localociblob":
		return c.version.Stored() == nil
	case "localfilesystemblob", "relativeocireference":
		return true
	case "none":
		return false
	}
	return elsewhere
}

// reuse finds the values that an earlier copy has stored: those with the same digest
// are not read again.
func (c *copying) reuse(ctx context.Context, values []*value) error {
	if len(values) == 0 {
		return nil
	}
	existing, err := repository.OCI(c.Target, c.Spec, nil).Lookup(ctx, c.version.Name, c.version.Version)
	if errors.Is(err, oci.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err // says what it did
	}
	for _, value := range values {
		for i := range existing.Resources {
			if value.is(&existing.Resources[i], existing) {
				value.take(&existing.Resources[i], existing.Stored())
			}
		}
	}
	return nil
}

// is reports whether an existing resource has the content of the value.
func (v *value) is(existing *descriptor.Resource, of *repository.Version) bool {
	return v.resource != nil && v.resource.Digest != nil && existing.Digest != nil && !existing.Digest.NoContent() &&
		*v.resource.Digest == *existing.Digest && maps.Equal(v.identity, descriptor.IdentityOf(*existing, of.Resources))
}

// take takes the layers of an existing resource.
func (v *value) take(existing *descriptor.Resource, stored *repository.Stored) {
	var local struct {
		LocalReference string `json:"localReference"`
		MediaType      string `json:"mediaType"`
	}
	if stored == nil || !isLocalBlob(existing.Access) || existing.Access.Decode(&local) != nil {
		return
	}
	var layers []ocispec.Descriptor
	for _, reference := range strings.Split(local.LocalReference, ",") {
		for _, layer := range stored.Manifest.Layers {
			if layer.Digest.String() == reference {
				layers = append(layers, ocispec.Descriptor{MediaType: layer.MediaType, Digest: layer.Digest, Size: layer.Size})
				break
			}
		}
	}
	if len(layers) == strings.Count(local.LocalReference, ",")+1 {
		v.layers, v.mediaType = layers, local.MediaType
	}
}

// store stores a value.
func (c *copying) store(ctx context.Context, v *value) error {
	blob, err := c.openValue(ctx, v)
	if errors.As(err, new(*access.UnknownError)) {
		v.elsewhere = err.Error()
		return nil
	}
	if err != nil {
		return err
	}
	found, err := spooled(blob)
	if err = errors.Join(err, blob.Close()); err != nil {
		return fmt.Errorf("read %s %q: %w", v.kind, v.identity["name"], err)
	}
	if found.mediaType == "" {
		found.mediaType = "application/octet-stream"
	}
	v.mediaType = found.mediaType
	v.layers, err = c.push(ctx, found)
	return errors.Join(err, found.Close())
}

// openValue opens the content. That of a resource is compared with its digest.
func (c *copying) openValue(ctx context.Context, v *value) (*repository.Blob, error) {
	if v.resource != nil {
		return c.Reader.Resource(ctx, c.version, v.resource) // says what it did
	}
	blob, err := c.Reader.Open(ctx, c.version, *v.access)
	if err != nil {
		return nil, fmt.Errorf("read %s %q: %w", v.kind, v.identity["name"], err)
	}
	return blob, nil
}

// settle notes the layers of all values, in the order of the descriptor.
func (c *copying) settle(values []*value) error {
	for _, v := range values {
		if v.elsewhere != "" {
			continue
		}
		var from struct {
			ImageReference string `json:"imageReference"`
			ReferenceName  string `json:"referenceName"`
		}
		if err := v.access.Decode(&from); err != nil {
			return err // says what is wrong
		}
		name := from.ReferenceName
		if name == "" && from.ImageReference != "" {
			name = artifactName("", &Input{Path: from.ImageReference})
		}
		reference, err := c.addLayers(v.layers, v.kind, v.identity)
		if err != nil {
			return err
		}
		if *v.access, err = localBlob(reference, v.mediaType, name); err != nil {
			return err
		}
	}
	return nil
}
