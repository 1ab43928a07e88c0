package signature

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"math/big"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"go.landscaper.dev/internal/content/component/access"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/repository"
)

const sample = `
meta: {schemaVersion: v2}
component:
  name: example.org/shop/web
  version: 1.4.2
  provider: shop & co
  repositoryContexts: [{type: OCIRegistry, baseUrl: r.example.org}]
  labels: [{name: kept, value: {b: 1.0, a: "<x>"}, version: v1, signing: true, merge: {algorithm: x}}, {name: dropped, value: 1}]
  sources: [{name: code, version: "1", type: git, access: {type: none}}]
  componentReferences: [{name: db, componentName: example.org/shop/db, version: 3.1.0, labels: [{name: note, value: text}], digest: {hashAlgorithm: SHA-256, normalisationAlgorithm: alg, value: aa}}]
  resources:
  - {name: twin, version: "1", type: t, relation: local, access: {type: localBlob, localReference: one}, srcRefs: [{identitySelector: {name: code}}], digest: {hashAlgorithm: SHA-256, normalisationAlgorithm: genericBlobDigest/v1, value: bb}}
  - {name: twin, version: "2", type: t, relation: external, access: {type: none}, digest: {hashAlgorithm: SHA-256, normalisationAlgorithm: x, value: cc}}
signatures: [{name: s, digest: {hashAlgorithm: SHA-256, normalisationAlgorithm: alg, value: "00"}, signature: {algorithm: a, value: v, mediaType: m}}]
nestedDigests: [{name: example.org/shop/db, version: 3.1.0}]
`

func decode(t testing.TB, text string) *descriptor.Descriptor {
	t.Helper()
	d, err := descriptor.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestNormalise(t *testing.T) {
	const db = `{"componentName":"example.org/shop/db"},{"digest":[{"hashAlgorithm":"SHA-256"},{"normalisationAlgorithm":"alg"},{"value":"aa"}]}`
	const labelV1 = `{"labels":[[{"name":"kept"},{"signing":true},{"value":[{"a":"\u003cx\u003e"},{"b":1}]},{"version":"v1"}]]},{"name":"example.org/shop/web"}`
	const twinDigest = `{"digest":[{"hashAlgorithm":"SHA-256"},{"normalisationAlgorithm":"genericBlobDigest/v1"},{"value":"bb"}]}`
	model := func(firstExtra string) string {
		return `{"component":{"componentReferences":[{"componentName":"example.org/shop/db","digest":{"hashAlgorithm":"SHA-256","normalisationAlgorithm":"alg","value":"aa"},"labels":[{"name":"note","value":"text"}],"name":"db","version":"3.1.0"}],` +
			`"labels":[{"name":"kept","signing":true,"value":{"a":"<x>","b":1},"version":"v1"}],"name":"example.org/shop/web","provider":{"name":"shop & co"},` +
			`"resources":[{"digest":{"hashAlgorithm":"SHA-256","normalisationAlgorithm":"genericBlobDigest/v1","value":"bb"},` + firstExtra + `"name":"twin","relation":"local","type":"t","version":"1"},` +
			`{"name":"twin","relation":"external","type":"t","version":"2"}],"sources":[{"name":"code","type":"git","version":"1"}],"version":"1.4.2"}}`
	}
	for _, test := range []struct {
		reason, algorithm, schema, want string
	}{
		{"the stored form of schema v2: meta is part of it, sources are not; missing extra identity is null; only signed labels", JSONv1, descriptor.SchemaV2,
			`[{"component":[{"componentReferences":[[` + db + `,{"extraIdentity":null},{"name":"db"},{"version":"3.1.0"}]]},` + labelV1 +
				`,{"provider":"shop \u0026 co"},{"resources":[[` + twinDigest + `,{"extraIdentity":[{"version":"1"}]},{"name":"twin"},{"relation":"local"},{"type":"t"},{"version":"1"}],` +
				`[{"extraIdentity":null},{"name":"twin"},{"relation":"external"},{"type":"t"},{"version":"2"}]]},{"version":"1.4.2"}]},{"meta":[{"schemaVersion":"v2"}]}]`},
		{"the stored form of the third schema: sources are part of it, null is not", JSONv1, descriptor.SchemaV3Alpha1,
			`[{"apiVersion":"ocm.software/v3alpha1"},{"kind":"ComponentVersion"},{"metadata":[` + labelV1 + `,{"provider":[{"name":"shop \u0026 co"}]},{"version":"1.4.2"}]},` +
				`{"spec":[{"references":[[` + db + `,{"name":"db"},{"version":"3.1.0"}]]},{"resources":[[` + twinDigest + `,{"extraIdentity":[{"version":"1"}]},{"name":"twin"},{"relation":"local"},{"type":"t"},{"version":"1"}],` +
				`[{"name":"twin"},{"relation":"external"},{"type":"t"},{"version":"2"}]]},{"sources":[[{"name":"code"},{"type":"git"},{"version":"1"}]]}]}]`},
		{"the model: all labels of references", JSONv2, descriptor.SchemaV2, model(`"extraIdentity":{"version":"1"},`)},
		{"the model does not depend on the schema", JSONv2, descriptor.SchemaV3Alpha1, model(`"extraIdentity":{"version":"1"},`)},
		{"the third form does not tell twins apart", JSONv3, descriptor.SchemaV2, model("")},
		{"the fourth one is the third one", JSONv4Alpha1, descriptor.SchemaV2, model("")},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got, err := Normalise(decode(t, sample).As(test.schema), test.algorithm)
			if err != nil || string(got) != test.want {
				t.Errorf("%s (%v):\ngot  %s\nwant %s", test.reason, err, got, test.want)
			}
		})
	}
	empty, err := Normalise(decode(t, "meta: {schemaVersion: v2}\ncomponent: {name: example.org/a, version: 1.0.0, provider: p}"), JSONv3)
	if want := `{"component":{"componentReferences":[],"name":"example.org/a","provider":{"name":"p"},"resources":[],"sources":[],"version":"1.0.0"}}`; err != nil || string(empty) != want {
		t.Errorf("missing lists are empty: %s, %v", empty, err)
	}
	if _, err := Normalise(decode(t, sample), "other"); err == nil || !strings.Contains(err.Error(), `"other"`) {
		t.Errorf("got %v", err)
	}
}

