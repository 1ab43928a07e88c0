package access

import (
	"bytes"
	"context"
	"crypto"
	_ "crypto/sha256" // hash algorithms of descriptors
	_ "crypto/sha512" // hash algorithms of descriptors
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"

	"github.com/opencontainers/go-digest"

	"go.landscaper.dev/internal/component/archive"
	"go.landscaper.dev/internal/component/descriptor"
	"go.landscaper.dev/internal/component/oci"
	"go.landscaper.dev/internal/component/repository"
)

// Ways to take the digest of a content.
const (
	NormalisationBlob     = "genericBlobDigest/v1"
	NormalisationArtifact = "ociArtifactDigest/v1"
	oldArtifact           = "ociArtefactDigest/v1"
)

// Hash returns the hash with the name that it has in descriptors.
func Hash(name string) (crypto.Hash, error) {
	switch strings.ToLower(name) {
	case "sha-256", "sha256":
		return crypto.SHA256, nil
	case "sha-512", "sha512":
		return crypto.SHA512, nil
	}
	return 0, fmt.Errorf("unknown hash algorithm %q: SHA-256 and SHA-512 are known", name)
}

// Resource opens the content of a resource. If the descriptor has a digest of it,
// a content with another digest ends in an error: at once, or with the last
// read.
func (r *Reader) Resource(ctx context.Context, version *repository.Version, resource *descriptor.Resource) (*repository.Blob, error) {
	blob, err := r.Open(ctx, version, resource.Access)
	if err == nil {
		blob, err = checked(blob, resource)
	}
	if err != nil {
		return nil, fmt.Errorf("read resource %q of component version %s:%s: %w", resource.Name, version.Name, version.Version, err)
	}
	return blob, nil
}

// Read reads the content of a resource of at most limit bytes.
func (r *Reader) Read(ctx context.Context, version *repository.Version, resource *descriptor.Resource, limit int64) ([]byte, string, error) {
	blob, err := r.Resource(ctx, version, resource)
	if err != nil {
		return nil, "", err
	}
	defer blob.Close() //nolint:errcheck // nothing is written
	data, err := archive.ReadAll(blob, limit)
	if err != nil {
		return nil, "", fmt.Errorf("read resource %q of component version %s:%s: %w", resource.Name, version.Name, version.Version, err)
	}
	return data, blob.MediaType, nil
}

func checked(blob *repository.Blob, resource *descriptor.Resource) (*repository.Blob, error) {
	want := resource.Digest
	if want == nil || want.NoContent() {
		return blob, nil
	}
	algorithm, err := Hash(want.HashAlgorithm)
	if err != nil {
		return nil, errors.Join(err, blob.Close())
	}
	switch want.NormalisationAlgorithm {
	case NormalisationBlob:
		blob.ReadCloser = &hashing{ReadCloser: blob.ReadCloser, hash: algorithm.New(), want: want.Value}
		return blob, nil
	case NormalisationArtifact, oldArtifact:
		if blob, err = identify(blob); err != nil {
			return nil, err
		}
		d := digest.Digest(blob.Digest)
		if d.Algorithm() != ociAlgorithm(algorithm) || d.Encoded() != want.Value {
			return nil, errors.Join(mismatch(blob.Digest, want.Value), blob.Close())
		}
		return blob, nil
	}
	// Nothing here can take such a digest; verifying a signature fails then.
	return blob, nil
}

func mismatch(found, want string) error {
	return fmt.Errorf("calculated resource digest (%s) mismatches existing digest (%s): %w", found, want, oci.ErrDigest)
}

func ociAlgorithm(algorithm crypto.Hash) digest.Algorithm {
	if algorithm == crypto.SHA512 {
		return digest.SHA512
	}
	return digest.SHA256
}

// identify finds the digest of the artifact in an archive that does not come
// from a registry.
func identify(blob *repository.Blob) (*repository.Blob, error) {
	if blob.Digest != "" {
		return blob, nil
	}
	limits := archive.DefaultLimits()
	data, err := archive.ReadAll(blob, limits.Bytes)
	if err = errors.Join(err, blob.Close()); err != nil {
		return nil, err //nolint:wrapcheck // the caller tells the resource
	}
	set, err := oci.ReadSet(bytes.NewReader(data), limits)
	if err != nil {
		return nil, err //nolint:wrapcheck // the caller tells the resource
	}
	// The manifest must be what the index says.
	if _, err := oci.Read(context.Background(), set, "", set.Main, oci.MaxManifest); err != nil {
		return nil, err //nolint:wrapcheck // the caller tells the resource
	}
	return &repository.Blob{ReadCloser: io.NopCloser(bytes.NewReader(data)), MediaType: blob.MediaType, Digest: set.Main.Digest.String()}, nil
}

// hashing checks the digest of what goes through it.
type hashing struct {
	io.ReadCloser
	hash hash.Hash
	want string
}

// Read implements io.Reader.
func (h *hashing) Read(p []byte) (int, error) {
	n, err := h.ReadCloser.Read(p)
	// A hash takes everything.
	_, _ = h.hash.Write(p[:n])
	if errors.Is(err, io.EOF) {
		if found := hex.EncodeToString(h.hash.Sum(nil)); found != strings.ToLower(h.want) {
			return n, mismatch(found, h.want)
		}
	}
	return n, err //nolint:wrapcheck // a reader hands on io.EOF as it is
}

// Digest takes the digest of the content behind an access, in the way that is
// asked for; "" chooses the way that suits the content.
func (r *Reader) Digest(ctx context.Context, version *repository.Version, resource *descriptor.Resource, hashName, normalisation string) (*descriptor.Digest, error) {
	algorithm, err := Hash(hashName)
	if err != nil {
		return nil, err
	}
	blob, err := r.Open(ctx, version, resource.Access)
	if err != nil {
		return nil, err
	}
	if normalisation == "" {
		normalisation = NormalisationBlob
		if _, isSet := oci.IsSet(blob.MediaType); isSet {
			normalisation = NormalisationArtifact
		}
	}
	result := &descriptor.Digest{HashAlgorithm: hashName, NormalisationAlgorithm: normalisation}
	switch normalisation {
	case NormalisationBlob:
		sum := algorithm.New()
		_, err = io.Copy(sum, blob)
		result.Value = hex.EncodeToString(sum.Sum(nil))
	case NormalisationArtifact, oldArtifact:
		if blob, err = identify(blob); err != nil {
			return nil, err
		}
		d := digest.Digest(blob.Digest)
		if d.Algorithm() != ociAlgorithm(algorithm) {
			err = fmt.Errorf("the artifact has the digest %s, the signature asks for %s", d, hashName)
		}
		result.Value = d.Encoded()
	default:
		err = fmt.Errorf("unknown normalisation of a content %q", normalisation)
	}
	return result, errors.Join(err, blob.Close())
}
