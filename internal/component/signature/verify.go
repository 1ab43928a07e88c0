package signature

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"go.landscaper.dev/internal/component/access"
	"go.landscaper.dev/internal/component/descriptor"
	"go.landscaper.dev/internal/component/repository"
)

// Verifier verifies signatures.
type Verifier struct {
	// Referenced finds the component version behind a reference, without
	// overwrites.
	Referenced func(ctx context.Context, from *repository.Version, reference *descriptor.Reference) (*repository.Version, error)
	// Digest takes the digest of the content of a resource.
	Digest func(ctx context.Context, version *repository.Version, resource *descriptor.Resource, hash, normalisation string) (*descriptor.Digest, error)
}

// Verify checks a signature of a component version: the digests of all contents
// and of all component versions that it refers to, and the signature itself.
func (v *Verifier) Verify(ctx context.Context, version *repository.Version, name string, trust Trust) error {
	if err := v.verify(ctx, version, name, trust); err != nil {
		return fmt.Errorf("failed verifying signature: %w", err)
	}
	return nil
}

func (v *Verifier) verify(ctx context.Context, version *repository.Version, name string, trust Trust) error {
	var signed *descriptor.Signature
	for i := range version.Signatures {
		if version.Signatures[i].Name == name {
			signed = &version.Signatures[i]
		}
	}
	if signed == nil {
		return fmt.Errorf("signature %q not found in component version %s:%s", name, version.Name, version.Version)
	}
	if _, err := access.Hash(signed.Digest.HashAlgorithm); err != nil {
		return err //nolint:wrapcheck // tells what is wrong
	}
	run := run{verifier: v, hash: signed.Digest.HashAlgorithm, normalisation: signed.Digest.NormalisationAlgorithm,
		done: map[string]string{}, nested: map[string]descriptor.NestedDigest{}}
	for _, nested := range version.NestedDigests {
		run.nested[nested.Name+":"+nested.Version] = nested
	}
	found, err := run.digest(ctx, version, run.kind())
	if err != nil {
		return err
	}
	if found != strings.ToLower(signed.Digest.Value) {
		return fmt.Errorf("signature digest (%s) does not match found digest (%s)", signed.Digest.Value, found)
	}
	if err := trust.check(signed); err != nil {
		return err
	}
	for _, pin := range run.pins {
		pin()
	}
	return nil
}

// DescriptorDigest returns the digest of a component version that is to be signed.
func (v *Verifier) DescriptorDigest(ctx context.Context, version *repository.Version, hash, normalisation string) (*descriptor.Digest, error) {
	run := run{verifier: v, hash: hash, normalisation: normalisation, done: map[string]string{}}
	found, err := run.digest(ctx, version, run.kind())
	if err != nil {
		return nil, err
	}
	return &descriptor.Digest{HashAlgorithm: hash, NormalisationAlgorithm: normalisation, Value: found}, nil
}

// run is one verification.
type run struct {
	verifier      *Verifier
	hash          string
	normalisation string
	// nested are the digests that the root has for what it refers to.
	nested map[string]descriptor.NestedDigest
	// done has the digests of component versions; "" while one is taken.
	done map[string]string
	// pins put digests that were verified where a descriptor has none, so that
	// later reads get the same content.
	pins []func()
}

// kind is how a digest is taken.
type kind struct{ hash, normalisation string }

// kind returns how digests are taken where nothing else is said.
func (r *run) kind() kind { return kind{r.hash, r.normalisation} }

// spelling returns the name of a hash as it was when the signature was made: where
// the signature uses an old name, all digests do.
func (r *run) spelling(hash string) string {
	if r.hash != strings.ToLower(r.hash) {
		return hash
	}
	return strings.ReplaceAll(strings.ToLower(hash), "-", "")
}