// TestLabelsOfProviders: the first normal form of the third schema keeps them, also
// those that are not for signing.
func TestLabelsOfProviders(t *testing.T) {
	d := decode(t, `{apiVersion: ocm.software/v3alpha1, kind: ComponentVersion, metadata: {name: example.org/a, version: 1.0.0, provider: {name: p, labels: [{name: x, value: 1}]}}, spec: {}}`)
	got, err := Normalise(d, JSONv1)
	if err != nil || !strings.Contains(string(got), `{"provider":[{"labels":[[{"name":"x"},{"value":1}]]},{"name":"p"}]}`) {
		t.Errorf("%s, %v", got, err)
	}
	for algorithm, schema := range map[string]string{JSONv1: descriptor.SchemaV2, JSONv2: d.Schema, JSONv3: d.Schema} {
		t.Run(algorithm, func(t *testing.T) {
			if got, err := Normalise(d.As(schema), algorithm); err != nil || strings.Contains(string(got), "labels") {
				t.Errorf("%s: %s, %v", algorithm, got, err)
			}
		})
	}
}

func TestCanonical(t *testing.T) {
	for _, test := range []struct{ reason, in, want string }{
		{"small and large numbers as ECMAScript writes them", `[1e21,1E-7,0.000001,100000000000000000000,-0,1.50,333333333.33333329,4.5e-10]`, `[1e+21,1e-7,0.000001,100000000000000000000,0,1.5,333333333.3333333,4.5e-10]`},
		{"only what must be escaped is escaped", `["\u20ac$\u000f\u000aA'\u0042\u0022\u005c\\\"\/<&"]`, "[\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/<&\"]"},
		{"keys are sorted by their UTF-16 code units", `{"\ufb33":1,"\ud83d\ude00":2,"\u20ac":3,"1":4}`, "{\"1\":4,\"€\":3,\"😀\":2,\"\ufb33\":1}"},
		{"values without structure", `[true,false,null,{},[]]`, `[true,false,null,{},[]]`},
	} {
		t.Run(test.reason, func(t *testing.T) {
			var value any
			if err := json.Unmarshal([]byte(test.in), &value); err != nil {
				t.Fatal(err)
			}
			if got, err := canonical(value); err != nil || string(got) != test.want {
				t.Errorf("%s (%v):\ngot  %s\nwant %s", test.reason, err, got, test.want)
			}
		})
	}
}

