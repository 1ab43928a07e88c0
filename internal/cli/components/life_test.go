package components

import (
	"archive/tar"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.landscaper.dev/internal/cli/terminal/terminaltest"
)

// keys returns the keys and certificates of a signer as files: release.key,
// release.pub, chain.pem and ca.pem, and stranger.pem of another authority.
func keys(t *testing.T) map[string]string {
	t.Helper()
	newKey := func() *rsa.PrivateKey {
		key, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	root, other, key := newKey(), newKey(), newKey()
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	authority := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "root"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	leaf := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "release", Organization: []string{"shop"}}, NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageCodeSigning}}
	certificate := func(template *x509.Certificate, of *rsa.PublicKey, by *rsa.PrivateKey) string {
		der, err := x509.CreateCertificate(rand.Reader, template, authority, of, by)
		if err != nil {
			t.Fatal(err)
		}
		return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	}
	return map[string]string{
		"release.key": string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})),
		"release.pub": string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})),
		"chain.pem":   certificate(leaf, &key.PublicKey, root), "ca.pem": certificate(authority, &root.PublicKey, root), "stranger.pem": certificate(authority, &other.PublicKey, other),
	}
}

// TestWholeLife: a component version is published, signed, copied with what it
// refers to, checked and downloaded. Its signature stays valid wherever it goes.
func TestWholeLife(t *testing.T) {
	text := strings.Replace(shopConstructor, "https://user:s3cr3t@files.example.org/a?token=s3cr3t", "https://files.example.org/a", 1)
	text = strings.Replace(text, `access: {type: wget, url: "https://files.example.org/a"}`, `access: {type: none}`, 1)
	files := keys(t)
	maps.Copy(files, map[string]string{
		"constructor.yaml":         text + "---\ncomponents:\n- {name: example.org/shop/web, version: 1.10.0, provider: p}\n",
		"blueprint/blueprint.yaml": "kind: Blueprint\n", "chart/Chart.yaml": "name: c\nversion: 1.0.0\n",
	})
	terminaltest.WriteFiles(t, files)
	for _, step := range []struct {
		reason, args string
		code         int
		out, err     string
	}{
		{"publish two documents", "push constructor.yaml transport --create --set VERSION=1.4.2 -q", 0, "Published example.org/shop/web:1.10.0 in transport", ""},
		{"the newest version is the last one", "list transport example.org/shop/web", 0, "example.org/shop/web:1.4.2\nexample.org/shop/web:1.10.0\n", ""},
		{"all of an archive", "list transport -o json", 0, `"component": "example.org/shop/db"`, ""},
		{"a component that is not there", "list transport example.org/nope", 3, "", "there are example.org/shop/db:3.1.0"},
		{"a registry has no list of components", "list registry.example.org", 64, "", "name the component"},
		{"sign without a key", "sign transport example.org/shop/web 1.4.2 -s shop", 64, "", "--private-key"},
		{"sign with something else", "sign transport example.org/shop/web 1.4.2 -s shop -k ca.pem", 1, "", "neither a PKCS #8 nor a PKCS #1 private key"},
		{"sign with a certificate for another key", "sign transport example.org/shop/web 1.4.2 -s shop -k release.key --certificate ca.pem", 1, "", "is not for this key"},
		{"sign", "sign transport example.org/shop/web 1.4.2 -s shop -k release.key", 0, "Signed example.org/shop/web:1.4.2 with shop (SHA-256:", ""},
		{"a signature is not replaced", "sign transport example.org/shop/web 1.4.2 -s shop -k release.key", 1, "", "--force"},
		{"a signature is replaced with --force", "sign transport example.org/shop/web 1.4.2 -s shop -k release.key --force --algorithm RSASSA-PKCS1-V1_5", 0, "Signed", ""},
		{"a second signature, with a certificate, of the other normal form", "sign transport example.org/shop/web 1.4.2 -s audit -k release.key --certificate chain.pem --normalisation jsonNormalisation/v4alpha1 --hash SHA-512", 0, "SHA-512:", ""},
		{"verify with the key", "verify transport example.org/shop/web 1.4.2 -s shop -k release.pub", 0, "Verified signature shop", ""},
		{"verify with the authority", "verify transport example.org/shop/web 1.4.2 -s audit --ca-cert ca.pem --issuer CN=release,O=shop", 0, "Verified signature audit", ""},
		{"another authority", "verify transport example.org/shop/web 1.4.2 -s audit --ca-cert stranger.pem", 1, "", "name the authority of the signer with --ca-cert"},
		{"another signer", "verify transport example.org/shop/web 1.4.2 -s audit --ca-cert ca.pem --issuer CN=other", 1, "", `not by "CN=other"`},
		{"copy with all that it refers to", "copy transport example.org/shop/web 1.4.2 copied.tgz -R --create -q", 0, "Copied example.org/shop/db:3.1.0 to copied.tgz", ""},
		{"copy again", "copy transport example.org/shop/web 1.4.2 copied.tgz -R -q", 0, "Unchanged: example.org/shop/web:1.4.2 to copied.tgz", ""},
		{"verify the copy", "verify copied.tgz example.org/shop/web 1.4.2 -s shop -k release.pub", 0, "Verified signature shop", ""},
		{"the copy has what it refers to", "list copied.tgz", 0, "example.org/shop/db:3.1.0\nexample.org/shop/web:1.4.2\n", ""},
		{"download all", "download copied.tgz example.org/shop/web 1.4.2 --all -R -O all -q", 0, "Wrote " + filepath.Join("all", "example.org_shop_db-3.1.0", "schema.json"), ""},
		{"download all into the same place", "download copied.tgz example.org/shop/web 1.4.2 --all -R -O all -q", 1, "", "--force"},
		{"all resources of one identity", "download copied.tgz example.org/shop/web 1.4.2 --all --identity os=linux", 64, "", "leave out --identity"},
		{"a subcommand that does not exist", "nope", 64, "", `unknown command "nope"`},
		{"a repository context that is no JSON", "get {\"type\":", 64, "", "the repository context is no JSON"},
	} {
		got := execute(t, strings.Fields(step.args)...)
		if got.code != step.code || !strings.Contains(got.out, step.out) || !strings.Contains(got.err, step.err) {
			t.Errorf("%s: %+v", step.reason, got)
		}
	}
	for name, want := range map[string]string{"tool-os-linux.txt": "for linux", "tool-os-darwin.txt": "for darwin"} {
		if content, err := os.ReadFile(filepath.Join("all", "example.org_shop_web-1.4.2", name)); err != nil || string(content) != want {
			t.Errorf("%s: %q, %v", name, content, err)
		}
	}
}

