package install

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/Masterminds/semver/v3"
	"github.com/opencontainers/go-digest"
	"golang.org/x/sync/singleflight"

	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/content/component/access"
	"go.landscaper.dev/internal/content/component/archive"
	"go.landscaper.dev/internal/content/component/oci"
	"go.landscaper.dev/internal/content/component/repository"
)

const (
	// maxPacked is how large the compressed manifests of a release may be.
	maxPacked = 10 << 20
	// mirrorTimeout is how long a mirror may take for one release.
	mirrorTimeout = 30 * time.Second
	// pause is how long a mirror is not asked again after a failure.
	pause = 30 * time.Second
	// placeholder is the version in the address of a mirror.
	placeholder = "{version}"
)

// ErrUnreachable is wrapped by errors about a mirror that does not deliver. Another attempt may
// succeed.
var ErrUnreachable = errors.New("the mirror with the manifests of Flux does not deliver them")

// Mirror is the source of the manifests of further releases.
type Mirror struct {
	// Address is https://…/{version}/manifests.tar.gz, or oci://host/repository, where
	// tags are versions.
	Address string
	// Checksums are those of the versions that may be installed: of the file, or of the
	// artifact in the registry, as in sha256:….
	Checksums map[string]string
	// Shared has the clients, and with them the policy for connections.
	Shared *component.Shared
	// Access has the credentials.
	Access component.Options
}

func (m *Mirror) open() (*mirror, error) {
	opened := &mirror{Mirror: *m, checksums: map[string]digest.Digest{}, now: time.Now, failed: map[string]failure{}, kept: map[string]*release{}}
	address, err := url.Parse(m.Address)
	switch {
	case err != nil || address.Host == "" || address.User != nil:
		return nil, fmt.Errorf("mirror %s: write https://host/path/%s/manifests.tar.gz or oci://host/repository, without credentials", repository.Redact(m.Address), placeholder)
	case address.Scheme == "oci":
		if _, err := access.ParseReference(m.Address); err != nil || strings.Trim(address.Path, "/") == "" {
			return nil, fmt.Errorf("mirror %s: write oci://host/repository, without a tag", repository.Redact(m.Address))
		}
	case address.Scheme != "https" && address.Scheme != "http":
		return nil, fmt.Errorf("mirror %s: use https, http or oci", repository.Redact(m.Address))
	case !strings.Contains(m.Address, placeholder):
		return nil, fmt.Errorf("mirror %s: write %s where the version belongs", repository.Redact(m.Address), placeholder)
	}
	for _, version := range slices.Sorted(maps.Keys(m.Checksums)) {
		text := m.Checksums[version]
		if _, err := semver.StrictNewVersion(strings.TrimPrefix(version, "v")); err != nil || !strings.HasPrefix(version, "v") {
			return nil, fmt.Errorf("mirror: checksum of version %.100q: write the version as in %s", version, DefaultVersion())
		}
		checksum := digest.Digest(text)
		if err := checksum.Validate(); err != nil {
			return nil, fmt.Errorf("mirror: checksum of version %s: write sha256: and 64 digits: %w", version, err)
		}
		opened.checksums[version] = checksum
	}
	return opened, nil
}

// mirror is a Mirror in use. Concurrent callers share one download per release.
type mirror struct {
	Mirror
	checksums map[string]digest.Digest
	now       func() time.Time
	flight    singleflight.Group

	mu     sync.Mutex
	kept   map[string]*release
	failed map[string]failure
}

// failure is why a release could not be fetched, and the time before which it is not fetched again.
type failure struct {
	err   error
	until time.Time
}

func (m *mirror) has(version string) bool {
	_, known := m.checksums[version]
	return known
}

func (m *mirror) versions() []string {
	var versions []string
	for version := range m.checksums {
		if version != DefaultVersion() {
			versions = append(versions, version)
		}
	}
	slices.Sort(versions)
	return versions
}