// signer signs descriptors in tests.
type signer struct {
	key  *rsa.PrivateKey
	leaf []byte
	// web is a certificate for a web server, with the same key.
	web   []byte
	root  []byte
	pub   []byte
	other []byte
}

func newSigner(t *testing.T) signer {
	t.Helper()
	newKey := func() *rsa.PrivateKey {
		key, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	public := func(key *rsa.PrivateKey) []byte {
		der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
		if err != nil {
			t.Fatal(err)
		}
		return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	}
	certificate := func(template, parent *x509.Certificate, key *rsa.PrivateKey, by *rsa.PrivateKey) []byte {
		der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, by)
		if err != nil {
			t.Fatal(err)
		}
		return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	}
	rootKey, leafKey := newKey(), newKey()
	begin := time.Now().Add(-48 * time.Hour)
	root := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "root"}, NotBefore: begin.Add(-time.Hour), NotAfter: begin.Add(100 * time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	// The certificate has expired since: a signature outlives it.
	leaf := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "release", Organization: []string{"shop"}}, NotBefore: begin, NotAfter: begin.Add(time.Hour), KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageCodeSigning}}
	web := *leaf
	web.SerialNumber, web.ExtKeyUsage = big.NewInt(3), []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	return signer{key: leafKey, pub: public(leafKey), other: public(rootKey),
		root: certificate(root, root, rootKey, rootKey), leaf: certificate(leaf, root, leafKey, rootKey), web: certificate(&web, root, leafKey, rootKey)}
}

