package oci

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"go.landscaper.dev/internal/content/component/archive"
)

// Parts of an artifact set: one artifact as an archive.
const (
	artifactSetDescriptor = "artifact-descriptor.json"
	artifactSetIndex      = "index.json"
	mainAnnotation        = "software.ocm/main"
	tagsAnnotation        = "software.ocm/tags"
)

// layoutMediaType is how archives in the layout of OCI are called, whatever the
// artifact in them is.
const layoutMediaType = "application/vnd.ocm.software.oci.layout.v1"

// SetMediaType is the media type of the archive of an artifact, as others write it.
func SetMediaType(manifest string) string { return strings.TrimSuffix(manifest, "+json") + "+tar+gzip" }

// IsSet reports whether a media type is that of an artifact set, and of what. Some
// tools leave +json out of it.
func IsSet(mediaType string) (string, bool) {
	manifest := strings.TrimSuffix(strings.TrimSuffix(mediaType, "+gzip"), "+tar")
	if manifest == mediaType {
		return "", false
	}
	if manifest == layoutMediaType {
		return ocispec.MediaTypeImageManifest, true
	}
	if full := manifest + "+json"; IsManifest(full) {
		manifest = full
	}
	return manifest, IsManifest(manifest)
}

// WriteSet writes an artifact with everything that belongs to it as an archive,
// compressed. Its index names all manifests, of which one is the main one.
func WriteSet(ctx context.Context, to io.Writer, store Store, repository string, main ocispec.Descriptor, tag string) error {
	return archive.Gzip(to, func(to io.Writer) error {
		writer := tar.NewWriter(to)
		head := ocispec.Descriptor{MediaType: main.MediaType, Digest: main.Digest, Size: main.Size}
		if tag != "" {
			head.Annotations = map[string]string{tagsAnnotation: tag, ocispec.AnnotationRefName: tag}
		}
		set := setWriter{ctx: ctx, to: writer, store: store, repository: repository, seen: map[digest.Digest]bool{}}
		if err := set.collect(main, 0); err != nil {
			return err
		}
		index := ocispec.Index{MediaType: ocispec.MediaTypeImageIndex, Manifests: []ocispec.Descriptor{head},
			Annotations: map[string]string{mainAnnotation: main.Digest.String()}}
		for _, manifest := range set.manifests[1:] {
			index.Manifests = append(index.Manifests, ocispec.Descriptor{
				MediaType: manifest.Descriptor.MediaType, Digest: manifest.Descriptor.Digest, Size: manifest.Descriptor.Size, Platform: manifest.Descriptor.Platform,
			})
		}
		index.SchemaVersion = 2
		raw, err := json.Marshal(index)
		if err != nil {
			return fmt.Errorf("encode the index of an artifact set: %w", err)
		}
		if err := set.file(artifactSetDescriptor, int64(len(raw)), bytes.NewReader(raw)); err != nil {
			return err
		}
		for _, manifest := range set.manifests {
			if err := set.manifest(manifest); err != nil {
				return err
			}
		}
		if err := writer.Close(); err != nil {
			return fmt.Errorf("write an artifact set: %w", err)
		}
		return nil
	})
}

// maxIndexDepth bounds how deep an index may point to an index.
const maxIndexDepth = 8

// maxParts bounds how many manifests and blobs may belong to an artifact.
const maxParts = 10_000

// maxManifests bounds how large the manifests of an artifact may be together.
const maxManifests = 4 * MaxManifest

type setWriter struct {
	ctx        context.Context // lives for one call
	to         *tar.Writer
	store      Store
	repository string
	seen       map[digest.Digest]bool
	// manifests are all that belong to the artifact, the main one first.
	manifests []*Manifest
	bytes     int64
}

