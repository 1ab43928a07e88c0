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

	"go.landscaper.dev/internal/content/component/archive"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/oci"
	"go.landscaper.dev/internal/content/component/repository"
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

// CheckNormalisation refuses a name that is not one of a way to take the digest of
// a content. Nothing can be compared with a digest of an unknown kind.
func CheckNormalisation(name string) error {
	switch name {
	case NormalisationBlob, NormalisationArtifact, oldArtifact:
		return nil
	}
	return fmt.Errorf("unknown normalisation of a content %q: %s and %s are known", name, NormalisationBlob, NormalisationArtifact)
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

// Exactly reads the content of a resource that must have a digest, whatever the descriptor says.
func (r *Reader) Exactly(ctx context.Context, version *repository.Version, resource *descriptor.Resource, want *descriptor.Digest, limit int64) ([]byte, string, error) {
	blob, err := r.Open(ctx, version, resource.Access)
	if err == nil {
		blob, err = compared(blob, want)
	}
	if err != nil {
		return nil, "", err
	}
	blob = r.reported(blob, resource.Name)
	defer blob.Close() //nolint:errcheck // nothing is written
	data, err := archive.ReadAll(blob, limit)
	return data, blob.MediaType, err
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
	if _, err := Hash(want.HashAlgorithm); err != nil {
		return nil, errors.Join(err, blob.Close())
	}
	if CheckNormalisation(want.NormalisationAlgorithm) != nil {
		return blob, nil //nolint:nilerr // nothing here can take such a digest; verifying a signature fails then
	}
	if want.NormalisationAlgorithm == NormalisationBlob && isCommit(resource.Access) {
		// Only a signature needs the digest to fit; then it is refused.
		return blob, nil
	}
	return compared(blob, want)
}

// compared checks a content whose digest must fit.
func compared(blob *repository.Blob, want *descriptor.Digest) (*repository.Blob, error) {
	algorithm, err := Hash(want.HashAlgorithm)
	if err == nil {
		err = CheckNormalisation(want.NormalisationAlgorithm)
	}
	if err != nil {
		return nil, errors.Join(err, blob.Close())
	}
	if want.NormalisationAlgorithm == NormalisationBlob {
		return checkedBlob(blob, algorithm, want.Value)
	}
	return checkedArtifact(blob, ociAlgorithm(algorithm), want.Value)
}

// Compare refuses a content that does not have a digest. For an artifact the digest may be that of
// its manifest, which was found with it; without data only the manifest counts.
func Compare(data []byte, manifest digest.Digest, want *descriptor.Digest) error {
	algorithm, err := Hash(want.HashAlgorithm)
	if err != nil {
		return err
	}
	if manifest != "" && manifest.Algorithm() == ociAlgorithm(algorithm) && strings.EqualFold(manifest.Encoded(), want.Value) {
		return nil
	}
	found := ociAlgorithm(algorithm).FromBytes(data)
	if data != nil && strings.EqualFold(found.Encoded(), want.Value) {
		return nil
	}
	if manifest != "" {
		found = manifest
	}
	return mismatch(found.String(), want.Value)
}

// checkedBlob checks the bytes of a content. For an artifact some tools give the digest of its
// manifest under the same name, since the bytes of the archive depend on the archiver; so that
// digest fits as well.
func checkedBlob(blob *repository.Blob, algorithm crypto.Hash, want string) (*repository.Blob, error) {
	if at := digest.Digest(blob.Digest); at != "" {
		if at.Algorithm() != ociAlgorithm(algorithm) || !strings.EqualFold(at.Encoded(), want) {
			return nil, errors.Join(mismatch(at.String(), want), blob.Close())
		}
		return blob, nil
	}
	bytes := &hashing{ReadCloser: blob.ReadCloser, hash: algorithm.New(), want: want}
	blob.ReadCloser = bytes
	if _, isSet := oci.IsSet(blob.MediaType); isSet {
		blob.ReadCloser = identify(bytes, func(found digest.Digest) error {
			if found.Algorithm() == ociAlgorithm(algorithm) && strings.EqualFold(found.Encoded(), want) {
				return nil
			}
			return mismatch(found.String(), want)
		})
		bytes.deferred = true
	}
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
		// Bytes behind the end of the archive are ignored.
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
		if bytes, both := i.ReadCloser.(*hashing); both && bytes.fits {
			// One of the two is enough.
			err = io.EOF
		} else if both && !errors.Is(err, io.EOF) && !errors.Is(err, oci.ErrDigest) {
			err = mismatch("that of no artifact", bytes.want)
		}
		i.last = err
	}
	return n, err // a reader returns io.EOF unwrapped
}

// Close implements io.Closer.
func (i *identifying) Close() error {
	_ = i.copy.CloseWithError(io.ErrUnexpectedEOF)
	return i.ReadCloser.Close()
}

// hashing checks the digest of what goes through it.
type hashing struct {
	io.ReadCloser
	hash hash.Hash
	want string
	// deferred leaves the rest of the decision to another check; fits is the result of this one.
	deferred, fits bool
}

// Read implements io.Reader.
func (h *hashing) Read(p []byte) (int, error) {
	n, err := h.ReadCloser.Read(p)
	// A hash takes everything.
	_, _ = h.hash.Write(p[:n])
	if errors.Is(err, io.EOF) {
		found := hex.EncodeToString(h.hash.Sum(nil))
		h.fits = found == strings.ToLower(h.want)
		if !h.fits && !h.deferred {
			return n, mismatch(found, h.want)
		}
	}
	return n, err // a reader returns io.EOF unwrapped
}

// Digest computes the digest of the content behind an access, in the given normalisation; ""
// chooses the one that suits the content.
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
		result.Value, err = blobDigest(blob, algorithm, resource.Digest)
	case NormalisationArtifact, oldArtifact:
		result.Value, err = artifactDigest(blob, ociAlgorithm(algorithm))
	default:
		err = fmt.Errorf("unknown normalisation of a content %q", normalisation)
	}
	return result, errors.Join(err, blob.Close())
}

// blobDigest takes the digest of the bytes of a content, or that of the artifact if
// that is what the descriptor has.
func blobDigest(blob *repository.Blob, algorithm crypto.Hash, stored *descriptor.Digest) (string, error) {
	if blob.Digest != "" {
		return artifactDigest(blob, ociAlgorithm(algorithm))
	}
	sum := algorithm.New()
	_, isSet := oci.IsSet(blob.MediaType)
	if !isSet || stored == nil {
		_, err := io.Copy(sum, blob)
		return hex.EncodeToString(sum.Sum(nil)), err // says what it did
	}
	found, err := oci.SetDigest(io.TeeReader(blob, sum))
	if err == nil && found.Algorithm() == ociAlgorithm(algorithm) && strings.EqualFold(found.Encoded(), stored.Value) {
		return found.Encoded(), nil
	}
	// A content that is not an artifact counts as bytes, whatever its media type says.
	_, err = io.Copy(sum, blob)
	return hex.EncodeToString(sum.Sum(nil)), err // says what it did
}

func artifactDigest(blob *repository.Blob, algorithm digest.Algorithm) (string, error) {
	found := digest.Digest(blob.Digest)
	if found == "" {
		var err error
		if found, err = oci.SetDigest(blob); err != nil {
			return "", err // says what it did
		}
	}
	if found.Algorithm() != algorithm {
		return "", fmt.Errorf("the artifact has the digest %s, asked for is one of %s", found, algorithm)
	}
	return found.Encoded(), nil
}
