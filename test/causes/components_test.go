package causes

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cli"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/test/scenario"
)

// published are two component versions: a part with a blueprint, and a whole that refers
// to it.
var published = map[string]string{
	"constructor.yaml": `
components:
- name: example.org/part
  version: 1.0.0
  provider: {name: vendor}
  resources:
  - name: blueprint
    type: landscaper.gardener.cloud/blueprint
    input: {type: dir, path: blueprint, compress: true, mediaType: application/vnd.gardener.landscaper.blueprint.v1+tar+gzip}
  - name: notes
    type: plainText
    input: {type: utf8, text: nothing to deploy}
- name: example.org/whole
  version: 1.0.0
  provider: {name: vendor}
  resources: []
  componentReferences:
  - {name: part, componentName: example.org/part, version: 1.0.0}
`,
	"blueprint/blueprint.yaml": "{apiVersion: landscaper.gardener.cloud/v1alpha1, kind: Blueprint}",
}

// signer has the public key that the components below /signed are signed with, and
// stranger another one.
var signer, stranger []byte

// command runs the command line.
func command(t *testing.T, args ...string) {
	t.Helper()
	var out bytes.Buffer
	streams := terminal.Streams{
		In: strings.NewReader(""), Out: &out, Err: &out, Getenv: func(string) string { return "" },
		Columns: func() int { return 0 }, Rows: func() int { return 0 },
	}
	if code := cli.Run(t.Context(), streams, "landscaper-cli", args); code != 0 {
		t.Fatalf("%s: exit code %d: %s", strings.Join(args, " "), code, out.String())
	}
}

// publish fills the registry of the lab.
func publish(t *testing.T) {
	t.Helper()
	directory := t.TempDir()
	file := func(name, content string) string {
		scenario.WriteFiles(t, directory, map[string]string{name: content})
		return filepath.Join(directory, name)
	}
	scenario.WriteFiles(t, directory, published)
	access := []string{"--registry-config", file("docker.json", string(env.RegistryLogin(env.Lab.Registry.Address, env.Lab.Registry.Password))), "--ca-file", env.Lab.Registry.CAFile}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	private := file("release.key", string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})))
	signer = public(t, &key.PublicKey)
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	stranger = public(t, &other.PublicKey)
	for _, path := range []string{"/delivery", "/signed"} {
		command(t, append([]string{"components", "push", filepath.Join(directory, "constructor.yaml"), env.Lab.Registry.Address + path}, access...)...)
	}
	for _, name := range []string{"example.org/part", "example.org/whole"} {
		command(t, append([]string{"components", "sign", env.Lab.Registry.Address + "/signed", name, "1.0.0", "--signature", "release", "--private-key", private}, access...)...)
	}
	command(t, append([]string{"blueprints", "push", env.Lab.Registry.Address + "/blueprints/part:1.0.0", filepath.Join(directory, "blueprint")}, access...)...)
}

func public(t *testing.T, key *rsa.PublicKey) []byte {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}

// vendor makes the Context vendor, whose component versions are at an address.
func (s *stage) vendor(address, password string, change func(*v1alpha1.Context)) {
	s.Helper()
	repository, err := v1alpha1.NewUnstructuredTypedObject("ociRegistry", map[string]any{"baseUrl": address})
	if err != nil {
		s.Fatal(err)
	}
	host, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(address, "https://"), "http://"), "/")
	meta := metav1.ObjectMeta{Namespace: s.space, Name: "vendor"}
	made := &v1alpha1.Context{ObjectMeta: meta}
	made.RepositoryContext, made.RegistryPullSecrets = repository, []v1alpha1.LocalPullSecret{{Name: "pull"}}
	if change != nil {
		change(made)
	}
	pull := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.space, Name: "pull"}, Type: corev1.SecretTypeDockerConfigJson,
		Data: map[string][]byte{corev1.DockerConfigJsonKey: env.RegistryLogin(host, password)},
	}
	if err := env.Admin.Create(s.Context(), pull); err != nil {
		s.Fatal(err)
	}
	if err := env.Admin.Create(s.Context(), made); err != nil {
		s.Fatal(err)
	}
}

