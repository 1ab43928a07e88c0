// Package files loads the files that items of the kustomize deployer name: those in
// the item itself, a resource of a component, a Git repository, an artifact of a
// registry. Sources are hostile until proven otherwise: what is read is bounded, stays
// in memory, and is kept only for those whose credentials have got it.
package files

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	api "go.landscaper.dev/api/kustomize/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer"
	"go.landscaper.dev/internal/base/memfs"
	"go.landscaper.dev/internal/content/component/archive"
	"go.landscaper.dev/internal/deploy/itemcontext"
	"go.landscaper.dev/internal/runtime/job/published"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

const (
	operation = published.BuildKustomization
	reason    = reasons.GetSource
	// maxPacked is how large an archive, or what a Git server sends, may be.
	maxPacked = 16 << 20
)

// limits bound what an archive unpacks to.
func limits() archive.Limits {
	return archive.Limits{Bytes: 32 << 20, Files: 5_000, Ratio: archive.DefaultLimits().Ratio, Depth: 32}
}

// Loader loads sources.
type Loader struct{ itemcontext.Origins }

// kind is a way in which an item names its source.
type kind struct {
	// field is the field of the item.
	field string
	given func(*api.Source) bool
	load  func(*Loader, context.Context, *v1alpha1.DeployItem, *api.Source) (*memfs.Tree, error)
}

func kinds() []kind {
	return []kind{
		{"source.files", func(s *api.Source) bool { return len(s.Files) > 0 }, (*Loader).inline},
		{"source.resourceRef", func(s *api.Source) bool { return s.ResourceRef != "" }, (*Loader).resource},
		{"source.git", func(s *api.Source) bool { return s.Git != nil }, (*Loader).git},
		{"source.oci", func(s *api.Source) bool { return s.OCI != nil }, (*Loader).oci},
	}
}

// Check reports what is wrong with a source as far as that shows without loading it.
func Check(source *api.Source) error {
	_, err := kindOf(source)
	return err
}

// kindOf returns the way in which a source is named; there must be exactly one.
func kindOf(source *api.Source) (kind, error) {
	var found []kind
	var fields []string
	for _, k := range kinds() {
		if k.given(source) {
			found, fields = append(found, k), append(fields, k.field)
		}
	}
	switch {
	case len(found) == 0:
		return kind{}, errors.New("source: nothing says where the files are: set one of files, resourceRef, git and oci")
	case len(found) > 1:
		return kind{}, fmt.Errorf("%s are set, but an item has one source: keep one of them", strings.Join(fields, " and "))
	case source.Git != nil:
		return found[0], checkGit(source.Git)
	}
	return found[0], nil
}

// Load returns the files of a source. Wrong input is final; a host that does not answer may be
// asked again.
func (l *Loader) Load(ctx context.Context, item *v1alpha1.DeployItem, source *api.Source) (*memfs.Tree, error) {
	kind, err := kindOf(source)
	if err != nil {
		return nil, deployer.ConfigurationError("spec.config", err.Error())
	}
	found, err := kind.load(l, ctx, item, source)
	if err != nil {
		return nil, itemcontext.Explain(ctx, err, itemcontext.Errand{
			Operation: operation, Reason: reason, Field: kind.field, Credentials: "credentials come from registryPullSecrets of the Context",
		})
	}
	return found, nil
}

// inline returns the files that are in the item.
func (l *Loader) inline(_ context.Context, _ *v1alpha1.DeployItem, source *api.Source) (*memfs.Tree, error) {
	builder := archive.NewBuilder(limits())
	for _, name := range slices.Sorted(maps.Keys(source.Files)) {
		if err := builder.AddFile(name, source.Files[name]); err != nil {
			return nil, fmt.Errorf("a path must lead to a file of the source, as in base/web.yaml: %w", err)
		}
	}
	return builder.Tree(), nil
}
