// Package ctf reads and writes archives in the common transport format: the
// repositories of a registry as a directory, a tar or a compressed tar.
package ctf

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"go.landscaper.dev/internal/content/component/archive"
	"go.landscaper.dev/internal/content/component/oci"
)

const (
	indexFile = "artifact-index.json"
	// maxIndex is the size of the largest index that is read.
	maxIndex = 64 << 20
)

type index struct {
	SchemaVersion int        `json:"schemaVersion"`
	Artifacts     []artifact `json:"artifacts"`
}

type artifact struct {
	Repository string        `json:"repository"`
	Tag        string        `json:"tag,omitempty"`
	Digest     digest.Digest `json:"digest"`
	MediaType  string        `json:"mediaType,omitempty"`
}

// Archive is an archive that is read.
type Archive struct {
	files files
	index index
}

// files is what an archive consists of.
type files interface {
	open(path string) (io.ReadCloser, int64, error)
	close() error
}

// Close gives up what the archive holds.
func (a *Archive) Close() error { return a.files.close() }

func open(files files) (*Archive, error) {
	a := &Archive{files: files}
	reader, _, err := files.open(indexFile)
	if err != nil {
		return nil, fmt.Errorf("the archive is not a common transport archive, %s is missing: %w", indexFile, err)
	}
	defer reader.Close() //nolint:errcheck // nothing is written
	raw, err := archive.ReadAll(reader, maxIndex)
	if err != nil {
		return nil, fmt.Errorf("%s of the archive: %w", indexFile, err)
	}
	if err := json.Unmarshal(raw, &a.index); err != nil {
		return nil, fmt.Errorf("decode %s of the archive: %w", indexFile, err)
	}
	for i, artifact := range a.index.Artifacts {
		if err := artifact.Digest.Validate(); err != nil {
			return nil, fmt.Errorf("artifacts[%d] of %s of the archive: %w", i, indexFile, err)
		}
	}
	return a, nil
}

// Artifacts lists the repositories and tags in the archive.
func (a *Archive) Artifacts() map[string][]string {
	tags := map[string][]string{}
	for _, artifact := range a.index.Artifacts {
		if artifact.Tag != "" {
			tags[artifact.Repository] = append(tags[artifact.Repository], artifact.Tag)
		}
	}
	return tags
}

// Resolve implements oci.Store.
func (a *Archive) Resolve(ctx context.Context, repository, reference string) (ocispec.Descriptor, error) {
	for _, artifact := range a.index.Artifacts {
		if artifact.Repository != repository || (artifact.Tag != reference && string(artifact.Digest) != reference) {
			continue
		}
		return a.describe(ctx, artifact.Digest, artifact.MediaType)
	}
	return ocispec.Descriptor{}, fmt.Errorf("%s:%s in the archive: %w", repository, reference, oci.ErrNotFound)
}

// describe returns the descriptor of a manifest, whose media type the index of an
// old archive may lack.
func (a *Archive) describe(ctx context.Context, d digest.Digest, mediaType string) (ocispec.Descriptor, error) {
	raw, err := oci.Read(ctx, a, "the archive", ocispec.Descriptor{Digest: d, Size: -1}, oci.MaxManifest)
	if err != nil {
		return ocispec.Descriptor{}, err
	}
	var typed struct {
		MediaType string          `json:"mediaType"`
		Manifests json.RawMessage `json:"manifests"`
	}
	if err := json.Unmarshal(raw, &typed); err != nil {
		return ocispec.Descriptor{}, fmt.Errorf("decode manifest %s of the archive: %w", d, err)
	}
	switch {
	case typed.MediaType != "":
		mediaType = typed.MediaType
	case mediaType != "":
	case typed.Manifests != nil:
		mediaType = ocispec.MediaTypeImageIndex
	default:
		mediaType = ocispec.MediaTypeImageManifest
	}
	return ocispec.Descriptor{MediaType: mediaType, Digest: d, Size: int64(len(raw))}, nil
}

// Open implements oci.Store. All blobs are in one place, whatever the repository.
func (a *Archive) Open(_ context.Context, _ string, content ocispec.Descriptor) (io.ReadCloser, error) {
	if err := content.Digest.Validate(); err != nil {
		return nil, fmt.Errorf("digest %.80q: %w", content.Digest, err)
	}
	reader, _, err := a.files.open(oci.BlobPath(content.Digest))
	if err != nil {
		return nil, fmt.Errorf("%s in the archive: %w", content.Digest, err)
	}
	return oci.Verified(reader, content)
}

// Writer is an archive in a directory that is written to.
type Writer struct {
	Archive
	directory directory

	mu sync.Mutex
	// blobs are locked while they are written: other goroutines may write the same blob.
	blobs map[digest.Digest]*sync.Mutex
}

// Push implements oci.Target. A blob that is there is complete: it got its name when
// it was.
func (w *Writer) Push(_ context.Context, _ string, content ocispec.Descriptor, data io.Reader) error {
	checked, err := oci.Verified(io.NopCloser(data), content)
	if err != nil {
		return err
	}
	defer w.lock(content.Digest).Unlock()
	name := oci.BlobPath(content.Digest)
	if info, err := w.directory.root.Stat(name); err == nil && info.Mode().IsRegular() && (content.Size < 0 || info.Size() == content.Size) {
		return nil
	}
	return w.directory.write(name, checked)
}

func (w *Writer) lock(d digest.Digest) *sync.Mutex {
	w.mu.Lock()
	if w.blobs == nil {
		w.blobs = map[digest.Digest]*sync.Mutex{}
	}
	one, known := w.blobs[d]
	if !known {
		one = &sync.Mutex{}
		w.blobs[d] = one
	}
	w.mu.Unlock()
	one.Lock()
	return one
}

// Tag implements oci.Target.
func (w *Writer) Tag(_ context.Context, repository string, manifest ocispec.Descriptor, tag string) error {
	entry := artifact{Repository: repository, Tag: tag, Digest: manifest.Digest, MediaType: manifest.MediaType}
	same := func(a artifact) bool { return a.Repository == repository && a.Tag == tag }
	w.index.Artifacts = append(slices.DeleteFunc(w.index.Artifacts, same), entry)
	w.index.SchemaVersion = 1
	raw, err := json.Marshal(w.index)
	if err != nil {
		return fmt.Errorf("encode %s of the archive: %w", indexFile, err)
	}
	return w.directory.write(indexFile, bytes.NewReader(raw))
}
