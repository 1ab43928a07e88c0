package oci

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"go.landscaper.dev/internal/content/component/archive"
)

// WriteLayout turns an artifact set, compressed or not, into an archive in the layout
// of OCI, which tools for images read.
func WriteLayout(to io.Writer, set io.Reader) error {
	writer := tar.NewWriter(to)
	file := func(name string, size int64, content io.Reader) error {
		if err := writer.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o644, Format: tar.FormatPAX}); err != nil {
			return fmt.Errorf("write %s of a layout: %w", name, err)
		}
		if _, err := io.Copy(writer, content); err != nil {
			return fmt.Errorf("write %s of a layout: %w", name, err)
		}
		return nil
	}
	mark := []byte(`{"imageLayoutVersion":"` + ocispec.ImageLayoutVersion + `"}`)
	if err := file(ocispec.ImageLayoutFile, int64(len(mark)), bytes.NewReader(mark)); err != nil {
		return err
	}
	// The index goes last: for an archive with both files, its own index counts, at any position, as
	// it does when the digest of the archive is computed.
	var index []byte
	limits := archive.Limits{Bytes: 1 << 50, Files: 1_000_000, Ratio: 1000, Depth: 4}
	err := archive.Walk(set, limits, func(entry archive.Entry) error {
		switch d, isBlob := blobDigest(entry.Path); {
		case isBlob:
			return file("blobs/"+string(d.Algorithm())+"/"+d.Encoded(), entry.Size, entry.Content)
		case entry.Path == artifactSetDescriptor, entry.Path == artifactSetIndex && index == nil:
			raw, err := archive.ReadAll(entry.Content, MaxManifest)
			index = raw
			return err // the caller says what was done
		}
		return nil
	})
	if err == nil {
		index, err = layoutIndex(index)
	}
	if err != nil {
		return fmt.Errorf("turn an artifact set into a layout: %w", err)
	}
	if err := file(artifactSetIndex, int64(len(index)), bytes.NewReader(index)); err != nil {
		return err
	}
	return errors.Join(writer.Close())
}

// layoutIndex returns the index of a layout: only the artifact itself, under its
// name, as tools for images expect it.
func layoutIndex(raw []byte) ([]byte, error) {
	main, err := mainOf(raw)
	if err != nil {
		return nil, err
	}
	if tags, _, _ := strings.Cut(main.Annotations[tagsAnnotation], ","); tags != "" {
		main.Annotations[ocispec.AnnotationRefName] = tags
	}
	index := ocispec.Index{MediaType: ocispec.MediaTypeImageIndex, Manifests: []ocispec.Descriptor{main}}
	index.SchemaVersion = 2
	raw, err = json.Marshal(index)
	if err != nil {
		return nil, fmt.Errorf("encode the index: %w", err)
	}
	return raw, nil
}