// part is an Installation with the blueprint of the part.
func part(resource, version string) given {
	return given{context: "vendor", component: &component{name: "example.org/part", version: version, resource: resource}}
}

// signed is an Installation with verification; trust has the signatures that its Context knows.
func (s *stage) signed(path, signature string, trust map[string]v1alpha1.VerificationSignature) given {
	s.Helper()
	s.vendor(env.Lab.Registry.Address+path, env.Lab.Registry.Password, func(c *v1alpha1.Context) { c.VerificationSignatures = trust })
	g := part("blueprint", "1.0.0")
	g.verified, g.component.whole = signature, "example.org/whole"
	return g
}

// trusts is a Secret with a key, which the Context trusts for the signature release.
func (s *stage) trusts(key string, content []byte) map[string]v1alpha1.VerificationSignature {
	s.Helper()
	made := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.space, Name: "trust"}, Data: map[string][]byte{"release.pem": content}}
	if err := env.Admin.Create(s.Context(), made); err != nil {
		s.Fatal(err)
	}
	return map[string]v1alpha1.VerificationSignature{"release": {
		PublicKeySecretReference: &v1alpha1.SecretReference{ObjectReference: v1alpha1.ObjectReference{Name: "trust"}, Key: key},
	}}
}

func components() []row {
	const area = "components"
	delivery := func(s *stage) {
		s.vendor(env.Lab.Registry.Address+"/delivery", env.Lab.Registry.Password, nil)
	}
	return []row{
		{area: area, fault: "component version missing", cause: func(s *stage) given {
			delivery(s)
			return part("blueprint", "7.0.0")
		}, names: names{reason: `not found`, object: `example\.org/part:7\.0\.0`, cluster: `127\.0\.0\.1:\d+/delivery`, next: `publish|there (is|are) |versions? |correct`}},
		{area: area, fault: "resource missing", cause: func(s *stage) given {
			delivery(s)
			return part("ghost", "1.0.0")
		}, names: names{reason: `failed to get resource|no resource|not found`, object: `ghost.*example\.org/part|example\.org/part.*ghost`, next: `blueprint.*notes|notes|there (is|are)`}},
		{area: area, fault: "resource is no blueprint", cause: func(s *stage) given {
			delivery(s)
			return part("notes", "1.0.0")
		}, names: names{reason: `blueprint`, object: `notes`, next: `a blueprint has the type`}},
		{area: area, fault: "content with another digest", cause: func(s *stage) given {
			delivery(s)
			return given{context: "vendor", component: &component{resource: "blueprint", inline: m{"meta": m{"schemaVersion": "v2"}, "component": m{
				"name": "example.org/part", "version": "1.0.0", "provider": "vendor", "sources": list{}, "componentReferences": list{}, "repositoryContexts": list{},
				"resources": list{m{
					"name": "blueprint", "version": "1.0.0", "type": "landscaper.gardener.cloud/blueprint", "relation": "external",
					"access": m{"type": "ociArtifact", "imageReference": env.Lab.Registry.Address + "/blueprints/part:1.0.0"},
					"digest": m{"hashAlgorithm": "SHA-256", "normalisationAlgorithm": "ociArtifactDigest/v1", "value": strings.Repeat("0", 64)},
				}},
			}}}}
		}, names: names{reason: `digest`, object: `resource.*blueprint|blueprint.*resource`, cluster: `127\.0\.0\.1:\d+/blueprints/part:1\.0\.0|example\.org/part:1\.0\.0`, next: `publish|(was|has been) (exchanged|changed)|correct|trust`}},
		{area: area, fault: "signature missing", cause: func(s *stage) given {
			return s.signed("/delivery", "release", s.trusts("release.pem", signer))
		}, names: names{reason: `signature "release" (not found|is missing|does not exist)|no signature "release"`, object: `example\.org/(part|whole):1\.0\.0`, next: `sign (it|the)|there are|there is|ask for|signatureName`}},
		{area: area, fault: "signature of another signer", cause: func(s *stage) given {
			return s.signed("/signed", "release", s.trusts("release.pem", stranger))
		}, names: names{reason: `not made with this key`, object: `Context.*vendor.*Secret.*trust|Secret.*trust.*Context.*vendor`, next: `release\.pem`}},
		{area: area, fault: "key for a signature missing in the Secret", cause: func(s *stage) given {
			return s.signed("/signed", "release", s.trusts("gone.pem", signer))
		}, names: names{reason: `gone\.pem`, object: `Secret.*trust`, next: `add (it|the key)|correct|there (is|are)|set |name another|has (the keys? )?release\.pem`}},
		{area: area, fault: "signature that the Context does not know", cause: func(s *stage) given {
			return s.signed("/signed", "release", nil)
		}, names: names{reason: `signature name "release"|signature "release"`, object: `Context.*vendor`, next: `add it`}},
		{area: area, fault: "Secret with keys missing", cause: func(s *stage) given {
			return s.signed("/signed", "release", map[string]v1alpha1.VerificationSignature{"release": {
				PublicKeySecretReference: &v1alpha1.SecretReference{ObjectReference: v1alpha1.ObjectReference{Name: "nowhere"}, Key: "release.pem"},
			}})
		}, names: names{reason: `(not|cannot be) found|does not exist|no Secret`, object: `Secret.*nowhere`, next: `create it`}},
	}
}

