package sign

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"github.com/sigstore/cosign/v3/pkg/cosign"
	"github.com/sigstore/cosign/v3/pkg/oci/static"
	"github.com/sigstore/sigstore/pkg/cryptoutils"
	"github.com/sigstore/sigstore/pkg/signature"

	"go.landscaper.dev/tools/release/artifact"
	"go.landscaper.dev/tools/release/chart"
	"go.landscaper.dev/tools/release/provenance"
	"go.landscaper.dev/tools/release/registrytest"
)

var at = time.Unix(1_700_000_000, 0)

// password is that of keys of cosign in these tests.
func password(bool) ([]byte, error) { return []byte("secret"), nil }

// newKey makes a key as cosign does.
func newKey(t *testing.T) *Key {
	t.Helper()
	pair, err := cosign.GenerateKeyPair(password)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ParseKey(pair.PrivateBytes, []byte("secret"))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// offline are the options of cosign with a key alone: no transparency log, no network.
func offline(t *testing.T, key *Key) *cosign.CheckOpts {
	t.Helper()
	public, err := key.Public()
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := cryptoutils.UnmarshalPEMToPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := signature.LoadVerifier(parsed, crypto.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	return &cosign.CheckOpts{SigVerifier: verifier, IgnoreTlog: true, Offline: true, ClaimVerifier: cosign.SimpleClaimVerifier}
}

// published is an artifact in the reference registry.
func published(t *testing.T, content string) (*artifact.Artifact, name.Reference) {
	t.Helper()
	made := artifact.New(registrytest.Start(t)+"/landscaper", "v1.2.3")
	push(t, fill(t, made, content))
	reference, err := name.ParseReference(made.Reference(), name.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	return made, reference
}

func push(t *testing.T, made *artifact.Artifact) {
	t.Helper()
	if err := made.Push(t.Context(), registrytest.Repository(t, made.Repository)); err != nil {
		t.Fatal(err)
	}
}

// TestImage: cosign verifies an image by the key that signed it, and by no other one.
func TestImage(t *testing.T) {
	key := newKey(t)
	made, reference := published(t, "content")
	signed, err := key.Image(t.Context(), made, at)
	if err != nil {
		t.Fatal(err)
	}
	push(t, signed)
	found, _, err := cosign.VerifyImageSignatures(t.Context(), reference, offline(t, key))
	if err != nil || len(found) != 1 {
		t.Errorf("%d signatures: %v", len(found), err)
	}
	if _, _, err := cosign.VerifyImageSignatures(t.Context(), reference, offline(t, newKey(t))); err == nil {
		t.Error("another key verifies the image")
	}
}

// TestExchangedImage: the signature of one image, put at the place of that of another one, does
// not verify the other one.
func TestExchangedImage(t *testing.T) {
	key := newKey(t)
	made, reference := published(t, "exchanged")
	other := fill(t, artifact.New(made.Repository, "v1.2.2"), "signed")
	signed, err := key.Image(t.Context(), other, at)
	if err != nil {
		t.Fatal(err)
	}
	signed.Tag = strings.Replace(made.Root.Digest.String(), ":", "-", 1) + ".sig"
	push(t, signed)
	if _, _, err := cosign.VerifyImageSignatures(t.Context(), reference, offline(t, key)); err == nil || !strings.Contains(err.Error(), "digest") {
		t.Errorf("%v", err)
	}
}

// TestExchangedChart: who can write to the registry puts a chart that names another image at the tag
// of the release, signed by a key of their own. Cosign refuses the tag for the key of the project,
// also if the genuine signature is put beside it, and still verifies the genuine chart by its digest.
func TestExchangedChart(t *testing.T) {
	key := newKey(t)
	released := chart.Chart{Folder: "../../../charts/landscaper", Version: "v1.2.3", Image: "registry.example.org/landscaper", Digest: digest.FromString("ours").String(), At: at}
	repository := registrytest.Start(t) + "/charts/landscaper"
	genuine := pushedChart(t, key, released, repository)
	exchanged := released
	exchanged.Version, exchanged.Image, exchanged.Digest = "v1.2.4", "registry.example.org/elsewhere", digest.FromString("another").String()
	other := pushedChart(t, newKey(t), exchanged, repository)
	if err := registrytest.Repository(t, repository).Tag(t.Context(), other.Root, genuine.Tag); err != nil {
		t.Fatal(err)
	}
	verify := func(reference string) error {
		parsed, err := name.ParseReference(reference, name.Insecure)
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = cosign.VerifyImageSignatures(t.Context(), parsed, offline(t, key))
		return err
	}
	if err := verify(repository + ":" + genuine.Tag); err == nil {
		t.Error("a chart that another key has signed is verified")
	}
	if err := verify(genuine.Reference()); err != nil {
		t.Errorf("the genuine chart is refused: %v", err)
	}
	signatures := func(of *artifact.Artifact) string {
		return strings.Replace(of.Root.Digest.String(), ":", "-", 1) + ".sig"
	}
	signature, err := registrytest.Repository(t, repository).Resolve(t.Context(), signatures(genuine))
	if err == nil {
		err = registrytest.Repository(t, repository).Tag(t.Context(), signature, signatures(other))
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := verify(repository + ":" + genuine.Tag); err == nil || !strings.Contains(err.Error(), "digest") {
		t.Errorf("with the signature of the genuine chart: %v", err)
	}
}

// pushedChart is a chart in a registry, with a signature.
func pushedChart(t *testing.T, key *Key, packed chart.Chart, repository string) *artifact.Artifact {
	t.Helper()
	made, err := packed.Artifact(t.Context(), repository)
	if err != nil {
		t.Fatal(err)
	}
	push(t, made)
	signed, err := key.Image(t.Context(), made, at)
	if err != nil {
		t.Fatal(err)
	}
	push(t, signed)
	return made
}

// TestAttestations: cosign verifies the statements about an image.
func TestAttestations(t *testing.T) {
	key := newKey(t)
	made, reference := published(t, "content")
	text, err := provenance.Statement(provenance.CycloneDX, []byte(`{"bomFormat":"CycloneDX"}`), provenance.OfArtifact(made))
	if err != nil {
		t.Fatal(err)
	}
	attested, err := key.Attest(t.Context(), made, at, Statement{provenance.CycloneDX, text})
	if err != nil {
		t.Fatal(err)
	}
	push(t, attested)
	options := offline(t, key)
	options.ClaimVerifier = cosign.IntotoSubjectClaimVerifier
	found, _, err := cosign.VerifyImageAttestations(t.Context(), reference, options)
	if err != nil || len(found) != 1 {
		t.Errorf("%d statements: %v", len(found), err)
	}
	options = offline(t, newKey(t))
	options.ClaimVerifier = cosign.IntotoSubjectClaimVerifier
	if _, _, err := cosign.VerifyImageAttestations(t.Context(), reference, options); err == nil {
		t.Error("another key verifies the statements")
	}
}

// TestBlob: cosign verifies a file, refuses a file that was changed, and the signature is the
// same each time.
func TestBlob(t *testing.T) {
	key := newKey(t)
	content := []byte("sums of files")
	signed, err := key.Signature(content)
	if err != nil {
		t.Fatal(err)
	}
	again, err := key.Signature(content)
	if err != nil || !bytes.Equal(signed, again) {
		t.Errorf("%s and %s: %v", signed, again, err)
	}
	verify := func(content []byte) error {
		blob, err := static.NewSignature(content, string(signed))
		if err != nil {
			t.Fatal(err)
		}
		options := offline(t, key)
		options.ClaimVerifier = nil
		_, err = cosign.VerifyBlobSignature(t.Context(), blob, options)
		return err
	}
	if err := verify(content); err != nil {
		t.Error(err)
	}
	if err := verify([]byte("sums of other files")); err == nil {
		t.Error("a file that was changed is accepted")
	}
}

func TestParseKey(t *testing.T) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	encode := func(kind string, der []byte, err error) []byte {
		if err != nil {
			t.Fatal(err)
		}
		return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
	}
	sec1, err1 := x509.MarshalECPrivateKey(private)
	pkcs8, err2 := x509.MarshalPKCS8PrivateKey(private)
	large, err3 := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err3 != nil {
		t.Fatal(err3)
	}
	p384, err3 := x509.MarshalPKCS8PrivateKey(large)
	pair, err := cosign.GenerateKeyPair(password)
	if err != nil {
		t.Fatal(err)
	}
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	rsaPKCS8, err4 := x509.MarshalPKCS8PrivateKey(rsaKey)
	for name, row := range map[string]struct {
		text, password []byte
		// wrong is what the error has to say; "" for a key that is read.
		wrong, reason string
	}{
		"openssl":             {text: encode("EC PRIVATE KEY", sec1, err1), reason: "openssl ecparam writes it"},
		"PKCS 8":              {text: encode("PRIVATE KEY", pkcs8, err2), reason: "secret stores keep it"},
		"cosign":              {text: pair.PrivateBytes, password: []byte("secret"), reason: "cosign generate-key-pair writes it"},
		"wrong password":      {text: pair.PrivateBytes, password: []byte("other"), wrong: "COSIGN_PASSWORD", reason: "the message has to name where it comes from"},
		"other curve":         {text: encode("PRIVATE KEY", p384, err3), wrong: "P-256", reason: "cosign would verify it with SHA-384"},
		"RSA":                 {text: encode("PRIVATE KEY", rsaPKCS8, err4), wrong: "ECDSA", reason: "its signatures are of another kind"},
		"public key":          {text: pair.PublicBytes, wrong: "PUBLIC KEY", reason: "the wrong one of the pair"},
		"no PEM":              {text: []byte("key"), wrong: "cosign generate-key-pair", reason: "the message has to say how to make one"},
		"broken PEM contents": {text: encode("PRIVATE KEY", []byte("x"), nil), wrong: "the key for signatures", reason: "the message has to name the key"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseKey(row.text, row.password)
			if (err == nil) != (row.wrong == "") || err != nil && !strings.Contains(err.Error(), row.wrong) {
				t.Errorf("%s: %v", row.reason, err)
			}
			if err != nil && len(row.password) > 0 && strings.Contains(err.Error(), string(row.password)) {
				t.Errorf("the error has the password: %v", err)
			}
		})
	}
}

// TestPublicKey: those who verify get the key in the form that cosign and openssl read.
func TestPublicKey(t *testing.T) {
	public, err := newKey(t).Public()
	if err != nil || !bytes.HasPrefix(public, []byte("-----BEGIN PUBLIC KEY-----")) {
		t.Errorf("%s, %v", public, err)
	}
	signed, err := newKey(t).Signature(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := base64.StdEncoding.DecodeString(string(signed)); err != nil {
		t.Error(err)
	}
}

// fill gives an artifact one layer.
func fill(t *testing.T, made *artifact.Artifact, content string) *artifact.Artifact {
	t.Helper()
	config, err := made.Add(t.Context(), ocispec.MediaTypeImageConfig, []byte("{}"))
	if err != nil {
		t.Fatal(err)
	}
	layer, err := made.Add(t.Context(), ocispec.MediaTypeImageLayer, []byte(content))
	if err != nil {
		t.Fatal(err)
	}
	if made.Root, err = made.AddManifest(t.Context(), ocispec.Manifest{Config: config, Layers: []ocispec.Descriptor{layer}}); err != nil {
		t.Fatal(err)
	}
	return made
}
