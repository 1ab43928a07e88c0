package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"go.landscaper.dev/internal/cluster/egress"
	"go.landscaper.dev/internal/content/component/credential"
	"go.landscaper.dev/internal/content/component/registry"
	"go.landscaper.dev/test/lab"
)

// TestComponents runs the commands for components against a registry that has
// authentication and TLS. They need no cluster.
func TestComponents(t *testing.T) {
	started := lab.Run(t, lab.Options{With: []string{"registry-auth", "registry-tls"}})
	shared := &componentsTest{registry: started.Registry}
	for name, test := range map[string]func(*testing.T, *workplace){
		"documented commands":  documentedCommands,
		"a round trip":         roundTrip,
		"images and charts":    images,
		"wrong credentials":    wrongCredentials,
		"what is not there":    notThere,
		"a cut download":       cutDownload,
		"a changed content":    changedContent,
		"an interruption":      interruption,
		"a push that is ended": interruptedPush,
		"copies":               copies,
		"a cut copy":           cutCopy,
		"copies in parallel":   parallelCopy,
		"counted requests":     countedRequests,
	} {
		t.Run(name, func(t *testing.T) { test(t, shared.workplace(t)) })
	}
}

type componentsTest struct{ registry *lab.Registry }

// workplace is a directory in which a user works, with credentials at home.
type workplace struct {
	registry  *lab.Registry
	directory string
	home      string
}

func (c *componentsTest) workplace(t *testing.T) *workplace {
	t.Helper()
	w := &workplace{registry: c.registry, directory: t.TempDir(), home: t.TempDir()}
	w.login(t, c.registry.Address)
	return w
}

// login writes the credentials for hosts that lead to the registry.
func (w *workplace) login(t *testing.T, hosts ...string) {
	t.Helper()
	auths := map[string]any{}
	for _, host := range hosts {
		auths[host] = map[string]string{"username": w.registry.Username, "password": w.registry.Password}
	}
	text, err := json.Marshal(map[string]any{"auths": auths})
	if err != nil {
		t.Fatal(err)
	}
	directory := filepath.Join(w.home, ".docker")
	if err := errors.Join(os.MkdirAll(directory, 0o755), os.WriteFile(filepath.Join(directory, "config.json"), text, 0o600)); err != nil {
		t.Fatal(err)
	}
}

