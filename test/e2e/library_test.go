package e2e

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"go.landscaper.dev/internal/cluster/egress"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/content/component/credential"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/oci"
	"go.landscaper.dev/internal/content/component/registry"
	"go.landscaper.dev/internal/content/component/repository"
	"go.landscaper.dev/internal/content/component/signature"
)

// delivery is a repository of components in the registry of the lab.
type delivery struct {
	t       *testing.T
	context descriptor.Typed
	spec    repository.Spec
	options component.Options
	store   *registry.Registry
}

func openDelivery(t *testing.T, path string) *delivery {
	t.Helper()
	authorities, err := os.ReadFile(env.Lab.Registry.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	d := &delivery{t: t, context: component.Context(repositoryContext(t, env.Lab.Registry.Address+path))}
	if d.spec, err = repository.ParseSpec(d.context); err != nil {
		t.Fatal(err)
	}
	d.options = component.Options{Default: d.context, Registry: registry.Options{Credentials: &credential.Store{}, Authorities: string(authorities)}}
	if err := d.options.Registry.Credentials.AddDockerConfig(dockerConfig(env.Lab.Registry.Password)); err != nil {
		t.Fatal(err)
	}
	d.store = registry.NewClient(registry.NewPool(egress.Policy{AllowLoopback: true}, registry.DefaultTimeouts()), d.options.Registry).Registry("", env.Lab.Registry.Address)
	return d
}

// manifest reads the manifest of a component version.
func (d *delivery) manifest(name, version string) *oci.Manifest {
	d.t.Helper()
	at, err := d.store.Resolve(d.t.Context(), d.spec.Repository(name), version)
	if err != nil {
		d.t.Fatal(err)
	}
	manifest, err := oci.ReadManifest(d.t.Context(), d.store, d.spec.Repository(name), at)
	if err != nil {
		d.t.Fatal(err)
	}
	return manifest
}

// digest takes the digest of a component version that is to be signed.
func (d *delivery) digest(name, version string) *descriptor.Digest {
	d.t.Helper()
	session := component.NewSession(component.NewSharedWith(egress.Policy{AllowLoopback: true}), d.options)
	defer session.Close() //nolint:errcheck // nothing is written
	found, err := session.Resolve(d.t.Context(), component.Reference{Name: name, Version: version})
	if err != nil {
		d.t.Fatal(err)
	}
	verifier := signature.Verifier{Digest: session.Reader().Digest}
	verifier.Referenced = func(ctx context.Context, from *repository.Version, reference *descriptor.Reference) (*repository.Version, error) {
		return session.Referenced(ctx, from, reference, d.context)
	}
	taken, err := verifier.DescriptorDigest(d.t.Context(), found, "SHA-256", signature.JSONv3)
	if err != nil {
		d.t.Fatal(err)
	}
	return taken
}

// attach stores signatures with a component version.
func (d *delivery) attach(name, version string, signatures ...descriptor.Signature) {
	d.t.Helper()
	session := component.NewSession(component.NewSharedWith(egress.Policy{AllowLoopback: true}), d.options)
	defer session.Close() //nolint:errcheck // nothing is written
	found, err := session.Resolve(d.t.Context(), component.Reference{Name: name, Version: version})
	if err != nil {
		d.t.Fatal(err)
	}
	found.Signatures = signatures
	text, err := found.EncodeYAML()
	if err != nil {
		d.t.Fatal(err)
	}
	packed, err := repository.PackDescriptor(text)
	if err != nil {
		d.t.Fatal(err)
	}
	manifest := d.manifest(name, version).Manifest
	layer := d.push(name, repository.MediaTypeDescriptor, packed)
	manifest.Layers[0] = layer
	manifest.Config = d.push(name, repository.MediaTypeConfig, d.encode(repository.ComponentConfig{DescriptorLayer: &layer}))
	at := d.push(name, ocispec.MediaTypeImageManifest, d.encode(manifest))
	if err := d.store.Tag(d.t.Context(), d.spec.Repository(name), at, version); err != nil {
		d.t.Fatal(err)
	}
}

func (d *delivery) encode(value any) []byte {
	d.t.Helper()
	raw, err := json.Marshal(value)
	if err != nil {
		d.t.Fatal(err)
	}
	return raw
}

func (d *delivery) push(name, mediaType string, content []byte) ocispec.Descriptor {
	d.t.Helper()
	described := ocispec.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(content), Size: int64(len(content))}
	if err := d.store.Push(d.t.Context(), d.spec.Repository(name), described, bytes.NewReader(content)); err != nil {
		d.t.Fatal(err)
	}
	return described
}

// signer has a key, and a certificate for it from an authority of its own.
type signer struct {
	t   *testing.T
	key *rsa.PrivateKey
	// public, leaf and authority are PEM.
	public, leaf, authority []byte
}

func newSigner(t *testing.T) *signer {
	t.Helper()
	newKey := func() *rsa.PrivateKey {
		key, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	encode := func(kind string, der []byte, err error) []byte {
		if err != nil {
			t.Fatal(err)
		}
		return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
	}
	root, key := newKey(), newKey()
	begin := time.Now().Add(-time.Hour)
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotBefore: begin, NotAfter: begin.Add(48 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "release"}, NotBefore: begin, NotAfter: begin.Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageCodeSigning},
	}
	s := &signer{t: t, key: key}
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	s.public = encode("PUBLIC KEY", der, err)
	der, err = x509.CreateCertificate(rand.Reader, authority, authority, &root.PublicKey, root)
	s.authority = encode("CERTIFICATE", der, err)
	der, err = x509.CreateCertificate(rand.Reader, leaf, authority, &key.PublicKey, root)
	s.leaf = encode("CERTIFICATE", der, err)
	return s
}

// plain is a signature that is checked with the public key.
func (s *signer) plain(name string, of *descriptor.Digest) descriptor.Signature {
	s.t.Helper()
	value, err := rsa.SignPKCS1v15(rand.Reader, s.key, crypto.SHA256, s.sum(of))
	if err != nil {
		s.t.Fatal(err)
	}
	return descriptor.Signature{Name: name, Digest: *of, Signature: descriptor.SignatureValue{
		Algorithm: signature.AlgorithmPKCS1, MediaType: "application/vnd.ocm.signature.rsa", Value: hex.EncodeToString(value),
	}}
}

// certified is a signature that brings its certificate.
func (s *signer) certified(name string, of *descriptor.Digest) descriptor.Signature {
	s.t.Helper()
	value, err := rsa.SignPSS(rand.Reader, s.key, crypto.SHA256, s.sum(of), nil)
	if err != nil {
		s.t.Fatal(err)
	}
	block := &pem.Block{Type: "SIGNATURE", Headers: map[string]string{"Signature Algorithm": signature.AlgorithmPSS}, Bytes: value}
	return descriptor.Signature{Name: name, Digest: *of, Signature: descriptor.SignatureValue{
		Algorithm: signature.AlgorithmPSS, MediaType: "application/x-pem-file", Value: string(pem.EncodeToMemory(block)) + string(s.leaf), Issuer: "CN=release",
	}}
}

func (s *signer) sum(of *descriptor.Digest) []byte {
	s.t.Helper()
	sum, err := hex.DecodeString(of.Value)
	if err != nil || len(sum) != sha256.Size {
		s.t.Fatalf("%d bytes, %v", len(sum), err)
	}
	return sum
}

// changed returns files of a component with a text replaced.
func changed(files map[string]string, name, old, replaced string) map[string]string {
	all := map[string]string{}
	for path, content := range files {
		all[path] = content
	}
	all[name] = strings.ReplaceAll(all[name], old, replaced)
	return all
}
