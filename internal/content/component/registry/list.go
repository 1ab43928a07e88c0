package registry

import (
	"context"
	"fmt"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"go.landscaper.dev/internal/content/component/archive"
	"go.landscaper.dev/internal/content/component/oci"
)

// Fetch implements oci.Fetcher.
func (r *Registry) Fetch(ctx context.Context, name, reference string) (ocispec.Descriptor, []byte, error) {
	fail := func(err error) (ocispec.Descriptor, []byte, error) {
		return ocispec.Descriptor{}, nil, r.explain(err, "find "+name+":"+reference)
	}
	repository, err := r.repository(ctx, name)
	if err != nil {
		return ocispec.Descriptor{}, nil, err
	}
	manifest, body, err := repository.Manifests().FetchReference(ctx, reference)
	if err != nil {
		return fail(err)
	}
	defer body.Close() //nolint:errcheck // nothing is written
	if err := oci.CheckDescriptor(manifest); err != nil {
		return fail(err)
	}
	if manifest.Size > oci.MaxManifest {
		return fail(&archive.TooLargeError{What: fmt.Sprintf("the size of %d bytes", manifest.Size), Limit: oci.MaxManifest})
	}
	checked, err := oci.Verified(body, manifest)
	if err != nil {
		return fail(err)
	}
	raw, err := archive.ReadAll(checked, oci.MaxManifest)
	if err != nil {
		return fail(err)
	}
	return manifest, raw, nil
}

// maxTags bounds how many tags are listed.
const maxTags = 100_000

// Tags lists the tags of a repository.
func (r *Registry) Tags(ctx context.Context, name string) ([]string, error) {
	repository, err := r.repository(ctx, name)
	if err != nil {
		return nil, err
	}
	var all []string
	err = repository.Tags(ctx, "", func(tags []string) error {
		if all = append(all, tags...); len(all) > maxTags {
			return &archive.TooLargeError{What: "the number of tags", Limit: maxTags}
		}
		return nil
	})
	if err != nil {
		return nil, r.explain(err, "list the tags of "+name)
	}
	return all, nil
}