func (s signer) sign(t *testing.T, d *descriptor.Digest, algorithm, mediaType, issuer string) descriptor.Signature {
	t.Helper()
	hash, err := access.Hash(d.HashAlgorithm)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := hex.DecodeString(d.Value)
	if err != nil {
		t.Fatal(err)
	}
	value, err := rsa.SignPKCS1v15(rand.Reader, s.key, hash, sum)
	if algorithm == AlgorithmPSS {
		value, err = rsa.SignPSS(rand.Reader, s.key, hash, sum, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	text := hex.EncodeToString(value)
	if mediaType == mediaTypePEM {
		block := &pem.Block{Type: "SIGNATURE", Headers: map[string]string{"Signature Algorithm": algorithm}, Bytes: value}
		text = string(pem.EncodeToMemory(block)) + string(s.leaf)
	}
	return descriptor.Signature{Name: "release", Digest: *d, Signature: descriptor.SignatureValue{Algorithm: algorithm, Value: text, MediaType: mediaType, Issuer: issuer}}
}

// world is a component with another one behind it, with contents in memory.
type world struct {
	root, db *repository.Version
	files    fstest.MapFS
	verifier *Verifier
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{files: fstest.MapFS{"one": {Data: []byte("first")}, "two": {Data: []byte("second")}}}
	version := func(text string) *repository.Version {
		d := decode(t, text)
		found, err := repository.Inline([]*descriptor.Descriptor{d}, w.files).Lookup(t.Context(), d.Name, d.Version)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	w.root = version(`{meta: {schemaVersion: v2}, component: {name: example.org/shop/web, version: 1.0.0, provider: p,
	  resources: [{name: one, version: "1", type: t, relation: local, access: {type: localBlob, localReference: one}}, {name: out, version: "1", type: t, access: {type: strange},
	    digest: {hashAlgorithm: NO-DIGEST, normalisationAlgorithm: EXCLUDE-FROM-SIGNATURE, value: NO-DIGEST}}],
	  componentReferences: [{name: db, componentName: example.org/shop/db, version: 1.0.0}]}}`)
	w.db = version(`{meta: {schemaVersion: v2}, component: {name: example.org/shop/db, version: 1.0.0, provider: p,
	  resources: [{name: two, version: "1", type: t, relation: local, access: {type: localBlob, localReference: two}}]}}`)
	reader := &access.Reader{}
	w.verifier = &Verifier{Digest: reader.Digest, Referenced: func(_ context.Context, _ *repository.Version, reference *descriptor.Reference) (*repository.Version, error) {
		if reference.ComponentName == w.root.Name {
			return w.root, nil
		}
		return w.db, nil
	}}
	return w
}

func TestVerify(t *testing.T) {
	s := newSigner(t)
	key, chain := Trust{PublicKey: s.pub}, Trust{Authorities: s.root}
	for _, test := range []struct {
		reason, hash, normalisation, algorithm, mediaType, issuer string
		trust                                                     Trust
		change                                                    func(*world)
		want                                                      string
	}{
		{"the older algorithm", "SHA-256", JSONv1, AlgorithmPKCS1, mediaTypeRSA, "", key, nil, ""},
		{"PSS and the longer hash", "SHA-512", JSONv2, AlgorithmPSS, mediaTypePSS, "", key, nil, ""},
		{"the old spelling of the hash", "sha256", JSONv3, AlgorithmPKCS1, mediaTypeRSA, "", key, nil, ""},
		{"a certificate instead of a key", "SHA-256", JSONv3, AlgorithmPSS, mediaTypePEM, "CN=release,O=shop", chain, nil, ""},
		{"a key, although there is a certificate", "SHA-256", JSONv3, AlgorithmPKCS1, mediaTypePEM, "", key, nil, ""},
		{"another key", "SHA-256", JSONv1, AlgorithmPKCS1, mediaTypeRSA, "", Trust{PublicKey: s.other}, nil, "was not made with this key"},
		{"no key for a plain signature", "SHA-256", JSONv1, AlgorithmPKCS1, mediaTypeRSA, "", chain, nil, "public key from signature"},
		{"a certificate of another issuer", "SHA-256", JSONv1, AlgorithmPKCS1, mediaTypePEM, "CN=other", chain, nil, "names the issuer"},
		{"a certificate of an unknown authority", "SHA-256", JSONv1, AlgorithmPKCS1, mediaTypePEM, "", Trust{Authorities: s.web}, nil, "is not trusted"},
		{"no key is trusted by default, nor the authorities of web servers", "SHA-256", JSONv1, AlgorithmPKCS1, mediaTypePEM, "", Trust{}, nil, "neither a public key nor a certificate authority"},
		{"an empty key is not a key", "SHA-256", JSONv1, AlgorithmPKCS1, mediaTypePEM, "", Trust{PublicKey: []byte(" \n")}, nil, "neither a public key nor a certificate authority"},
		{"a certificate for whom it must be for", "SHA-256", JSONv3, AlgorithmPSS, mediaTypePEM, "", Trust{Authorities: s.root, Issuer: "CN=release,O=shop"}, nil, ""},
		{"a certificate of the same authority for another subject", "SHA-256", JSONv3, AlgorithmPSS, mediaTypePEM, "", Trust{Authorities: s.root, Issuer: "CN=other"}, nil, `not by "CN=other"`},
		{"an invalid key", "SHA-256", JSONv1, AlgorithmPKCS1, mediaTypeRSA, "", Trust{PublicKey: []byte("s3cr3t")}, nil, "failed parsing public key data"},
		{"an unknown media type", "SHA-256", JSONv1, AlgorithmPKCS1, "text/plain", "", key, nil, "invalid signature mediaType"},
		{"changed content", "SHA-256", JSONv1, AlgorithmPKCS1, mediaTypeRSA, "", key, func(w *world) { w.files["one"].Data = []byte("evil!") }, "does not match found digest"},
		{"changed content of a referenced component", "SHA-256", JSONv1, AlgorithmPKCS1, mediaTypeRSA, "", key, func(w *world) { w.files["two"].Data = []byte("evil!") }, "does not match found digest"},
		{"a changed reference", "SHA-256", JSONv3, AlgorithmPKCS1, mediaTypeRSA, "", key, func(w *world) { w.root.References[0].Name = "other" }, "does not match found digest"},
		{"a content that does not have its digest", "SHA-256", JSONv1, AlgorithmPKCS1, mediaTypeRSA, "", key, func(w *world) {
			w.root.Resources[0].Digest = &descriptor.Digest{HashAlgorithm: "SHA-256", NormalisationAlgorithm: access.NormalisationBlob, Value: "00"}
		}, "mismatches existing digest (00) for one:1"},
		{"a digest that another tool took of an archive of its own", "SHA-256", JSONv1, AlgorithmPKCS1, mediaTypeRSA, "", key, func(w *world) {
			w.root.Resources[0].Access = descriptor.Typed(`{"type":"git/v1"}`)
			w.root.Resources[0].Digest = &descriptor.Digest{HashAlgorithm: "SHA-256", NormalisationAlgorithm: access.NormalisationBlob, Value: "00"}
			w.verifier = &Verifier{Referenced: w.verifier.Referenced, Digest: func(context.Context, *repository.Version, *descriptor.Resource, string, string) (*descriptor.Digest, error) {
				return &descriptor.Digest{HashAlgorithm: "SHA-256", NormalisationAlgorithm: access.NormalisationBlob, Value: "11"}, nil
			}}
		}, "another tool has packed the files of this access in another way"},
		{"a reference that does not have its digest", "SHA-256", JSONv1, AlgorithmPKCS1, mediaTypeRSA, "", key, func(w *world) {
			w.root.References[0].Digest = &descriptor.Digest{HashAlgorithm: "SHA-256", NormalisationAlgorithm: JSONv1, Value: "00"}
		}, "mismatches existing digest (00) for example.org/shop/db:1.0.0"},
		{"nested digests of the root count for what is behind it", "SHA-256", JSONv1, AlgorithmPKCS1, mediaTypeRSA, "", key, func(w *world) {
			w.root.NestedDigests = []descriptor.NestedDigest{{Name: w.db.Name, Version: "1.0.0", ResourceDigests: []descriptor.ResourceDigest{{
				Name: "two", Version: "1", Digest: &descriptor.Digest{HashAlgorithm: "SHA-256", NormalisationAlgorithm: access.NormalisationBlob, Value: "00"},
			}}}}
		}, "mismatches existing digest (00) for two:1"},
		{"a cycle has no digest", "SHA-256", JSONv1, AlgorithmPKCS1, mediaTypeRSA, "", key, func(w *world) {
			w.db.References = []descriptor.Reference{{Element: descriptor.Element{Name: "up"}, ComponentName: w.root.Name}}
		}, "refers to itself"},
		{"no signature of the name", "SHA-256", JSONv1, AlgorithmPKCS1, mediaTypeRSA, "", key, func(w *world) { w.root.Signatures = nil }, `signature "release" not found`},
		{"an unknown hash", "SHA-256", JSONv1, AlgorithmPKCS1, mediaTypeRSA, "", key, func(w *world) { w.root.Signatures[0].Digest.HashAlgorithm = "MD5" }, "unknown hash algorithm"},
		{"an unknown algorithm", "SHA-256", JSONv1, AlgorithmPKCS1, mediaTypeRSA, "", key, func(w *world) { w.root.Signatures[0].Signature.Algorithm = "sigstore" }, "no verifiable signature found"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			w := newWorld(t)
			d, err := w.verifier.DescriptorDigest(t.Context(), w.root, test.hash, test.normalisation)
			if err != nil {
				t.Fatalf("%v", err)
			}
			w.root.Signatures = []descriptor.Signature{s.sign(t, d, test.algorithm, test.mediaType, test.issuer)}
			if test.change != nil {
				test.change(w)
			}
			_, err = w.verifier.Verify(t.Context(), w.root, "release", test.trust)
			if test.want == "" {
				if err != nil {
					t.Errorf("%v", err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "failed verifying signature: ") || strings.Contains(err.Error(), "s3cr3t") {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// TestWebServersDoNotSign: an authority that issues certificates to web servers does
// not make signers of them.
func TestWebServersDoNotSign(t *testing.T) {
	s, w := newSigner(t), newWorld(t)
	s.leaf = s.web
	d, err := w.verifier.DescriptorDigest(t.Context(), w.root, "SHA-256", JSONv3)
	if err != nil {
		t.Fatal(err)
	}
	w.root.Signatures = []descriptor.Signature{s.sign(t, d, AlgorithmPKCS1, mediaTypePEM, "")}
	if _, err := w.verifier.Verify(t.Context(), w.root, "release", Trust{Authorities: s.root}); err == nil || !strings.Contains(err.Error(), "code signing") {
		t.Errorf("got %v", err)
	}
}

// TestDigestsKeepTheirHash: the digest of a content is part of what was signed as
// it stands in the descriptor, whatever the hash of the signature.
func TestDigestsKeepTheirHash(t *testing.T) {
	const sha256Of = "a7937b64b8caa58f03721bb6bacf5c78cb235febe0e70b1b84cd99541461a08e" // "first"
	for _, test := range []struct{ reason, signature, stored, want string }{
		{"equal hashes", "SHA-256", "SHA-256", "SHA-256"},
		{"another hash", "SHA-512", "SHA-256", "SHA-256"},
		{"an old spelling in the descriptor", "SHA-256", "sha256", "sha256"},
		{"an old spelling in the signature", "sha256", "SHA-256", "sha256"},
		{"another hash with an old spelling", "sha512", "SHA-256", "sha256"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			w := newWorld(t)
			w.root.References = nil
			w.root.Resources = w.root.Resources[:1]
			w.root.Resources[0].Digest = &descriptor.Digest{HashAlgorithm: test.stored, NormalisationAlgorithm: access.NormalisationBlob, Value: sha256Of}
			got, err := w.verifier.DescriptorDigest(t.Context(), w.root, test.signature, JSONv3)
			if err != nil {
				t.Errorf("%v", err)
				return
			}
			w.root.Resources[0].Digest.HashAlgorithm = test.want
			normal, err := Normalise(w.root.Descriptor, JSONv3)
			if err != nil {
				t.Fatal(err)
			}
			hash, err := access.Hash(test.signature)
			if err != nil {
				t.Fatal(err)
			}
			sum := hash.New()
			_, _ = sum.Write(normal)
			if want := hex.EncodeToString(sum.Sum(nil)); got.Value != want {
				t.Errorf("what is signed is not %s", normal)
			}
		})
	}
}

// TestSwappedAfterVerification: what was verified is what is used, whatever a
// descriptor says about digests besides.
func TestSwappedAfterVerification(t *testing.T) {
	digestOf := func(text string) *descriptor.Digest {
		sum := sha256.Sum256([]byte(text))
		return &descriptor.Digest{HashAlgorithm: "SHA-256", NormalisationAlgorithm: access.NormalisationBlob, Value: hex.EncodeToString(sum[:])}
	}
	blind := func(w *world) *descriptor.Resource {
		w.root.Resources[0].Digest = &descriptor.Digest{HashAlgorithm: "SHA-256", Value: strings.Repeat("0", 64)}
		return &w.root.Resources[0]
	}
	for _, test := range []struct {
		reason string
		// change is what an attacker does to the descriptors after the signature.
		change func(w *world) *descriptor.Resource
		// refused is what the verification itself says; else the later read fails.
		refused string
	}{
		{"no digest at all", func(w *world) *descriptor.Resource { return &w.root.Resources[0] }, ""},
		{"a digest whose kind has no name", blind, `unknown normalisation of a content ""`},
		{"a digest of an unknown kind", func(w *world) *descriptor.Resource {
			resource := blind(w)
			resource.Digest.NormalisationAlgorithm = "trustMe/v1"
			return resource
		}, `"trustMe/v1"`},
		{"a forged digest behind an honest one among the nested digests, which are not signed", func(w *world) *descriptor.Resource {
			w.db.Resources[0].Digest = digestOf("swapped")
			w.root.NestedDigests = []descriptor.NestedDigest{{Name: w.db.Name, Version: "1.0.0", ResourceDigests: []descriptor.ResourceDigest{{Name: "two", Version: "1", Digest: digestOf("second")}}}}
			return &w.db.Resources[0]
		}, "mismatches existing digest"},
		{"a forged digest with another hash, which cannot be compared", func(w *world) *descriptor.Resource {
			sum := sha512.Sum512([]byte("swapped"))
			w.db.Resources[0].Digest = &descriptor.Digest{HashAlgorithm: "SHA-512", NormalisationAlgorithm: access.NormalisationBlob, Value: hex.EncodeToString(sum[:])}
			w.root.NestedDigests = []descriptor.NestedDigest{{Name: w.db.Name, Version: "1.0.0", ResourceDigests: []descriptor.ResourceDigest{{Name: "two", Version: "1", Digest: digestOf("second")}}}}
			return &w.db.Resources[0]
		}, ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			s, w := newSigner(t), newWorld(t)
			d, err := w.verifier.DescriptorDigest(t.Context(), w.root, "SHA-256", JSONv1)
			if err != nil {
				t.Fatal(err)
			}
			w.root.Signatures = []descriptor.Signature{s.sign(t, d, AlgorithmPKCS1, mediaTypeRSA, "")}
			resource := test.change(w)
			closure, err := w.verifier.Verify(t.Context(), w.root, "release", Trust{PublicKey: s.pub})
			if test.refused != "" {
				if err == nil || !strings.Contains(err.Error(), test.refused) {
					t.Errorf("got %v, want %q", err, test.refused)
				}
				return
			}
			if err != nil || closure[Key{w.db.Name, "1.0.0"}] != w.db || closure[Key{w.root.Name, "1.0.0"}] != w.root || len(closure) != 2 {
				t.Fatalf("%v, %v", closure, err)
			}
			w.files["one"].Data, w.files["two"].Data = []byte("swapped"), []byte("swapped")
			_, _, err = (&access.Reader{}).Read(t.Context(), closure[Key{w.db.Name, "1.0.0"}], resource, 100)
			if err == nil || !strings.Contains(err.Error(), "mismatches existing digest") {
				t.Errorf("a content that was swapped after the verification was read: %v", err)
			}
			if errors.Is(err, context.Canceled) || bytes.Contains([]byte(err.Error()), []byte("swapped")) {
				t.Errorf("the message shows the content: %v", err)
			}
		})
	}
}

// TestTwoWaysToOneName: the same name may lead to different component versions, by
// a label that is not signed. Only one of them may be what it stands for.
func TestTwoWaysToOneName(t *testing.T) {
	s := newSigner(t)
	for _, test := range []struct {
		reason string
		evilAt string
		want   string
	}{
		{"the first way leads to the signed one, so the second way does as well", "again", ""},
		{"the first way leads to another one, which is not what was signed", "db", "does not match found digest"},
	} {
		t.Run(test.reason, func(t *testing.T) { twoWays(t, s, test.evilAt, test.want) })
	}
}

// twoWays verifies a component with two references to one name, of which one leads
// to something else since it was signed.
func twoWays(t *testing.T, s signer, evilAt, want string) {
	t.Helper()
	w := newWorld(t)
	w.root.References = append(w.root.References, descriptor.Reference{Element: descriptor.Element{Name: "again"}, ComponentName: w.db.Name})
	w.root.References[1].Version = w.db.Version
	d, err := w.verifier.DescriptorDigest(t.Context(), w.root, "SHA-256", JSONv1)
	if err != nil {
		t.Fatal(err)
	}
	w.root.Signatures = []descriptor.Signature{s.sign(t, d, AlgorithmPKCS1, mediaTypeRSA, "")}
	evil := *w.db.Descriptor
	evil.Resources = []descriptor.Resource{{Element: descriptor.Element{Name: "two", Version: "1"}, Type: "t", Relation: "local", Access: descriptor.Typed(`{"type":"localBlob","localReference":"evil"}`)}}
	w.files["evil"] = &fstest.MapFile{Data: []byte("evil")}
	other := *w.db
	other.Descriptor = &evil
	honest := w.verifier.Referenced
	w.verifier.Referenced = func(ctx context.Context, from *repository.Version, reference *descriptor.Reference) (*repository.Version, error) {
		if reference.Name == evilAt {
			return &other, nil
		}
		return honest(ctx, from, reference)
	}
	closure, err := w.verifier.Verify(t.Context(), w.root, "release", Trust{PublicKey: s.pub})
	if want != "" {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v", err)
		}
		return
	}
	if err != nil || closure[Key{w.db.Name, w.db.Version}] != w.db {
		t.Errorf("%v, %v", closure, err)
	}
}
