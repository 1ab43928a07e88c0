package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.landscaper.dev/test/lab"
)

const shopExample = "../../../examples/blueprints/shop"

// TestBlueprints runs the commands for blueprints against a registry that has
// authentication and TLS. They need no cluster.
func TestBlueprints(t *testing.T) {
	started := lab.Run(t, lab.Options{With: []string{"registry-auth", "registry-tls"}})
	shared := &componentsTest{registry: started.Registry}
	for name, test := range map[string]func(*testing.T, *workplace){
		"documented commands":        documentedBlueprints,
		"the same from every source": everySource,
		"a tree":                     treeOfComponents,
		"what is refused":            refusedBlueprints,
		"a choice of blueprints":     choiceOfBlueprints,
		"artifacts of their own":     ownArtifacts,
	} {
		t.Run(name, func(t *testing.T) {
			w := shared.workplace(t)
			if err := os.CopyFS(w.directory, os.DirFS(shopExample)); err != nil {
				t.Fatal(err)
			}
			test(t, w)
		})
	}
}

// blueprints runs a command; nothing that it prints may be the password.
func (w *workplace) blueprints(t *testing.T, args ...string) outcome {
	t.Helper()
	result := w.begin(t, append([]string{"blueprints"}, args...)...).end(t)
	if strings.Contains(result.out+result.err, w.registry.Password) {
		t.Errorf("blueprints %s shows the password: %+v", strings.Join(args, " "), result)
	}
	return result
}