// digest takes the digest of a component version in which all digests are set to
// what was found.
func (r *run) digest(ctx context.Context, version *repository.Version, as kind) (string, error) {
	key := fmt.Sprintf("%s:%s %s %s", version.Name, version.Version, as.hash, as.normalisation)
	if found, begun := r.done[key]; begun {
		if found == "" {
			return "", fmt.Errorf("component version %s:%s refers to itself, so it has no digest", version.Name, version.Version)
		}
		return found, nil
	}
	r.done[key] = ""
	working := *version.Descriptor
	working.References = append([]descriptor.Reference{}, version.References...)
	working.Resources = append([]descriptor.Resource{}, version.Resources...)
	for i := range working.References {
		if err := r.reference(ctx, version, &working.References[i]); err != nil {
			return "", err
		}
	}
	for i := range working.Resources {
		if err := r.resource(ctx, version, &working.Resources[i]); err != nil {
			return "", err
		}
		if stored := &version.Resources[i]; stored.Digest == nil {
			r.pins = append(r.pins, func() { stored.Digest = working.Resources[i].Digest })
		}
	}
	normal, err := Normalise(&working, as.normalisation)
	if err != nil {
		return "", err
	}
	algorithm, err := access.Hash(as.hash)
	if err != nil {
		return "", err //nolint:wrapcheck // tells what is wrong
	}
	sum := algorithm.New()
	// A hash takes everything.
	_, _ = sum.Write(normal)
	found := hex.EncodeToString(sum.Sum(nil))
	r.done[key] = found
	return found, nil
}

// reference sets the digest of a reference to what was found.
func (r *run) reference(ctx context.Context, version *repository.Version, reference *descriptor.Reference) error {
	found, err := r.verifier.Referenced(ctx, version, reference)
	if err != nil {
		return err
	}
	expected, as := reference.Digest, r.kind()
	if nested, listed := r.nested[reference.ComponentName+":"+reference.Version]; listed && nested.Digest != nil {
		expected = nested.Digest
		as = kind{expected.HashAlgorithm, expected.NormalisationAlgorithm}
	}
	value, err := r.digest(ctx, found, as)
	if err != nil {
		return err
	}
	calculated := &descriptor.Digest{HashAlgorithm: r.spelling(as.hash), NormalisationAlgorithm: as.normalisation, Value: value}
	if sameKind(expected, calculated) && !strings.EqualFold(expected.Value, value) {
		return fmt.Errorf("calculated reference digest (%s) mismatches existing digest (%s) for %s:%s", value, expected.Value, reference.ComponentName, reference.Version)
	}
	reference.Digest = calculated
	return nil
}

// sameKind reports whether two digests can be compared. The hashes have two
// spellings.
func sameKind(a, b *descriptor.Digest) bool {
	if a == nil || b == nil || a.NormalisationAlgorithm != b.NormalisationAlgorithm {
		return false
	}
	left, errA := access.Hash(a.HashAlgorithm)
	right, errB := access.Hash(b.HashAlgorithm)
	return errA == nil && errB == nil && left == right
}

// resource sets the digest of a resource to what was found.
func (r *run) resource(ctx context.Context, version *repository.Version, resource *descriptor.Resource) error {
	if strings.EqualFold(resource.Access.Kind(), "none") {
		resource.Digest = nil
		return nil
	}
	expected := resource.Digest
	if expected.NoContent() {
		return nil
	}
	if nested := r.nestedResource(version, resource); nested != nil {
		expected = nested
	}
	// A digest that is there was signed as it is, whatever the hash of the signature.
	as := kind{hash: r.hash}
	if expected != nil {
		as = kind{expected.HashAlgorithm, expected.NormalisationAlgorithm}
	}
	calculated, err := r.verifier.Digest(ctx, version, resource, as.hash, as.normalisation)
	if err != nil {
		return fmt.Errorf("take the digest of resource %q of component version %s:%s: %w", resource.Name, version.Name, version.Version, err)
	}
	if sameKind(expected, calculated) && !strings.EqualFold(expected.Value, calculated.Value) {
		return fmt.Errorf("calculated resource digest (%s) mismatches existing digest (%s) for %s:%s (%s)", calculated.Value, expected.Value, resource.Name, resource.Version, resource.Type)
	}
	calculated.HashAlgorithm = r.spelling(calculated.HashAlgorithm)
	resource.Digest = calculated
	return nil
}

func (r *run) nestedResource(version *repository.Version, resource *descriptor.Resource) *descriptor.Digest {
	identity := descriptor.IdentityOf(*resource, version.Resources).String()
	for _, nested := range r.nested[version.Name+":"+version.Version].ResourceDigests {
		element := descriptor.Resource{Element: descriptor.Element{Name: nested.Name, Version: nested.Version, ExtraIdentity: nested.ExtraIdentity}}
		if descriptor.IdentityOf(element, nil).String() == identity && (nested.Version == "" || nested.Version == resource.Version) {
			return nested.Digest
		}
	}
	return nil
}

var errNothing = errors.New("no verifiable signature found")
