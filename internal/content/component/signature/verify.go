package signature

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"go.landscaper.dev/internal/content/component/access"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/repository"
)

// Verifier verifies signatures.
type Verifier struct {
	// Referenced finds the component version behind a reference, without
	// overwrites.
	Referenced func(ctx context.Context, from *repository.Version, reference *descriptor.Reference) (*repository.Version, error)
	// Digest takes the digest of the content of a resource.
	Digest func(ctx context.Context, version *repository.Version, resource *descriptor.Resource, hash, normalisation string) (*descriptor.Digest, error)
}

// Key names a component version.
type Key struct{ Name, Version string }

// Closure are the component versions whose digests a signature covers. They are
// what was verified; another object with the same name and version may not be.
type Closure map[Key]*repository.Version

// Verify checks a signature of a component version: the digests of all contents and of all
// component versions that it refers to, and the signature itself. From then on the versions that it
// returns have the digests that were found, so that a later reader of a content gets the verified
// content, or an error.
func (v *Verifier) Verify(ctx context.Context, version *repository.Version, name string, trust Trust) (Closure, error) {
	closure, err := v.verify(ctx, version, name, trust)
	if err != nil {
		return nil, fmt.Errorf("failed verifying signature: %w", err)
	}
	return closure, nil
}

func (v *Verifier) verify(ctx context.Context, version *repository.Version, name string, trust Trust) (Closure, error) {
	signed := find(version, name)
	if signed == nil {
		return nil, fmt.Errorf("signature %q not found in component version %s:%s: sign it, or ask for another signature", name, version.Name, version.Version)
	}
	if err := trust.Usable(); err != nil {
		return nil, fmt.Errorf("signature %q: %w", name, err)
	}
	if _, err := access.Hash(signed.Digest.HashAlgorithm); err != nil {
		return nil, err // says what is wrong
	}
	run := newRun(v, version, signed.Digest.HashAlgorithm, signed.Digest.NormalisationAlgorithm)
	for _, nested := range version.NestedDigests {
		run.nested[Key{nested.Name, nested.Version}] = nested
	}
	found, err := run.digest(ctx, version, run.kind())
	if err != nil {
		return nil, err
	}
	if found != strings.ToLower(signed.Digest.Value) {
		return nil, fmt.Errorf("signature digest (%s) does not match found digest (%s)", signed.Digest.Value, found)
	}
	if err := trust.check(signed); err != nil {
		return nil, err
	}
	for _, pin := range run.pins {
		pin.set()
	}
	return run.versions, nil
}

func find(version *repository.Version, name string) *descriptor.Signature {
	var signed *descriptor.Signature
	for i := range version.Signatures {
		if version.Signatures[i].Name == name {
			signed = &version.Signatures[i]
		}
	}
	return signed
}

// DescriptorDigest returns the digest of a component version that is to be signed.
func (v *Verifier) DescriptorDigest(ctx context.Context, version *repository.Version, hash, normalisation string) (*descriptor.Digest, error) {
	run := newRun(v, version, hash, normalisation)
	found, err := run.digest(ctx, version, run.kind())
	if err != nil {
		return nil, err
	}
	return &descriptor.Digest{HashAlgorithm: hash, NormalisationAlgorithm: normalisation, Value: found}, nil
}

// maxVersions bounds how many component versions a signature may cover.
const maxVersions = 10_000

// run is one verification.
type run struct {
	verifier      *Verifier
	hash          string
	normalisation string
	// nested are the digests that the root has for what it refers to.
	nested map[Key]descriptor.NestedDigest
	// versions are what names stand for. The first that was found for a name counts for all references
	// to it: otherwise two references that lead to different versions under one name could be checked
	// by the digest of one.
	versions Closure
	// done has the digests of component versions; "" while one is taken.
	done map[taken]string
	// pins put the digests that were found into the descriptors, so that later reads
	// get the same content. Nothing that a descriptor says about a digest stays: it
	// may have been compared with nothing.
	pins []pin
}

// pin are the digests of one component version.
type pin struct {
	version *repository.Version
	found   descriptor.Descriptor
}

func (p pin) set() {
	for i := range p.version.Resources {
		p.version.Resources[i].Digest = p.found.Resources[i].Digest
	}
	for i := range p.version.References {
		p.version.References[i].Digest = p.found.References[i].Digest
	}
}

// pin puts the digests into one component version.
func (r *run) pin(version *repository.Version) {
	for _, pin := range r.pins {
		if pin.version == version {
			pin.set()
		}
	}
}

func newRun(verifier *Verifier, root *repository.Version, hash, normalisation string) *run {
	return &run{
		verifier: verifier, hash: hash, normalisation: normalisation,
		nested: map[Key]descriptor.NestedDigest{}, done: map[taken]string{},
		versions: Closure{{root.Name, root.Version}: root},
	}
}