// documentedBlueprints runs the section of the documentation in the example, with
// the address of the registry in the place of the one that does not exist.
func documentedBlueprints(t *testing.T, w *workplace) {
	page, err := os.ReadFile("../../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(page), "\n## Blueprints\n")
	section, _, _ = strings.Cut(section, "\n## ")
	if !found {
		t.Fatal("the page has no section Blueprints")
	}
	const host = "registry.example.org"
	commands := 0
	for _, block := range documentedBlock.FindAllStringSubmatch(section, -1) {
		kind, name, text := block[1], block[2], block[3]
		if kind == "yaml" {
			if want := w.read(t, name); text != want {
				t.Errorf("the page shows %s as\n%s\ninstead of\n%s", name, text, want)
			}
			continue
		}
		for _, example := range strings.Split(strings.TrimPrefix(text, "$ "), "\n$ ") {
			command, want, _ := strings.Cut(strings.TrimRight(example, "\n"), "\n")
			args := strings.Fields(strings.ReplaceAll(command, host, w.registry.Address))
			result := w.begin(t, args[1:]...).end(t)
			// Charts in the example have an address at the host that does not exist.
			got := strings.ReplaceAll(result.err+result.out, w.registry.Address, host)
			got = strings.TrimRight(documentedDigest.ReplaceAllString(got, "sha256:…"), "\n")
			if got != want {
				t.Errorf("%s\nprints\n%s\ninstead of\n%s", command, got, want)
			}
			commands++
		}
	}
	if commands < 10 {
		t.Errorf("the section has %d commands", commands)
	}
}

// publishShop publishes the example.
func publishShop(t *testing.T, w *workplace, repository string, more ...string) string {
	t.Helper()
	w.succeed(t, append([]string{"push", "constructor.yaml", repository, "-q"}, more...)...)
	return repository + "//example.org/shop:1.0.0"
}

// everySource renders the example from every kind of source.
func everySource(t *testing.T, w *workplace) {
	archive := publishShop(t, w, "./transport.tgz", "--create")
	remote := publishShop(t, w, w.registry.Address+"/sources")
	mapped := publishShop(t, w, `{"type":"OCIRegistry","baseUrl":"`+w.registry.Address+`/mapped","componentNameMapping":"sha256-digest"}`)
	w.succeed(t, "download", remote, "blueprint", "-O", "blueprint.tgz")
	inputs := []string{"deployitems,exports", "-f", "imports.yaml", "-e", "exports.yaml", "-o", "json", "-q"}
	want := w.blueprints(t, append([]string{"render", remote}, inputs...)...)
	if want.code != 0 || want.err != "" || !strings.Contains(want.out, `"address": "https://shop.example.org"`) || !strings.Contains(want.out, `"database": "server.shop.svc"`) {
		t.Fatalf("%+v", want)
	}
	for _, source := range [][]string{{archive}, {mapped}, {"blueprint", "-c", remote}, {"blueprint/blueprint.yaml", "-c", archive}, {"blueprint.tgz", "-c", archive}} {
		if got := w.blueprints(t, append(append([]string{"render"}, source...), inputs...)...); got != want {
			t.Errorf("%s: %+v", source, got)
		}
		if got := w.blueprints(t, append([]string{"validate", "--strict"}, source...)...); got != (outcome{out: "Blueprint validated without errors\n"}) {
			t.Errorf("validate %s: %+v", source, got)
		}
	}
}

// treeOfComponents looks at the files of a tree whose subinstallations come from
// two components.
func treeOfComponents(t *testing.T, w *workplace) {
	source := publishShop(t, w, w.registry.Address+"/tree")
	if got := w.blueprints(t, "render", source, "-f", "imports.yaml", "-e", "exports.yaml", "-w", "out"); got.code != 0 || !strings.Contains(got.err, "resolving component descriptor example.org/shop/database:3.1.0\n") {
		t.Fatalf("%+v", got)
	}
	for name, want := range map[string]string{
		"root/installation.yaml":                "resourceName: blueprint",
		"root/database/installation.yaml":       "componentName: example.org/shop/database",
		"root/database/deployitems/server.yaml": "ref: registry.example.org/charts/database:3.1.0",
		"root/database/exports.yaml":            "host: server.shop.svc",
		"root/web/imports.yaml":                 "database: server.shop.svc",
		"root/web/deployitems/chart.yaml":       "replicas: 2",
		"root/exports.yaml":                     "address: https://shop.example.org",
	} {
		if got := w.read(t, filepath.Join("out", name)); !strings.Contains(got, want) {
			t.Errorf("%s is\n%s", name, got)
		}
	}
}

func refusedBlueprints(t *testing.T, w *workplace) {
	source := publishShop(t, w, w.registry.Address+"/refused")
	w.write(t, "wrong.json", fmt.Sprintf(`{"auths":{%q:{"username":%q,"password":"wr0ng"}}}`, w.registry.Address, w.registry.Username))
	w.write(t, "bad.yaml", "imports: {cluster: {spec: {type: landscaper.gardener.cloud/kubernetes-cluster, config: {kubeconfig: s3cret}}}, domain: 1, replicas: 0}\n")
	missing := strings.TrimSuffix(source, "1.0.0") + "9.9.9"
	for _, test := range []struct {
		reason string
		args   []string
		code   int
		err    string
	}{
		{"a wrong password", []string{"render", source, "--registry-config", "wrong.json"}, 4, "check the credentials for this host"},
		{"a wrong password for -c", []string{"render", "blueprint", "-c", source, "--registry-config", "wrong.json"}, 4, "check the credentials for this host"},
		{"an unknown version", []string{"render", missing}, 3, `component version "example.org/shop:9.9.9" not found in ` + w.registry.Address + "/refused: there are example.org/shop:1.0.0\n"},
		{"an unknown resource", []string{"render", source, "--resource", "none"}, 3, "failed to get resource with name none"},
		{"wrong imports, all at once", []string{"render", source, "-f", "bad.yaml"}, 1, "root.domain: imported datatype does not have the expected schema"},
		{"an unknown artifact", []string{"get", w.registry.Address + "/nowhere:1"}, 3, "not found"},
		{"a component instead of a blueprint", []string{"get", w.registry.Address + "/refused/component-descriptors/example.org/shop:1.0.0"}, 1, "artifact does not match blueprint downloader"},
		{"a push with a wrong password", []string{"push", w.registry.Address + "/x:1", "blueprint", "--registry-config", "wrong.json"}, 4, "check the credentials for this host"},
	} {
		got := w.blueprints(t, append(test.args, "--strict-exit-codes")...)
		if got.code != test.code || got.out != "" || !strings.Contains(got.err, test.err) || strings.Contains(got.err, "wr0ng") || strings.Contains(got.err, "s3cret") {
			t.Errorf("%s: %+v", test.reason, got)
		}
		if got := w.blueprints(t, test.args...); got.code != 1 {
			t.Errorf("%s: without strict exit codes: %+v", test.reason, got)
		}
	}
	got := w.blueprints(t, "validate", missing, "--strict-exit-codes")
	if got.code != 3 || !strings.Contains(got.out, "error: component version") {
		t.Errorf("validate an unknown version: %+v", got)
	}
}

// ownArtifacts publishes a blueprint as an artifact, and reads it again.
func ownArtifacts(t *testing.T, w *workplace) {
	at := w.registry.Address + "/own/database:3.1.0"
	if got := w.blueprints(t, "push", at, "database"); got.code != 0 || !strings.HasPrefix(got.out, "Published "+at+" (sha256:") {
		t.Fatalf("%+v", got)
	}
	if got := w.blueprints(t, "push", at, "database/blueprint.yaml"); got.code != 0 || !strings.HasPrefix(got.out, "Unchanged: "+at) {
		t.Errorf("the same again: %+v", got)
	}
	if got := w.blueprints(t, "push", at, "blueprint"); got.code != 1 || !strings.Contains(got.err, "exists with other content") {
		t.Errorf("something else: %+v", got)
	}
	if got := w.blueprints(t, "get", at); got.code != 0 || got.out != w.read(t, "database/blueprint.yaml") {
		t.Errorf("%+v", got)
	}
	local := w.blueprints(t, "render", "database", "-f", "imports.yaml", "-q")
	if got := w.blueprints(t, "render", "oci://"+at, "-f", "imports.yaml", "-q"); got != local || got.code != 0 {
		t.Errorf("%+v instead of %+v", got, local)
	}
	if got := w.blueprints(t, "push", at, "blueprint", "--overwrite"); got.code != 0 {
		t.Errorf("%+v", got)
	}
	if got := w.blueprints(t, "pull", at, "-w", "unpacked"); got.code != 0 || w.read(t, "unpacked/namespace.tpl") != w.read(t, "blueprint/namespace.tpl") {
		t.Errorf("%+v", got)
	}
	if got := w.blueprints(t, "pull", at, "-w", "unpacked"); got.code != 1 || !strings.Contains(got.err, "is not empty") {
		t.Errorf("a directory with files: %+v", got)
	}
}

// choiceOfBlueprints has a component version with two blueprints, and one with none.
func choiceOfBlueprints(t *testing.T, w *workplace) {
	w.write(t, "constructor.yaml", `
components:
- name: example.org/two
  version: 1.0.0
  provider: {name: shop-team}
  resources:
  - {name: shop, type: blueprint, input: {type: dir, path: blueprint, mediaType: application/vnd.gardener.landscaper.blueprint.v1+tar}}
  - {name: database, type: landscaper.gardener.cloud/blueprint, input: {type: dir, path: database, mediaType: application/vnd.gardener.landscaper.blueprint.layer.v1.tar}}
- name: example.org/none
  version: 1.0.0
  provider: {name: shop-team}
`)
	w.succeed(t, "push", "constructor.yaml", "./choice.tar", "--create", "-q")
	for _, test := range []struct {
		reason, args string
		code         int
		text         string
	}{
		{"two of them", "./choice.tar//example.org/two:1.0.0", 64, "has the blueprints shop, database: choose one with --resource"},
		{"the one that was chosen", "./choice.tar//example.org/two:1.0.0 di --resource database", 0, "-- deployitems server"},
		{"none", "./choice.tar//example.org/none:1.0.0", 3, "has no blueprint among its resources"},
	} {
		got := w.blueprints(t, append(strings.Fields("render -f imports.yaml --strict-exit-codes"), strings.Fields(test.args)...)...)
		if got.code != test.code || !strings.Contains(got.out+got.err, test.text) {
			t.Errorf("%s: %+v", test.reason, got)
		}
	}
}
