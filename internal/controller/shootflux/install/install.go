// Package install has the manifests that install Flux: the manifests of one release are embedded,
// those of other releases come from a mirror. The package does not apply them.
package install

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// bundled has the manifests of one release; "make shoot-flux-manifests" writes them.
//
//go:embed flux
var bundled embed.FS

// DefaultVersion is the release whose manifests are embedded.
func DefaultVersion() string {
	// There is exactly one: a test checks it.
	releases, err := fs.ReadDir(bundled, "flux")
	if err != nil || len(releases) != 1 {
		return ""
	}
	return releases[0].Name()
}

var bundledRelease = sync.OnceValues(func() (*release, error) {
	version := DefaultVersion()
	folder := path.Join("flux", version)
	names, err := fs.ReadDir(bundled, folder)
	if err != nil {
		return nil, fmt.Errorf("read the manifests of Flux %s that are part of the program: %w", version, err)
	}
	files := map[string][]byte{}
	for _, name := range names {
		if files[name.Name()], err = fs.ReadFile(bundled, path.Join(folder, name.Name())); err != nil {
			return nil, fmt.Errorf("read the manifests of Flux %s that are part of the program: %w", version, err)
		}
	}
	return newRelease(version, files)
})

// Library finds the manifests of releases. It may be used concurrently.
type Library struct {
	mirror *mirror
}

// NewLibrary returns a library; without a mirror, it has only the default version.
func NewLibrary(from *Mirror) (*Library, error) {
	if from == nil {
		return &Library{}, nil
	}
	mirror, err := from.open()
	if err != nil {
		return nil, err
	}
	return &Library{mirror: mirror}, nil
}

// Manifests returns the objects that install Flux, in the order in which they can be applied. The
// caller owns them.
func (l *Library) Manifests(ctx context.Context, o Options) ([]*unstructured.Unstructured, error) {
	o = o.withDefaults()
	if err := l.Check(o); err != nil {
		return nil, err
	}
	found, err := l.release(ctx, o.Version)
	if err != nil {
		return nil, err
	}
	return found.render(o)
}

func (l *Library) release(ctx context.Context, version string) (*release, error) {
	if version == DefaultVersion() {
		return bundledRelease()
	}
	return l.mirror.release(ctx, version)
}

// Versions are those that can be installed, the default one first.
func (l *Library) Versions() []string {
	versions := []string{DefaultVersion()}
	if l.mirror != nil {
		versions = append(versions, l.mirror.versions()...)
	}
	return versions
}
