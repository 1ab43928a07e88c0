package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"go.landscaper.dev/tools/release/bill"
	"go.landscaper.dev/tools/release/document"
	"go.landscaper.dev/tools/release/pack"
	"go.landscaper.dev/tools/release/program"
	"go.landscaper.dev/tools/release/registrytest"
	"go.landscaper.dev/tools/release/sign"
)

// small is a release whose programs are one small program, since compiling the real ones takes
// minutes. Everything else is as in a release.
func small(t *testing.T, registry string, key *sign.Key) *release {
	t.Helper()
	r := &release{
		folder: "../..", out: t.TempDir(), version: "v1.2.3", registry: registry, home: "https://example.org/landscaper",
		downloads: "https://example.org/downloads", builder: "https://example.org/builder", platforms: program.Platforms(), push: true, plainHTTP: true,
		commit: "0123456789abcdef0123456789abcdef01234567", at: time.Unix(1_700_000_000, 0), key: key,
		modules: []bill.Module{{Path: "std", Version: "go1", Texts: []bill.Text{{Path: "LICENSE", Licences: []string{"BSD-3-Clause"}}}}},
		notices: []pack.File{{Name: "LICENSE", Data: []byte("ours")}, {Name: "NOTICE", Data: []byte("of others")}},
		files:   map[string][]byte{}, programs: map[string]map[program.Platform][]byte{},
	}
	for _, p := range program.All() {
		r.programs[p.Name] = map[program.Platform][]byte{}
		for _, platform := range r.on(p) {
			r.programs[p.Name][platform] = compiled(t)
		}
	}
	for _, step := range r.steps()[2:] {
		if err := step.do(t.Context()); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
	}
	return r
}

var theProgram []byte

// compiled is a small program.
func compiled(t *testing.T) []byte {
	t.Helper()
	if theProgram != nil {
		return theProgram
	}
	folder := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module go.landscaper.dev\n\ngo 1.26.0\n", "main.go": "package main\n\nfunc main() {}\n"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	command := exec.CommandContext(t.Context(), "go", "build", "-o", "program", ".")
	command.Dir = folder
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	content, err := os.ReadFile(filepath.Join(folder, "program"))
	if err != nil {
		t.Fatal(err)
	}
	theProgram = content
	return content
}

// newKey makes a key for signatures.
func newKey(t *testing.T) *sign.Key {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	key, err := sign.ParseKey(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), nil)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// TestRelease: a release is complete; what its files name is in the registry, with the digests
// that they say; and a second one is the same to the byte.
func TestRelease(t *testing.T) {
	key := newKey(t)
	registry := registrytest.Start(t)
	r := small(t, registry, key)
	again := small(t, registry, key)
	for name, content := range r.files {
		if !bytes.Equal(content, again.files[name]) {
			t.Errorf("%s: the bytes differ", name)
		}
	}
	if len(r.files) != len(again.files) {
		t.Errorf("%d and %d files", len(r.files), len(again.files))
	}
	checkChart(t, r)
	checkSums(t, r)
	checkComponent(t, r)
	checkBlueprint(t, r)
	checkRegistration(t, r)
	for _, artifact := range r.artifacts {
		reference, err := name.ParseReference(artifact.Repository+":"+artifact.Tag, name.Insecure)
		if err != nil {
			t.Fatal(err)
		}
		there, err := remote.Head(reference)
		if err != nil || there.Digest.String() != artifact.Root.Digest.String() {
			t.Errorf("%s: %v, %v", artifact.Reference(), there, err)
		}
	}
}

// checkChart: the packed chart and the plain manifests name the image that was published, by its digest.
func checkChart(t *testing.T, r *release) {
	t.Helper()
	if image := r.find("landscaper").Reference(); !strings.Contains(string(r.files["landscaper.yaml"]), "image: "+image) {
		t.Errorf("the manifests do not name %s", image)
	}
	text := string(r.files["landscaper-crds.yaml"])
	if strings.Count(text, "\nkind: CustomResourceDefinition\n") < 10 || !strings.Contains(text, "landscaper.gardener.cloud/api-revision:") {
		t.Error("the definitions of kinds are not those that the program installs")
	}
	if len(r.files["landscaper-schemas.tar.gz"]) == 0 {
		t.Error("there are no schemas for editors")
	}
	delivery := string(r.files["landscaper-delivery.yaml"])
	if !strings.Contains(delivery, "name: deliverypolicies.delivery.landscaper.dev") || !strings.Contains(delivery, "kind: ValidatingAdmissionPolicyBinding") || strings.Contains(text, "delivery.landscaper.dev") {
		t.Error("the kinds and policies of the feature DeliveryPolicies are not in a file of their own")
	}
}

// checkSums: each file of the folder has its sum, as sha256sum checks it, but for those that are about sums.
func checkSums(t *testing.T, r *release) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "sha256sum", "--check", "--strict", "checksums.txt")
	command.Dir = r.out
	output, err := command.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, output)
	}
	entries, err := os.ReadDir(r.out)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		switch entry.Name() {
		case "checksums.txt", "checksums.txt.sig", "cosign.pub", "provenance.intoto.jsonl":
			continue
		}
		if !strings.Contains(string(output), entry.Name()+": OK") {
			t.Errorf("%s has no sum", entry.Name())
		}
	}
}

