package files

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	api "go.landscaper.dev/api/kustomize/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/memfs"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/content/component/access"
	"go.landscaper.dev/internal/content/component/archive"
	"go.landscaper.dev/internal/content/component/cache"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/oci"
	"go.landscaper.dev/internal/content/component/resourcekey"
	"go.landscaper.dev/internal/deploy/itemcontext"
)

// session opens what the Context of an item leads to. It is to be closed.
func (l *Loader) session(ctx context.Context, item *v1alpha1.DeployItem) (*component.Session, error) {
	from, err := l.Of(ctx, item, operation)
	if err != nil {
		return nil, err // names the Context
	}
	return component.NewSession(l.Components, from.Options), nil
}

// resource reads a resource of a component.
func (l *Loader) resource(ctx context.Context, item *v1alpha1.DeployItem, source *api.Source) (*memfs.Tree, error) {
	key, err := resourcekey.Parse(source.ResourceRef)
	if err != nil {
		return nil, err // says what is wrong
	}
	session, err := l.session(ctx, item)
	if err != nil {
		return nil, err
	}
	defer session.Close() //nolint:errcheck // nothing is written
	version, err := session.Resolve(ctx, component.Reference{Name: key.Component.Name, Version: key.Component.Version})
	if err != nil {
		return nil, itemcontext.WithoutRepository(err, cmp.Or(item.Spec.Context, v1alpha1.DefaultContextName)) // says what was done
	}
	resource, err := version.Resource(key.Resource)
	if err != nil {
		return nil, err // says what is missing
	}
	known, err := itemcontext.FoundFor(item)
	if err != nil {
		return nil, err // names the item
	}
	data, mediaType, err := known.Read(ctx, session.Reader(), version, resource, maxPacked)
	if err != nil {
		return nil, err // names the resource
	}
	found, err := unset(ctx, data, mediaType)
	if err != nil {
		return nil, fmt.Errorf("resource %q of component version %s:%s: %w", resource.Name, version.Name, version.Version, err)
	}
	return found, nil
}

// unset unpacks an archive, also one that is a layer of an artifact.
func unset(ctx context.Context, data []byte, mediaType string) (*memfs.Tree, error) {
	if _, isSet := oci.IsSet(mediaType); !isSet && !oci.IsManifest(mediaType) {
		return unpack(data)
	}
	set, err := oci.ReadSet(bytes.NewReader(data), archive.DefaultLimits())
	if err != nil {
		return nil, err // says what was done
	}
	return artifact(ctx, set, "the artifact", set.Main)
}

func unpack(data []byte) (*memfs.Tree, error) {
	found, err := archive.Unpack(bytes.NewReader(data), limits())
	if err != nil {
		return nil, fmt.Errorf("unpack the files: %w", err)
	}
	return found, nil
}

// oci reads an artifact of a registry.
func (l *Loader) oci(ctx context.Context, item *v1alpha1.DeployItem, source *api.Source) (*memfs.Tree, error) {
	reference, err := access.ParseReference(strings.TrimSpace(source.OCI.Ref))
	if err != nil {
		return nil, err // says what is wrong
	}
	session, err := l.session(ctx, item)
	if err != nil {
		return nil, err
	}
	defer session.Close() //nolint:errcheck // nothing is written
	store, at, err := itemcontext.Artifact(ctx, session, reference)
	if err != nil {
		return nil, err // says what was done
	}
	if err := itemcontext.CheckManifest(item, at.Digest); err != nil {
		return nil, err
	}
	return artifact(ctx, store, reference.Repository, at)
}

// fluxLayer is the media type of the layer with files in artifacts that Flux makes.
const fluxLayer = "application/vnd.cncf.flux.content.v1.tar+gzip"

// artifact reads the layer with the files.
func artifact(ctx context.Context, store oci.Store, repository string, at ocispec.Descriptor) (*memfs.Tree, error) {
	manifest, err := oci.ReadManifest(ctx, store, repository, at)
	if err != nil {
		return nil, err // says what was done
	}
	if manifest.Index {
		return nil, errors.New("the artifact is an index of several: name one of them by its digest")
	}
	layer, err := filesLayer(manifest.Layers)
	if err != nil {
		return nil, err
	}
	data, err := oci.Read(ctx, store, repository, layer, maxPacked)
	if err != nil {
		return nil, err // says what was done
	}
	return unpack(data)
}

// filesLayer returns the layer with the files.
func filesLayer(layers []ocispec.Descriptor) (ocispec.Descriptor, error) {
	for _, layer := range layers {
		if layer.MediaType == fluxLayer || len(layers) == 1 {
			return layer, nil
		}
	}
	return ocispec.Descriptor{}, fmt.Errorf("the artifact has %d layers, none of type %s: it must have one, an archive", len(layers), fluxLayer)
}

// checkGit reports what is wrong with the address of a repository.
func checkGit(git *api.Git) error {
	switch ref := git.Ref; {
	case strings.TrimSpace(git.URL) == "":
		return errors.New("source.git.url is missing")
	case ref.Branch != "" && ref.Tag != "":
		return errors.New("source.git.ref has both branch and tag: keep one of them")
	case ref.Commit != "" && !plumbing.IsHash(ref.Commit):
		return errors.New("source.git.ref.commit is no complete commit hash")
	}
	return nil
}

// git reads a Git repository. A commit is always the same, so that it is kept; a branch
// or tag is asked for in each job.
func (l *Loader) git(ctx context.Context, item *v1alpha1.DeployItem, source *api.Source) (*memfs.Tree, error) {
	git := source.Git
	session, err := l.session(ctx, item)
	if err != nil {
		return nil, err
	}
	defer session.Close() //nolint:errcheck // nothing is written
	ref := ""
	switch {
	case git.Ref.Branch != "":
		ref = "refs/heads/" + git.Ref.Branch
	case git.Ref.Tag != "":
		ref = "refs/tags/" + git.Ref.Tag
	}
	address := strings.TrimSpace(git.URL)
	wanted, err := descriptor.NewTyped(map[string]any{"type": "git", "repository": address, "ref": ref, "commit": git.Ref.Commit})
	if err != nil {
		return nil, err // says what is wrong
	}
	reader := *session.Reader()
	reader.MaxBytes = maxPacked
	ask := func(ctx context.Context, _ string) (cache.Document, error) {
		blob, err := reader.Open(ctx, nil, wanted)
		if err != nil {
			return cache.Document{}, err // says what was done
		}
		defer blob.Close() //nolint:errcheck // nothing is written
		data, err := archive.ReadAll(blob, maxPacked)
		return cache.Document{Data: data}, err
	}
	if git.Ref.Commit == "" {
		found, err := ask(ctx, "")
		if err != nil {
			return nil, err
		}
		return unpack(found.Data)
	}
	data, err := reader.Documents(ctx, cache.Wanted{Address: "git " + address + " " + ref + " " + git.Ref.Commit, Immutable: true}, ask)
	if err != nil {
		return nil, err // says what was done
	}
	return unpack(data)
}