// TestLayout: what is an artifact is written in the layout that tools for images
// read.
func TestLayout(t *testing.T) {
	terminaltest.WriteFiles(t, map[string]string{
		"constructor.yaml": "{name: example.org/shop/web, version: 1.0.0, provider: p, resources: [{name: chart, type: helmChart, input: {type: helm, path: chart}}]}",
		"chart/Chart.yaml": "name: shop\nversion: 1.2.3\n",
	})
	for _, args := range []string{"push constructor.yaml transport --create -q", "download transport chart --oci-layout"} {
		if got := execute(t, strings.Fields(args)...); got.code != 0 {
			t.Fatalf("%s: %+v", args, got)
		}
	}
	files := tarFiles(t, "chart.tar")
	var index struct {
		Manifests []struct {
			Digest      string
			Annotations map[string]string
		}
	}
	if err := json.Unmarshal([]byte(files["index.json"]), &index); err != nil || len(index.Manifests) != 1 || index.Manifests[0].Annotations["org.opencontainers.image.ref.name"] != "1.2.3" {
		t.Fatalf("%s, %v", files["index.json"], err)
	}
	at := "blobs/sha256/" + strings.TrimPrefix(index.Manifests[0].Digest, "sha256:")
	if !strings.Contains(files["oci-layout"], "1.0.0") || !strings.Contains(files[at], "application/vnd.cncf.helm.config.v1+json") || len(files) != 5 {
		t.Errorf("%v", files)
	}
}