// checkComponent: the component version in the registry has the blueprint, and refers to the images and charts.
func checkComponent(t *testing.T, r *release) {
	t.Helper()
	text, err := document.Run(t.Context(), "components", "get", r.registry, "go.landscaper.dev/landscaper", "v1.2.3", "-o", "json", "--allow-plain-http")
	if err != nil {
		t.Fatal(err)
	}
	var descriptor struct {
		Component struct {
			Resources []struct {
				Name   string
				Access struct{ ImageReference string }
			}
		}
	}
	if err := json.Unmarshal(text, &descriptor); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"blueprint": ""}
	for _, name := range []string{"landscaper", "gardener-extension-shoot-flux"} {
		want[name+"-image"], want[name+"-chart"] = r.find(name).Reference(), r.find("charts/"+name).Reference()
	}
	for _, resource := range descriptor.Component.Resources {
		if reference, ok := want[resource.Name]; !ok || resource.Access.ImageReference != reference {
			t.Errorf("%s leads to %q, not to %q", resource.Name, resource.Access.ImageReference, reference)
		}
		delete(want, resource.Name)
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
}

// checkBlueprint: the blueprint of the component version deploys the chart of the component, with the
// image of the component, and keeps other values of the user.
func checkBlueprint(t *testing.T, r *release) {
	t.Helper()
	imports := filepath.Join(t.TempDir(), "imports.yaml")
	text := "imports:\n  cluster: {spec: {type: landscaper.gardener.cloud/kubernetes-cluster, secretRef: {name: cluster, key: kubeconfig}}}\n  values: {replicas: 2, image: {pullPolicy: Always, digest: other}}\n"
	if err := os.WriteFile(imports, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	rendered, err := document.Run(t.Context(), "blueprints", "render", r.registry+"//go.landscaper.dev/landscaper:v1.2.3", "deployitems", "-f", imports, "--allow-plain-http")
	if err != nil {
		t.Fatal(err)
	}
	image := r.find("landscaper")
	for _, want := range []string{"repository: " + image.Repository, "digest: " + image.Root.Digest.String(), "pullPolicy: Always", "replicas: 2", "resourceRef: ", "namespace: landscaper-system"} {
		if !strings.Contains(string(rendered), want) {
			t.Errorf("the item does not contain %q:\n%s", want, rendered)
		}
	}
}

// checkRegistration: a Gardener gets the chart that was published, and in both forms the image that was published.
func checkRegistration(t *testing.T, r *release) {
	t.Helper()
	name := "gardener-extension-shoot-flux"
	if text := string(r.files[name+"-operator-extension.yaml"]); !strings.Contains(text, r.find("charts/"+name).Reference()) {
		t.Errorf("the registration for gardener-operator does not name the chart:\n%s", text)
	}
	if text := string(r.files[name+"-controller-registration.yaml"]); !strings.Contains(text, r.find(name).Repository) || !strings.Contains(text, "v1.2.3") {
		t.Errorf("the registration does not name the image:\n%.2000s", text)
	}
}

// TestUnsigned: without a key there are no signatures, and nothing that looks like one.
func TestUnsigned(t *testing.T) {
	r := small(t, registrytest.Start(t), nil)
	for name := range r.files {
		if strings.HasSuffix(name, ".sig") || strings.HasSuffix(name, ".pub") || strings.HasSuffix(name, ".jsonl") {
			t.Errorf("there is a file %s", name)
		}
	}
	if r.files["provenance.json"] == nil {
		t.Error("it is not said how the release was made")
	}
}

// TestPrepare: what cannot be repeated by others is refused before anything is built.
func TestPrepare(t *testing.T) {
	folder := t.TempDir()
	git := func(arguments ...string) {
		command := exec.CommandContext(t.Context(), "git", arguments...)
		command.Dir = folder
		command.Env = append(os.Environ(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org", "GIT_COMMITTER_DATE=1700000000 +0200")
		if output, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, output)
		}
	}
	git("init", "--quiet")
	git("commit", "--quiet", "--allow-empty", "-m", "first")
	t.Setenv("SOURCE_DATE_EPOCH", "")
	r := release{folder: folder, version: "v0.1.0", home: "https://example.org"}
	if err := r.prepare(t.Context(), ""); err != nil || len(r.commit) != 40 || r.at.Unix() != 1_700_000_000 || r.downloads != "https://example.org/releases/download/v0.1.0" {
		t.Errorf("%+v: %v", &r, err)
	}
	for _, version := range []string{"", "0.1.0", "v1", "v01.0.0", "latest"} {
		bad := release{folder: folder, version: version}
		if err := bad.prepare(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "VERSION=v0.1.0") {
			t.Errorf("%q: %v", version, err)
		}
	}
	if err := r.prepare(t.Context(), filepath.Join(folder, "missing.key")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if err := os.WriteFile(filepath.Join(folder, "new.go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := r.prepare(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "new.go") {
		t.Errorf("%v", err)
	}
	allowed := release{folder: folder, version: "v0.1.0", dirty: true}
	if err := allowed.prepare(t.Context(), ""); err != nil || allowed.commit != "" {
		t.Errorf("a folder with changes counts as commit %q: %v", allowed.commit, err)
	}
	t.Setenv("SOURCE_DATE_EPOCH", "1600000000")
	if err := allowed.prepare(t.Context(), ""); err != nil || allowed.at.Unix() != 1_600_000_000 {
		t.Errorf("%v, %v", allowed.at, err)
	}
	t.Setenv("SOURCE_DATE_EPOCH", "yesterday")
	if err := allowed.prepare(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "SOURCE_DATE_EPOCH") {
		t.Errorf("%v", err)
	}
}