// answering is a registry that answers everything with a status.
func (s *stage) answering(status int, secure bool) string {
	s.Helper()
	handler := http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) {
		if status == http.StatusUnauthorized {
			out.Header().Set("WWW-Authenticate", `Basic realm="registry"`)
		}
		out.WriteHeader(status)
	})
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // of clients that do not know its authority
	if secure {
		server.StartTLS()
	} else {
		server.Start()
	}
	s.Cleanup(server.Close)
	return server.URL
}

// interrupt ends a job.
func interrupt(s *stage) { env.Request(s.T, s.root, v1alpha1.InterruptOperation) }

func registries() []row {
	const area = "registries"
	at := func(address func(*stage) string) func(*stage) given {
		return func(s *stage) given {
			s.vendor(address(s)+"/delivery", canary, nil)
			return part("blueprint", "1.0.0")
		}
	}
	const where, what = `127\.0\.0\.1:\d+`, `example\.org/part:1\.0\.0`
	return []row{
		{area: area, fault: "503", waits: true, end: interrupt, cause: at(func(s *stage) string { return s.answering(503, false) }),
			names:     names{reason: `503`, object: what, cluster: where, next: `check that the host|another job`},
			meanwhile: &names{reason: `503`, object: what, cluster: where, next: `check that the host|tried again`}},
		{area: area, fault: "unreachable", waits: true, end: interrupt, cause: at(func(*stage) string { return "http://127.0.0.1:1" }),
			names:     names{reason: `connection refused`, object: what, cluster: `127\.0\.0\.1:1\b`, next: `check that the host|another job`},
			meanwhile: &names{reason: `connection refused`, object: what, cluster: `127\.0\.0\.1:1\b`, next: `check that the host|tried again`}},
		{area: area, fault: "wrong password", cause: func(s *stage) given {
			s.vendor(env.Lab.Registry.Address+"/delivery", canary, nil)
			return part("blueprint", "1.0.0")
		}, names: names{reason: `401|denied|unauthorized`, object: what, cluster: where, next: `check the credentials`}},
		{area: area, fault: "404", cause: at(func(s *stage) string { return s.answering(404, false) }),
			names: names{reason: `not found|404`, object: what, cluster: where, next: `publish|check|correct`}},
		{area: area, fault: "unknown authority", cause: at(func(s *stage) string { return s.answering(200, true) }),
			names: names{reason: `unknown authority`, object: what, cluster: where, next: `certificateAuthorit`}},
	}
}