func (w *workplace) write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(w.directory, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func (w *workplace) read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(w.directory, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// files lists what is in the directory.
func (w *workplace) files(t *testing.T) string {
	t.Helper()
	entries, err := os.ReadDir(w.directory)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return strings.Join(names, " ")
}

func (w *workplace) begin(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{command: exec.CommandContext(t.Context(), program, args...), out: newLines(), err: newLines()}
	p.command.Dir = w.directory
	// The system's authorities are those of the variable.
	p.command.Env = []string{"HOME=" + w.home, "SSL_CERT_FILE=" + w.registry.CAFile}
	p.command.Stdout, p.command.Stderr = p.out, p.err
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

func (w *workplace) components(t *testing.T, args ...string) outcome {
	t.Helper()
	result := w.begin(t, append([]string{"components"}, args...)...).end(t)
	if text := result.out + result.err; strings.Contains(text, w.registry.Password) {
		t.Errorf("components %s shows the password:\n%s", strings.Join(args, " "), text)
	}
	return result
}

// succeed runs a command that must succeed, and returns its output.
func (w *workplace) succeed(t *testing.T, args ...string) string {
	t.Helper()
	result := w.components(t, args...)
	if result.code != 0 {
		t.Fatalf("components %s: %+v", strings.Join(args, " "), result)
	}
	return result.out
}

var (
	documentedBlock  = regexp.MustCompile("(?ms)^```(yaml|console) ?(\\S*)\n(.*?)^```$")
	documentedDigest = regexp.MustCompile(`(sha256|SHA-256):[0-9a-f]{64}`)
)

// documentedCommands runs the section of the documentation, with the address of
// the registry in the place of the one that does not exist.
func documentedCommands(t *testing.T, w *workplace) {
	page, err := os.ReadFile("../../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(page), "\n## Components\n")
	section, _, _ = strings.Cut(section, "\n## ")
	if !found {
		t.Fatal("the page has no section Components")
	}
	const host = "registry.example.org"
	w.keys(t)
	commands := 0
	for _, block := range documentedBlock.FindAllStringSubmatch(section, -1) {
		kind, name, text := block[1], block[2], block[3]
		if kind == "yaml" {
			w.write(t, name, text)
			continue
		}
		for _, example := range strings.Split(strings.TrimPrefix(text, "$ "), "\n$ ") {
			command, want, _ := strings.Cut(strings.TrimSuffix(example, "\n"), "\n")
			args := strings.Fields(strings.ReplaceAll(command, host, w.registry.Address))
			result := w.begin(t, args[1:]...).end(t)
			got := strings.ReplaceAll(result.out+result.err, w.registry.Address, host)
			got = strings.TrimSuffix(documentedDigest.ReplaceAllString(got, "$1:…"), "\n")
			if got != want {
				t.Errorf("%s\nprints\n%s\ninstead of\n%s", command, got, want)
			}
			commands++
		}
	}
	if commands < 10 {
		t.Errorf("the section has %d commands", commands)
	}
	if got := w.read(t, "unpacked/blueprint.yaml"); !strings.Contains(got, "kind: Blueprint") {
		t.Errorf("the blueprint is %q", got)
	}
}

// largeContent cannot be compressed, so that it is as large on the wire.
func largeContent() string {
	random := rand.NewChaCha8([32]byte{1})
	data := make([]byte, 8<<20)
	_, _ = random.Read(data)
	return string(data)
}

const tripConstructor = `
components:
- name: example.org/shop/trip
  version: 1.0.0+build.7
  provider: {name: shop-team, labels: [{name: contact, value: {mail: shop@example.org}}]}
  labels: [{name: l, value: [1, 2.50], version: v1, signing: true}]
  resources:
  - {name: large, type: blob, input: {type: file, path: large.bin}}
  - {name: schema, type: landscaper.gardener.cloud/jsonschema, labels: [{name: x, value: y}], input: {type: utf8, text: '{"type":"string"}', mediaType: application/json}}
  - {name: tree, type: directoryTree, input: {type: dir, path: tree, excludeFiles: ["*/*.log"]}}
  sources:
  - {name: code, type: git, version: "1", access: {type: gitHub, repoUrl: "https://github.com/example/shop", commit: 0123456789012345678901234567890123456789}}
`

// prepareTrip writes the files and publishes them.
func prepareTrip(t *testing.T, w *workplace, repository string, more ...string) {
	t.Helper()
	w.write(t, "large.bin", largeContent())
	w.write(t, "tree/a/b.txt", "b")
	w.write(t, "tree/a/c.log", "c")
	w.write(t, "constructor.yaml", tripConstructor)
	w.succeed(t, append([]string{"push", "constructor.yaml", repository}, more...)...)
}

// roundTrip publishes in every kind of repository, and reads everything back.
func roundTrip(t *testing.T, w *workplace) {
	const version = "//example.org/shop/trip:1.0.0+build.7"
	listings := map[string]bool{}
	for _, test := range []struct {
		reason, repository string
		more               []string
	}{
		{"a registry", w.registry.Address + "/trip", nil},
		{"an archive as directory", "archive", []string{"--create"}},
		{"an archive as compressed tar", "archive.tgz", []string{"--create"}},
		{"a registry with names as digests", `{"type":"OCIRegistry","baseUrl":"` + w.registry.Address + `/digests","componentNameMapping":"sha256-digest"}`, nil},
	} {
		prepareTrip(t, w, test.repository, test.more...)
		listings[w.succeed(t, "list-resources", test.repository+version, "-o", "json")] = true
		if got := w.succeed(t, "get", test.repository+version); !strings.Contains(got, "version: 1.0.0+build.7") || !strings.Contains(got, "repoUrl: https://github.com/example/shop") {
			t.Errorf("%s: the descriptor is\n%s", test.reason, got)
		}
		w.succeed(t, "download", test.repository+version, "large", "-O", "back.bin", "--force")
		if w.read(t, "back.bin") != w.read(t, "large.bin") {
			t.Errorf("%s: the large content came back changed", test.reason)
		}
		if got := w.succeed(t, "download", test.repository+version, "schema", "-O", "-"); got != `{"type":"string"}` {
			t.Errorf("%s: the schema came back as %q", test.reason, got)
		}
		w.succeed(t, "download", test.repository+version, "tree", "--extract", "-O", "back", "--force")
		if entries, err := os.ReadDir(filepath.Join(w.directory, "back/a")); err != nil || len(entries) != 1 || w.read(t, "back/a/b.txt") != "b" {
			t.Errorf("%s: the tree came back as %v, %v", test.reason, entries, err)
		}
		var published []struct{ Unchanged bool }
		again := w.succeed(t, "push", "constructor.yaml", test.repository, "-o", "json")
		if err := json.Unmarshal([]byte(again), &published); err != nil || len(published) != 1 || !published[0].Unchanged {
			t.Errorf("%s: publishing the same again: %s", test.reason, again)
		}
	}
	if len(listings) != 1 {
		t.Errorf("the resources differ between repositories: %v", listings)
	}
}

// images publishes references to an image and a chart in the registry, and a copy
// of the image.
func images(t *testing.T, w *workplace) {
	tree := packed(t, "web/Chart.yaml", "name: web\n")
	image := pushArtifact(t, w, "images/web", ocispec.MediaTypeImageConfig, ocispec.MediaTypeImageLayer, tree)
	pushArtifact(t, w, "charts/web", "application/vnd.cncf.helm.config.v1+json", "application/vnd.cncf.helm.chart.content.v1.tar+gzip", tree)
	w.write(t, "constructor.yaml", strings.ReplaceAll(`
name: example.org/shop/images
version: 1.0.0
provider: {name: shop-team}
resources:
- {name: image, type: ociImage, version: 1.0.0, access: {type: ociArtifact, imageReference: "HOST/images/web:1.0.0"}}
- {name: chart, type: helmChart, version: 1.0.0, access: {type: ociArtifact, imageReference: "HOST/charts/web:1.0.0"}}
- {name: helm, type: helmChart, version: 1.0.0, access: {type: helm, helmRepository: "oci://HOST/charts", helmChart: "web:1.0.0"}}
- {name: copy, type: ociImage, version: 1.0.0, relation: local, input: {type: ociImage, path: "HOST/images/web:1.0.0"}}
`, "HOST", w.registry.Address))
	at := w.registry.Address + "/pictures"
	said := w.components(t, "push", "constructor.yaml", at)
	if said.code != 0 || !strings.Contains(said.err, "reading the digest of resource image\n") || !strings.Contains(said.err, "reading image "+w.registry.Address+"/images/web:1.0.0\n") {
		t.Fatalf("push: %+v", said)
	}
	if got := w.succeed(t, "get", at+"//example.org/shop/images:1.0.0"); !strings.Contains(got, image.Digest.Encoded()) || !strings.Contains(got, "ociArtifactDigest/v1") {
		t.Errorf("the digest of the image is not in the descriptor:\n%s", got)
	}
	for name, want := range map[string]string{"image": "artifact-descriptor.json", "copy": "artifact-descriptor.json", "chart": "web/Chart.yaml", "helm": "web/Chart.yaml"} {
		w.succeed(t, "download", at+"//example.org/shop/images:1.0.0", name)
		w.succeed(t, "download", at+"//example.org/shop/images:1.0.0", name, "--extract")
		if w.read(t, filepath.Join(name, want)) == "" || w.read(t, name+".tgz") == "" {
			t.Errorf("%s is empty", name)
		}
	}
}

// target is the registry without the command line.
func (w *workplace) target(t *testing.T) *registry.Registry {
	t.Helper()
	authority, err := os.ReadFile(w.registry.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	store := &credential.Store{}
	store.AddConsumer(map[string]string{"type": credential.TypeOCIRegistry, "hostname": w.registry.Address}, credential.Properties{
		credential.Username: w.registry.Username, credential.Password: w.registry.Password,
	})
	pool := registry.NewPool(egress.Policy{AllowLoopback: true}, registry.DefaultTimeouts())
	t.Cleanup(pool.Close)
	return registry.NewClient(pool, registry.Options{Credentials: store, Authorities: string(authority)}).Registry("", w.registry.Address)
}

func wrongCredentials(t *testing.T, w *workplace) {
	at := w.registry.Address + "/private"
	prepareTrip(t, w, at, "-q")
	w.write(t, "wrong.json", fmt.Sprintf(`{"auths":{%q:{"username":%q,"password":"wr0ng"}}}`, w.registry.Address, w.registry.Username))
	w.write(t, "other.json", fmt.Sprintf(`{"auths":{"other.example.org":{"username":%q,"password":%q}}}`, w.registry.Username, w.registry.Password))
	w.write(t, "helper.json", `{"credsStore":"desktop"}`)
	w.write(t, "ocm.yaml", fmt.Sprintf("type: credentials.config.ocm.software\nconsumers: [{identity: {type: OCIRegistry, hostname: %q}, credentials: [{type: Credentials, properties: {username: %q, password: %q}}]}]\n",
		w.registry.Address, w.registry.Username, w.registry.Password))
	for _, test := range []struct {
		reason string
		args   []string
		code   int
		err    string
	}{
		{"a wrong password", []string{"--registry-config", "wrong.json"}, 4, "the registry denies access: check the credentials for this host"},
		{"credentials for another host", []string{"--registry-config", "other.json"}, 4, "give credentials with --registry-config or --ocm-config"},
		{"credentials that a helper has", []string{"--registry-config", "helper.json"}, 4, "the credential helpers that helper.json names are not run"},
		{"an OCM configuration counts more", []string{"--registry-config", "wrong.json", "--ocm-config", "ocm.yaml"}, 0, ""},
		{"under its older name", []string{"--registry-config", "helper.json", "--cc-config", "ocm.yaml"}, 0, ""},
	} {
		for _, command := range []string{"get", "list-resources"} {
			got := w.components(t, append([]string{command, at, "example.org/shop/trip", "1.0.0+build.7"}, test.args...)...)
			if got.code != test.code || !strings.Contains(got.err, test.err) || (got.out != "") != (test.code == 0) || strings.Contains(got.err, "wr0ng") {
				t.Errorf("%s: %s %+v", test.reason, command, got)
			}
		}
		got := w.components(t, append([]string{"push", "constructor.yaml", at, "-q"}, test.args...)...)
		if got.code != test.code {
			t.Errorf("%s: push %+v", test.reason, got)
		}
	}
	empty := &workplace{registry: &lab.Registry{Address: w.registry.Address, Password: w.registry.Password, CAFile: "/nowhere"}, directory: w.directory, home: w.home}
	if got := empty.components(t, "get", at, "example.org/shop/trip", "1.0.0+build.7"); got.code != 1 || !strings.Contains(got.err, "name the certificate authority of the registry with --ca-file") {
		t.Errorf("an unknown certificate: %+v", got)
	}
	if got := empty.components(t, "get", at, "example.org/shop/trip", "1.0.0+build.7", "--ca-file", w.registry.CAFile); got.code != 0 {
		t.Errorf("a known certificate: %+v", got)
	}
}

func notThere(t *testing.T, w *workplace) {
	at := w.registry.Address + "/here"
	prepareTrip(t, w, at, "-q")
	if got := w.succeed(t, "list", at, "example.org/shop/trip"); got != "example.org/shop/trip:1.0.0+build.7\n" {
		t.Errorf("the versions are %q", got)
	}
	for _, test := range []struct {
		reason string
		args   []string
		err    string
	}{
		{"no such version", []string{"get", at, "example.org/shop/trip", "9.9.9"}, `component version "example.org/shop/trip:9.9.9" not found in ` + at + ": there are example.org/shop/trip:1.0.0+build.7\n"},
		{"no such component", []string{"list-resources", at, "example.org/shop/none", "1.0.0"}, `component version "example.org/shop/none:1.0.0" not found in ` + at + ": check the name, the version and the path of the repository\n"},
		{"no such path", []string{"get", w.registry.Address + "/nowhere", "example.org/shop/trip", "1.0.0+build.7"}, "not found"},
		{"no such component to list", []string{"list", at, "example.org/shop/none"}, `component "example.org/shop/none" has no versions in ` + at + ": check the name and the path of the repository"},
		{"no such resource", []string{"download", at, "example.org/shop/trip", "1.0.0+build.7", "none"}, "there are large, schema, tree"},
		{"no such reference", []string{"download", at, "example.org/shop/trip", "1.0.0+build.7", "x", "-r", "db"}, "failed to get component reference with name db"},
	} {
		if got := w.components(t, test.args...); got.code != 3 || got.out != "" || !strings.Contains(got.err, test.err) {
			t.Errorf("%s: %+v", test.reason, got)
		}
	}
}
