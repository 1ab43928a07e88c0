package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// publishSigned publishes the shop twice: in /signed with the signatures release and
// chain, and in /tampered with the same signatures but another blueprint. /delivery
// has it without signatures.
func publishSigned(t *testing.T, by *signer) {
	t.Helper()
	const name, version = "example.org/shop", "1.0.0"
	publish(t, "/delivery")
	// All contents are signed, also those elsewhere; this one takes the place of an image.
	signable := changed(shop, "constructor.yaml", "registry.example.org/images/shop:2.7.0", env.Lab.Registry.Address+"/delivery/component-descriptors/example.org/base:1.0.0")
	publishFiles(t, "/signed", signable)
	publishFiles(t, "/tampered", changed(signable, "blueprint/deploy.yaml", "name: shop,", "name: shop, labels: {tampered: yes},"))
	signed := openDelivery(t, "/signed")
	digest := signed.digest(name, version)
	release, chain := by.plain("release", digest), by.certified("chain", digest)
	signed.attach(name, version, release, chain)
	openDelivery(t, "/tampered").attach(name, version, release, chain)
}

// signedSpace is a namespace with a Context that knows whom to trust.
func signedSpace(t *testing.T, path string, by *signer) string {
	t.Helper()
	space := namespace(t)
	shopContext(t, space, path, env.Lab.Registry.Password)
	shopImports(t, space, 3)
	trust(t, space, by)
	return space
}

// trust lets the Context of a namespace know whom to trust.
func trust(t *testing.T, space string, by *signer) {
	t.Helper()
	createAll(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "trust"}, Data: map[string][]byte{"key": by.public, "ca": by.authority}})
	landscape := &v1alpha1.Context{}
	if err := env.Admin.Get(t.Context(), client.ObjectKey{Namespace: space, Name: "vendor"}, landscape); err != nil {
		t.Fatal(err)
	}
	reference := func(key string) *v1alpha1.SecretReference {
		return &v1alpha1.SecretReference{ObjectReference: v1alpha1.ObjectReference{Name: "trust"}, Key: key}
	}
	landscape.VerificationSignatures = map[string]v1alpha1.VerificationSignature{
		"release": {PublicKeySecretReference: reference("key")},
		"chain":   {CaCertificateSecretReference: reference("ca")},
	}
	if err := env.Admin.Update(t.Context(), landscape); err != nil {
		t.Fatal(err)
	}
}

func signedInstallation(space, signature string) *v1alpha1.Installation {
	inst := shopInstallation(space, "1.0.0")
	if signature != "" {
		inst.Spec.Verification = &v1alpha1.Verification{SignatureName: signature}
	}
	return inst
}

// checkFailed waits for the end of a job and checks what its error says.
func checkFailed(t *testing.T, inst *v1alpha1.Installation, reason string, wants ...string) {
	t.Helper()
	failed := waitFinished(t, inst, "")
	if failed.Status.InstallationPhase != v1alpha1.InstallationPhases.Failed || failed.Status.LastError == nil {
		t.Fatalf("phase %s, error %+v", failed.Status.InstallationPhase, failed.Status.LastError)
	}
	if reason != "" && failed.Status.LastError.Reason != reason {
		t.Errorf("reason %s, want %s", failed.Status.LastError.Reason, reason)
	}
	for _, want := range wants {
		if !strings.Contains(failed.Status.LastError.Message, want) {
			t.Errorf("%q is not in\n%s", want, failed.Status.LastError.Message)
		}
	}
	err := env.Workload.Get(t.Context(), client.ObjectKey{Namespace: inst.Namespace, Name: "shop"}, &corev1.ConfigMap{})
	if !apierrors.IsNotFound(err) {
		t.Errorf("something was deployed: %v", err)
	}
}

// TestSignature verifies components that were really signed.
func TestSignature(t *testing.T) {
	trusted, other := newSigner(t), newSigner(t)
	publishSigned(t, trusted)
	registryServer(t)
	tests := []struct {
		reason, path, signature string
		trust                   *signer
		wantReason              string
		wants                   []string
	}{
		{"a public key", "/signed", "release", trusted, "", nil},
		{"a certificate authority", "/signed", "chain", trusted, "", nil},
		{"the key of another signer", "/signed", "release", other, "VerifySignature", []string{"spec.verification", `signature "release" was not made with this key`}},
		{"an authority that has not issued the certificate", "/signed", "chain", other, "VerifySignature", []string{"is not trusted"}},
		{"a blueprint that was exchanged after signing", "/tampered", "release", trusted, "VerifySignature", []string{"does not match found digest"}},
		{"a component that is not signed", "/delivery", "release", trusted, "VerifySignature", []string{`signature "release" not found in component version example.org/shop:1.0.0`}},
		{"a name that the Context does not know", "/signed", "other", trusted, "ExtractVerifyInfo", []string{"Context vendor", `signature name "other"`}},
		{"a component whose signature is not verified", "/tampered", "", trusted, "", nil},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			inst := create(t, signedInstallation(signedSpace(t, test.path, test.trust), test.signature))
			if test.wantReason == "" {
				waitSucceeded(t, inst)
				return
			}
			checkFailed(t, inst, test.wantReason, test.wants...)
		})
	}
}

// TestSignaturePolicy shows what the administrator can decide.
func TestSignaturePolicy(t *testing.T) {
	trusted := newSigner(t)
	publishSigned(t, trusted)
	t.Run("Enforce", func(t *testing.T) {
		key := filepath.Join(t.TempDir(), "key.pem")
		if err := os.WriteFile(key, trusted.public, 0o600); err != nil {
			t.Fatal(err)
		}
		registryServer(t, "signatureVerificationEnforcementPolicy: Enforce", "signatureVerification: {keys: {release: {publicKey: "+key+"}}}")
		t.Run("a signed component", func(t *testing.T) {
			waitSucceeded(t, create(t, signedInstallation(signedSpace(t, "/signed", trusted), "release")))
		})
		t.Run("a key of the Context does not count", func(t *testing.T) {
			checkFailed(t, create(t, signedInstallation(signedSpace(t, "/signed", trusted), "chain")), "ExtractVerifyInfo", "signatureVerification.keys")
		})
		t.Run("an Installation that does not ask for a signature", func(t *testing.T) {
			checkFailed(t, create(t, signedInstallation(signedSpace(t, "/signed", trusted), "")), "ExtractVerifyInfo", "set spec.verification.signatureName")
		})
		t.Run("an Installation without a component", func(t *testing.T) {
			inst := newInstallation(namespace(t), "shop", oneConfigMap)
			inst.Spec.Verification = &v1alpha1.Verification{SignatureName: "release"}
			checkFailed(t, create(t, inst), "ExtractVerifyInfo", "set spec.componentDescriptor")
		})
	})
	t.Run("Disabled", func(t *testing.T) {
		registryServer(t, "signatureVerificationEnforcementPolicy: Disabled")
		waitSucceeded(t, create(t, signedInstallation(signedSpace(t, "/tampered", trusted), "release")))
	})
}