// collect reads the manifests, which are small, so that the index can name them.
func (w *setWriter) collect(at ocispec.Descriptor, depth int) error {
	if depth > maxIndexDepth {
		return fmt.Errorf("the index %s of %s points to another one more than %d times", at.Digest, w.repository, maxIndexDepth)
	}
	if w.seen[at.Digest] {
		return nil
	}
	w.seen[at.Digest] = true
	if len(w.seen) > maxParts {
		return &archive.TooLargeError{What: "the number of parts of an artifact in " + w.repository, Limit: maxParts}
	}
	manifest, err := ReadManifest(w.ctx, w.store, w.repository, at)
	if err != nil {
		return err
	}
	if w.bytes += int64(len(manifest.Raw)); w.bytes > maxManifests {
		return &archive.TooLargeError{What: "the size of all manifests of an artifact in " + w.repository, Limit: maxManifests}
	}
	w.manifests = append(w.manifests, manifest)
	for _, child := range manifest.Manifests {
		if !IsManifest(child.MediaType) {
			return fmt.Errorf("index %s of %s has an entry of type %q", at.Digest, w.repository, child.MediaType)
		}
		if err := w.collect(child, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (w *setWriter) manifest(manifest *Manifest) error {
	if err := w.file(BlobPath(manifest.Descriptor.Digest), int64(len(manifest.Raw)), bytes.NewReader(manifest.Raw)); err != nil {
		return err
	}
	if manifest.Index {
		return nil
	}
	for _, blob := range append([]ocispec.Descriptor{manifest.Config}, manifest.Layers...) {
		if err := w.blob(blob); err != nil {
			return err
		}
	}
	return nil
}

func (w *setWriter) blob(blob ocispec.Descriptor) error {
	if blob.Digest == "" || w.seen[blob.Digest] {
		return nil
	}
	w.seen[blob.Digest] = true
	content, err := w.store.Open(w.ctx, w.repository, blob)
	if err != nil {
		return err
	}
	return errors.Join(w.file(BlobPath(blob.Digest), blob.Size, content), content.Close())
}

func (w *setWriter) file(path string, size int64, content io.Reader) error {
	if err := w.to.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: path, Size: size, Mode: 0o644, Format: tar.FormatPAX}); err != nil {
		return fmt.Errorf("write %s of an artifact set: %w", path, err)
	}
	// The copy ends with the content, so that the digest is checked.
	if _, err := io.Copy(w.to, content); err != nil {
		return fmt.Errorf("write %s of an artifact set: %w", path, err)
	}
	return nil
}

// BlobPath is where an archive keeps a blob.
func BlobPath(d digest.Digest) string {
	return "blobs/" + string(d.Algorithm()) + "." + d.Encoded()
}

// blobDigest is the reverse of BlobPath; it also reads the paths of an OCI layout.
func blobDigest(path string) (digest.Digest, bool) {
	name, found := strings.CutPrefix(path, "blobs/")
	if !found {
		return "", false
	}
	algorithm, encoded, found := strings.Cut(strings.Replace(name, ".", "/", 1), "/")
	d := digest.NewDigestFromEncoded(digest.Algorithm(algorithm), encoded)
	return d, found && d.Validate() == nil
}

// Set is an artifact set in memory.
type Set struct {
	// Main is the artifact that the set is about.
	Main  ocispec.Descriptor
	blobs map[digest.Digest][]byte
}

// ReadSet reads an artifact set, compressed or not, into memory.
func ReadSet(content io.Reader, limits archive.Limits) (*Set, error) {
	set := &Set{blobs: map[digest.Digest][]byte{}}
	var index []byte
	err := archive.Walk(content, limits, func(entry archive.Entry) error {
		data, err := archive.ReadAll(entry.Content, limits.Bytes)
		if err != nil {
			return fmt.Errorf("%s of the artifact set: %w", entry.Path, err)
		}
		switch d, isBlob := blobDigest(entry.Path); {
		case isBlob:
			set.blobs[d] = data
		case entry.Path == artifactSetDescriptor, entry.Path == artifactSetIndex && index == nil:
			index = data
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read an artifact set: %w", err)
	}
	if set.Main, err = mainOf(index); err != nil {
		return nil, err
	}
	return set, nil
}

// SetDigest reads an artifact set of any size to its end and returns the digest of
// its artifact. Every blob must have the digest that it is named after.
func SetDigest(content io.Reader) (digest.Digest, error) {
	var index []byte
	present := map[digest.Digest]bool{}
	limits := archive.Limits{Bytes: 1 << 50, Files: 1_000_000, Ratio: 1000, Depth: 4}
	err := archive.Walk(content, limits, func(entry archive.Entry) error {
		switch d, isBlob := blobDigest(entry.Path); {
		case isBlob:
			verifier := d.Verifier()
			if _, err := io.Copy(verifier, entry.Content); err != nil {
				return fmt.Errorf("%s of the artifact set: %w", entry.Path, err)
			}
			if !verifier.Verified() {
				return fmt.Errorf("%s of the artifact set: %w", entry.Path, ErrDigest)
			}
			present[d] = true
		case entry.Path == artifactSetDescriptor, entry.Path == artifactSetIndex && index == nil:
			data, err := archive.ReadAll(entry.Content, MaxManifest)
			if err != nil {
				return fmt.Errorf("%s of the artifact set: %w", entry.Path, err)
			}
			index = data
		}
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("read an artifact set: %w", err)
	}
	main, err := mainOf(index)
	if err != nil {
		return "", err
	}
	if !present[main.Digest] {
		return "", fmt.Errorf("%s in the artifact set: %w", main.Digest, ErrNotFound)
	}
	return main.Digest, nil
}

func mainOf(raw []byte) (ocispec.Descriptor, error) {
	var index ocispec.Index
	if raw == nil {
		return ocispec.Descriptor{}, fmt.Errorf("the artifact set has neither %s nor %s", artifactSetDescriptor, artifactSetIndex)
	}
	if err := json.Unmarshal(raw, &index); err != nil {
		return ocispec.Descriptor{}, fmt.Errorf("decode the index of the artifact set: %w", err)
	}
	main := index.Annotations[mainAnnotation]
	for _, manifest := range index.Manifests {
		if string(manifest.Digest) == main || (main == "" && len(index.Manifests) == 1) {
			return manifest, CheckDescriptor(manifest)
		}
	}
	return ocispec.Descriptor{}, fmt.Errorf("the artifact set has %d manifests and says of none that it is the main one (annotation %s)", len(index.Manifests), mainAnnotation)
}

// Resolve implements Store; the reference must be a digest.
func (s *Set) Resolve(_ context.Context, _, reference string) (ocispec.Descriptor, error) {
	if reference == "" || reference == string(s.Main.Digest) {
		return s.Main, nil
	}
	return ocispec.Descriptor{}, fmt.Errorf("%s in the artifact set: %w", reference, ErrNotFound)
}

// Open implements Store.
func (s *Set) Open(_ context.Context, _ string, content ocispec.Descriptor) (io.ReadCloser, error) {
	data, exists := s.blobs[content.Digest]
	if !exists {
		return nil, fmt.Errorf("%s in the artifact set: %w", content.Digest, ErrNotFound)
	}
	return Verified(io.NopCloser(bytes.NewReader(data)), content)
}
