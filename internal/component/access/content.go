package access

import (
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
	return r.reported(blob, resource.Name), nil
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
		return checkedArtifact(blob, ociAlgorithm(algorithm), want.Value)
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

func checkedArtifact(blob *repository.Blob, algorithm digest.Algorithm, want string) (*repository.Blob, error) {
	check := func(found digest.Digest) error {
		if found.Algorithm() != algorithm || !strings.EqualFold(found.Encoded(), want) {
			return mismatch(found.String(), want)
		}
		return nil
	}
	if blob.Digest == "" {
		blob.ReadCloser = identify(blob.ReadCloser, check)
		return blob, nil
	}
	if err := check(digest.Digest(blob.Digest)); err != nil {
		return nil, errors.Join(err, blob.Close())
	}
	return blob, nil
}

// identifying looks for the digest of the artifact in an archive that goes
// through it and does not come from a registry.
type identifying struct {
	io.ReadCloser
	copy  *io.PipeWriter
	found chan error
	last  error
}

func identify(archived io.ReadCloser, check func(digest.Digest) error) *identifying {
	reader, writer := io.Pipe()
	i := &identifying{ReadCloser: archived, copy: writer, found: make(chan error, 1)}
	go func() {
		found, err := oci.SetDigest(reader)
		if err == nil {
			err = check(found)
		}
		i.found <- err
		// What comes behind the end of the archive is of no interest.
		_, _ = io.Copy(io.Discard, reader)
	}()
	return i
}

// Read implements io.Reader.
func (i *identifying) Read(p []byte) (int, error) {
	if i.last != nil {
		return 0, i.last
	}
	n, err := i.ReadCloser.Read(p)
	// The other side reads to the end, whatever it thinks of the content.
	_, _ = i.copy.Write(p[:n])
	if errors.Is(err, io.EOF) {
		_ = i.copy.Close()
		if wrong := <-i.found; wrong != nil {
			err = wrong
		}
		i.last = err
	}
	return n, err //nolint:wrapcheck // a reader hands on io.EOF as it is
}

// Close implements io.Closer.
func (i *identifying) Close() error {
	_ = i.copy.CloseWithError(io.ErrUnexpectedEOF)
	return i.ReadCloser.Close() //nolint:wrapcheck // nothing to add
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
	blob, err := r.open(ctx, version, resource.Access, 0)
	if err != nil {
		return nil, err
	}
	r.reported(blob, resource.Name)
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
		result.Value, err = artifactDigest(blob, ociAlgorithm(algorithm))
	default:
		err = fmt.Errorf("unknown normalisation of a content %q", normalisation)
	}
	return result, errors.Join(err, blob.Close())
}

func artifactDigest(blob *repository.Blob, algorithm digest.Algorithm) (string, error) {
	found := digest.Digest(blob.Digest)
	if found == "" {
		var err error
		if found, err = oci.SetDigest(blob); err != nil {
			return "", err //nolint:wrapcheck // tells what it did
		}
	}
	if found.Algorithm() != algorithm {
		return "", fmt.Errorf("the artifact has the digest %s, asked for is one of %s", found, algorithm)
	}
	return found.Encoded(), nil
}