func (m *mirror) release(ctx context.Context, version string) (*release, error) {
	if found, err := m.known(version); found != nil || err != nil {
		return found, err
	}
	// The first caller may give up while others wait.
	results := m.flight.DoChan(version, func() (any, error) {
		if found, err := m.known(version); found != nil || err != nil {
			return found, err
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), mirrorTimeout)
		defer cancel()
		found, err := m.fetch(ctx, version)
		m.keep(version, found, err)
		return found, err
	})
	select {
	case result := <-results:
		found, _ := result.Val.(*release)
		return found, result.Err
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for the manifests of Flux %s: %w", version, ctx.Err())
	}
}

// known returns the cached result.
func (m *mirror) known(version string) (*release, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if found := m.kept[version]; found != nil {
		return found, nil
	}
	if failed, ok := m.failed[version]; ok && m.now().Before(failed.until) {
		return nil, failed.err
	}
	return nil, nil
}

func (m *mirror) keep(version string, found *release, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err != nil {
		m.failed[version] = failure{err: err, until: m.now().Add(pause)}
		return
	}
	delete(m.failed, version)
	m.kept[version] = found
}

// fetch gets a release from the mirror.
func (m *mirror) fetch(ctx context.Context, version string) (*release, error) {
	from := strings.ReplaceAll(m.Address, placeholder, version)
	read := m.download
	if strings.HasPrefix(from, "oci://") {
		read = m.artifact
	}
	session := component.NewSession(m.Shared, m.Access)
	defer session.Close() //nolint:errcheck // nothing was written
	data, err := read(ctx, session, from, m.checksums[version])
	if err != nil {
		return nil, fmt.Errorf("manifests of Flux %s from %s: %w: %w", version, repository.Redact(from), ErrUnreachable, err)
	}
	files, err := unpack(data)
	if err != nil {
		return nil, fmt.Errorf("manifests of Flux %s from %s: %w", version, repository.Redact(from), err)
	}
	return newRelease(version, files)
}

func (m *mirror) download(ctx context.Context, session *component.Session, from string, checksum digest.Digest) ([]byte, error) {
	reader := *session.Reader()
	// An invalid file may be valid the next time, and a valid one is cached here.
	reader.Documents = nil
	data, err := reader.Download(ctx, from, maxPacked)
	if err != nil {
		return nil, err // wrapped by the callee
	}
	if found := checksum.Algorithm().FromBytes(data); found != checksum {
		return nil, fmt.Errorf("the delivered file has checksum %s, %s is configured: the file has changed, or the checksum is wrong", found, checksum)
	}
	return data, nil
}

// artifact reads the one layer of an artifact, which is pinned by its digest.
func (m *mirror) artifact(ctx context.Context, session *component.Session, from string, checksum digest.Digest) ([]byte, error) {
	reference, err := access.ParseReference(from + "@" + checksum.String())
	if err != nil {
		return nil, err // wrapped by the callee
	}
	store := session.Reader().Registry(reference.Scheme, reference.Host)
	at, err := store.Resolve(ctx, reference.Repository, checksum.String())
	if err != nil {
		return nil, err // wrapped by the callee
	}
	manifest, err := oci.ReadManifest(ctx, store, reference.Repository, at)
	if err != nil {
		return nil, err // wrapped by the callee
	}
	if len(manifest.Layers) != 1 {
		return nil, fmt.Errorf("the artifact has %d layers instead of one with the manifests", len(manifest.Layers))
	}
	return oci.Read(ctx, store, reference.Repository, manifest.Layers[0], maxPacked) // wrapped by the callee
}

// unpack returns the files of an archive, or the single plain file.
func unpack(data []byte) (map[string][]byte, error) {
	if !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return map[string][]byte{"install.yaml": data}, nil
	}
	files := map[string][]byte{}
	limits := archive.DefaultLimits()
	limits.Bytes, limits.Files = maxPacked, 100
	err := archive.Walk(bytes.NewReader(data), limits, func(entry archive.Entry) error {
		content, err := archive.ReadAll(entry.Content, maxPacked)
		files[entry.Path] = content
		return err // wrapped by the callee
	})
	return files, err // wrapped by the callee
}