// taken is a digest of one object: a name is not enough.
type taken struct {
	version *repository.Version
	as      kind
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
	key := taken{version, as}
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
	}
	r.pins = append(r.pins, pin{version, working})
	normal, err := Normalise(&working, as.normalisation)
	if err != nil {
		return "", err
	}
	algorithm, err := access.Hash(as.hash)
	if err != nil {
		return "", err // says what is wrong
	}
	sum := algorithm.New()
	// A hash takes everything.
	_, _ = sum.Write(normal)
	found := hex.EncodeToString(sum.Sum(nil))
	r.done[key] = found
	return found, nil
}

// referenced returns the component version behind a reference.
func (r *run) referenced(ctx context.Context, from *repository.Version, reference *descriptor.Reference) (*repository.Version, error) {
	key := Key{reference.ComponentName, reference.Version}
	if known := r.versions[key]; known != nil {
		return known, nil
	}
	if len(r.versions) == maxVersions {
		return nil, fmt.Errorf("more than %d component versions belong to %s:%s", maxVersions, from.Name, from.Version)
	}
	found, err := r.verifier.Referenced(ctx, from, reference)
	if err != nil {
		return nil, err
	}
	r.versions[key] = found
	return found, nil
}

// reference sets the digest of a reference to what was found.
func (r *run) reference(ctx context.Context, version *repository.Version, reference *descriptor.Reference) error {
	found, err := r.referenced(ctx, version, reference)
	if err != nil {
		return err
	}
	as := r.kind()
	nested := r.nested[Key{reference.ComponentName, reference.Version}].Digest
	if nested != nil {
		as = kind{nested.HashAlgorithm, nested.NormalisationAlgorithm}
	}
	value, err := r.digest(ctx, found, as)
	if err != nil {
		return err
	}
	calculated := &descriptor.Digest{HashAlgorithm: r.spelling(as.hash), NormalisationAlgorithm: as.normalisation, Value: value}
	// The nested digests of the root are not signed: they do not replace the digest of the reference
	// itself.
	for _, expected := range []*descriptor.Digest{nested, reference.Digest} {
		if sameKind(expected, calculated) && !strings.EqualFold(expected.Value, value) {
			return fmt.Errorf("calculated reference digest (%s) mismatches existing digest (%s) for %s:%s", value, expected.Value, reference.ComponentName, reference.Version)
		}
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
	stored := resource.Digest
	if stored.NoContent() {
		return nil
	}
	nested := r.nestedResource(version, resource)
	// An existing digest was signed unchanged, whatever the hash of the signature.
	as := kind{hash: r.hash}
	for _, said := range []*descriptor.Digest{stored, nested} {
		if said != nil {
			as = kind{said.HashAlgorithm, said.NormalisationAlgorithm}
		}
	}
	if stored != nil || nested != nil {
		// Without one of these names the content could not be checked when it is read.
		if err := access.CheckNormalisation(as.normalisation); err != nil {
			return fmt.Errorf("the digest of resource %q of component version %s:%s: %w", resource.Name, version.Name, version.Version, err)
		}
	}
	calculated, err := r.verifier.Digest(ctx, version, resource, as.hash, as.normalisation)
	if err != nil {
		return fmt.Errorf("take the digest of resource %q of component version %s:%s: %w", resource.Name, version.Name, version.Version, err)
	}
	for _, expected := range []*descriptor.Digest{stored, nested} {
		if sameKind(expected, calculated) && !strings.EqualFold(expected.Value, calculated.Value) {
			hint := ""
			if access.PacksItself(resource.Access) {
				hint = ": another tool has packed the files of this access in another way; sign a component version that has them as a content of its own"
			}
			return fmt.Errorf("calculated resource digest (%s) mismatches existing digest (%s) for %s:%s (%s)%s", calculated.Value, expected.Value, resource.Name, resource.Version, resource.Type, hint)
		}
	}
	calculated.HashAlgorithm = r.spelling(calculated.HashAlgorithm)
	resource.Digest = calculated
	return nil
}

func (r *run) nestedResource(version *repository.Version, resource *descriptor.Resource) *descriptor.Digest {
	identity := descriptor.IdentityOf(*resource, version.Resources).String()
	for _, nested := range r.nested[Key{version.Name, version.Version}].ResourceDigests {
		element := descriptor.Resource{Element: descriptor.Element{Name: nested.Name, Version: nested.Version, ExtraIdentity: nested.ExtraIdentity}}
		if descriptor.IdentityOf(element, nil).String() == identity && (nested.Version == "" || nested.Version == resource.Version) {
			return nested.Digest
		}
	}
	return nil
}

var errNothing = errors.New("no verifiable signature found")