// TestNoDigestOfGit: no other tool finds the same digest, and no registry is asked for it.
func TestNoDigestOfGit(t *testing.T) {
	terminaltest.WriteFiles(t, map[string]string{
		"constructor.yaml": `{name: example.org/shop/git, version: 1.0.0, provider: p, resources: [{name: files, type: t, version: 1.0.0, access: {type: Git/v1alpha1, repository: "http://127.0.0.1:1/shop.git", commit: c0ffee0000000000000000000000000000000000}}]}`,
	})
	if got := execute(t, "push", "constructor.yaml", "transport", "--create", "-q"); got.code != 0 {
		t.Fatalf("%+v", got)
	}
	if got := execute(t, "get", "transport"); strings.Contains(got.out, "digest") || !strings.Contains(got.out, "commit: c0ffee") {
		t.Errorf("%+v", got)
	}
}

// tarFiles reads the files of a tar.
func tarFiles(t *testing.T, name string) map[string]string {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // nothing is written
	files := map[string]string{}
	for reader := tar.NewReader(file); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(reader)
		if err != nil {
			t.Fatal(err)
		}
		files[header.Name] = string(content)
	}
	return files
}

// TestThirdSchema: what is written in the third schema can be read, signed in all normal
// forms and copied.
func TestThirdSchema(t *testing.T) {
	files := keys(t)
	files["constructor.yaml"] = "components:\n- {name: example.org/shop/web, version: 1.0.0, provider: {name: p, labels: [{name: contact, value: me}]}, resources: [{name: text, type: t, input: {type: utf8, text: hello}}], references: [{name: db, componentName: example.org/shop/db, version: 1.0.0}]}\n" +
		"- {name: example.org/shop/db, version: 1.0.0, provider: p, meta: {configuredSchemaVersion: v2}}\n"
	terminaltest.WriteFiles(t, files)
	const component = " example.org/shop/web 1.0.0 "
	steps := []string{"push constructor.yaml transport --create --schema v3alpha1 -q"}
	for _, form := range []string{"v1", "v2", "v3", "v4alpha1"} {
		steps = append(steps, "sign transport"+component+"-s "+form+" -k release.key --normalisation jsonNormalisation/"+form)
	}
	steps = append(steps, "copy transport"+component+"copied --create -R -q")
	for _, form := range []string{"v1", "v2", "v3", "v4alpha1"} {
		steps = append(steps, "verify copied"+component+"-k release.pub -s "+form)
	}
	for _, step := range steps {
		if got := execute(t, strings.Fields(step)...); got.code != 0 {
			t.Errorf("%s: %+v", step, got)
		}
	}
	for name, want := range map[string]string{"web": "apiVersion: ocm.software/v3alpha1", "db": "schemaVersion: v2"} {
		if got := execute(t, "get", "copied", "example.org/shop/"+name); !strings.Contains(got.out, want) {
			t.Errorf("%s is %+v", name, got)
		}
	}
}

// TestUnreadableResource: an unreadable resource is reported, also where progress is not shown.
func TestUnreadableResource(t *testing.T) {
	terminaltest.WriteFiles(t, map[string]string{
		"constructor.yaml": `{name: example.org/shop/web, version: 1.0.0, provider: p, resources: [{name: text, type: t, input: {type: utf8, text: hello}}, {name: package, type: npmPackage, access: {type: npm, registry: "https://npm.example.org", package: shop}}, {name: nothing, type: t, access: {type: none}}]}`,
	})
	if got := execute(t, "push", "constructor.yaml", "transport", "--create", "-q"); got.code != 0 {
		t.Fatalf("%+v", got)
	}
	const unknown = `access method "npm" is unknown`
	got := execute(t, "copy", "transport", "copied", "--by-value", "--create", "-q")
	if got.code != 0 || !strings.HasPrefix(got.err, "Warning: a content of example.org/shop/web:1.0.0 stays where it is: ") || !strings.Contains(got.err, unknown) || strings.Count(got.err, "Warning") != 1 {
		t.Errorf("copy: %+v", got)
	}
	got = execute(t, "download", "transport", "--all", "-O", "all", "-q")
	if got.code != 0 || !strings.Contains(got.err, "Warning: resource package of example.org/shop/web:1.0.0 is passed over: ") || !strings.Contains(got.err, unknown) || !strings.Contains(got.err, "resource nothing of") || !strings.Contains(got.out, "text.txt") {
		t.Errorf("download: %+v", got)
	}
}
