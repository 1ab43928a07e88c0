package plan

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/opencontainers/go-digest"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cluster/egress"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/content/component/access"
	"go.landscaper.dev/internal/content/component/archive"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/registry"
	"go.landscaper.dev/internal/content/component/repository"
	"go.landscaper.dev/internal/model/dataflow"
)

// localComponent is a repository with one component version. Its resource is a
// blueprint.
func localComponent(name, version, resource, description string) fstest.MapFS {
	return fstest.MapFS{
		"component.yaml": {Data: []byte(fmt.Sprintf(`
meta: {schemaVersion: v2}
component:
  name: %s
  version: %s
  provider: internal
  resources:
  - {name: %s, version: %s, type: blueprint, relation: local, access: {type: localFilesystemBlob, fileName: files, mediaType: application/x-tar}}
`, name, version, resource, version))},
		"blobs/files/blueprint.yaml": {Data: []byte(description)},
	}
}

// localSession finds components in files. It has no other place to look at.
func localSession(t *testing.T, files fstest.MapFS) *component.Session {
	t.Helper()
	opened := component.NewSession(component.NewShared(), component.Options{Local: files, Default: descriptor.Typed(`{"type":"local","filePath":"."}`)})
	t.Cleanup(func() { _ = opened.Close() })
	return opened
}

// openAll opens what an Installation refers to.
func openAll(t *testing.T, from *component.Session, inst *v1alpha1.Installation) (Input, error) {
	t.Helper()
	in := Input{Installation: inst}
	var err error
	if definition := inst.Spec.ComponentDescriptor; definition != nil {
		if in.Component, err = OpenComponent(t.Context(), from, definition); err != nil {
			return in, err
		}
	}
	in.Blueprint, err = OpenBlueprint(t.Context(), nil, in.Component, &inst.Spec.Blueprint)
	return in, err
}

// The names and references of the overview are empty or alternatives.
var fillOverview = []correction{
	{why: "names and references are left out", from: "- name: \"\" # logical internal name\n      dataRef: \"\"", to: "- name: name\n      dataRef: b"},
	{why: "names and references are left out", from: "- name: \"\" # logical internal name\n      target: \"\"", to: "- name: c\n      target: d"},
	{why: "the overview lists the phases", from: "Progressing | Pending | Deleting | Completed | Failed", to: "Completed"},
	{why: "the overview lists the types", from: "dataobject | target", to: "dataobject"},
	{why: "a version of a value is a string", from: "configGeneration: 0", to: `configGeneration: "0"`},
}

const overviewBlueprint = `
apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Blueprint
imports:
- {name: name, schema: {type: string}}
- {name: c, targetType: kubernetes-cluster}
exports:
- {name: c, targetType: kubernetes-cluster}
- {name: name, schema: {type: string}}
deployExecutions:
- name: d
  type: GoTemplate
  template: |
    deployItems:
    - {name: "{{ .imports.name }}", type: t, target: {import: c}, config: {version: "{{ .componentDescriptorDef.ref.version }}"}}
exportExecutions:
- {name: e, type: Spiff, template: {exports: {name: exported, c: {type: landscaper.gardener.cloud/kubernetes-cluster, config: {}}}}}
`

func overview(t *testing.T, d documents) {
	inst := documentInstallation(t, d.block(t, "installations-01", fillOverview...))
	from := localSession(t, localComponent("github.com/gardener/gardener", "v1.7.2", "gardener", overviewBlueprint))
	in, err := openAll(t, from, inst)
	if err != nil {
		t.Fatal(err)
	}
	if in.Imports, err = dataflow.Read(t.Context(), inst, stored{"DataObject space/b": "imported", "Target space/d": ""}); err != nil {
		t.Fatal(err)
	}
	made, err := New(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	children, err := made.Children(t.Context())
	if err != nil || len(children.DeployItems) != 1 || children.DeployItems[0].Target.Name != "d" {
		t.Fatalf("%+v, %v", children, err)
	}
	wantYAML(t, "a fixed value replaces an import", configs(t, children.DeployItems), "{value: {version: v1.7.2}}")
	restart(t, made, Results{}, opener(from))
	exports, err := made.Exports(t.Context(), Results{})
	if err != nil || len(exports.DataObjects) != 1 || exports.DataObjects[0].Name != "b" || len(exports.Targets) != 1 || exports.Targets[0].Name != "d" {
		t.Fatalf("%+v, %v", exports, err)
	}
	wantYAML(t, "a fixed value replaces an export", exports.DataObjects[0].Data, "value")
}

// The comments of the overview show a repository context and both inline forms. The
// version of the inline descriptor has a dot too much.
func overviewComments(t *testing.T, d documents) {
	const reference, inline, blueprint = "    ref:\n#", "#    inline:    #", "  blueprint:\n"
	text := d.block(t, "installations-01", append(fillOverview,
		correction{why: "an ellipsis", from: "v.1.7.2\n#        ...\n", to: "v.1.7.2\n"},
		correction{why: "an ellipsis", from: "kind: Blueprint\n#          ...\n", to: "kind: Blueprint\n#          imports: [{name: name, schema: {type: string}}]\n"},
		correction{why: "the comments show what is instead of ref", from: "    ref:\n      resourceName: gardener\n", to: ""})...)
	head, rest, _ := strings.Cut(text, "  imports:\n    data:")
	// Here the comments show ref and inline at once, too: what is between from and to
	// is left out.
	read := func(from, to string) *v1alpha1.Installation {
		chosen := head[:strings.Index(head, from)] + head[strings.Index(head, to):]
		return documentInstallation(t, regexp.MustCompile(`(?m)^#(  )`).ReplaceAllString(chosen, "$1")+"  imports:\n    data:"+rest)
	}
	inst := read(inline, blueprint)
	spec, err := repository.ParseSpec(component.Context(inst.Spec.ComponentDescriptor.Reference.RepositoryContext))
	if err != nil || spec.Host != "eu.gcr.io" || spec.SubPath != "myproj" {
		t.Errorf("the older name of the type, and a path in the address: %+v, %v", spec, err)
	}
	inst = read(reference, inline)
	in, err := openAll(t, localSession(t, fstest.MapFS{}), inst)
	if err != nil || in.Component.Version.Name != "github.com/gardener/gardener" || in.Component.Version.Version != "v.1.7.2" || in.Blueprint.Info.Imports[0].Name != "name" {
		t.Errorf("an inline version is taken as it is, and a blueprint may be a map: %+v, %v", in, err)
	}
	inst.Spec.ComponentDescriptor = &v1alpha1.ComponentDescriptorDefinition{Reference: &v1alpha1.ComponentDescriptorReference{ComponentName: "github.com/gardener/gardener", Version: "v.1.7.2"}}
	from := component.NewSession(component.NewShared(), component.Options{Default: descriptor.Typed(`{"type":"ociRegistry","baseUrl":"eu.gcr.io/myproj"}`)})
	_, err = openAll(t, from, inst)
	wantError(t, "an invalid version cannot be a tag", err, `"v.1.7.2"`, "version")
}

func remoteDescriptor(t *testing.T, d documents) {
	inst := documentInstallation(t, d.block(t, "installations-02", anyBlueprint))
	from := localSession(t, localComponent("github.com/my-comp", "v0.0.1", "any", "kind: Blueprint\ndeployExecutions: [{name: d, type: GoTemplate, template: \"deployItems: [{name: x, type: t, config: {own: '{{ .cd.component.version }}'}}]\"}]"))
	in, err := openAll(t, from, inst)
	if err != nil {
		t.Fatal(err)
	}
	made, err := children(t, in)
	if err != nil {
		t.Fatal(err)
	}
	wantYAML(t, "the descriptor is found in the default repository", configs(t, made.DeployItems), "{x: {own: v0.0.1}}")
	wantYAML(t, "the reference in effect has the repository", in.Component.Reference.RepositoryContext, "{type: local, filePath: .}")

	inst.Spec.ComponentDescriptor.Reference.Version = "v0.0.2"
	_, err = openAll(t, from, inst)
	wantError(t, "another version", err, `component version "github.com/my-comp:v0.0.2" not found`)
	_, err = openAll(t, component.NewSession(component.NewShared(), component.Options{}), inst)
	wantError(t, "the repository context is optional only if there is a default", err, "set a repositoryContext in the Installation or its Context")
}

const imagesBlueprint = `
kind: Blueprint
deployExecutions:
- name: images
  type: GoTemplate
  template: |
    {{- $image := getResource .cd "name" "echo-server-image" }}
    deployItems:
    - name: echo
      type: t
      config:
        image: {{ $image.access.imageReference }}
        repository: {{ ociRefRepo $image.access.imageReference }}
        version: {{ ociRefVersion $image.access.imageReference }}
        from: {{ (getRepositoryContext .cd).baseUrl }}
`

func inlineDescriptor(t *testing.T, d documents) {
	inst := documentInstallation(t, d.block(t, "installations-03", anyBlueprint))
	from := localSession(t, localComponent("github.com/my-comp", "v0.0.1", "any", imagesBlueprint))
	opened, err := OpenComponent(t.Context(), from, inst.Spec.ComponentDescriptor)
	if err != nil {
		t.Fatal(err)
	}
	if len(opened.Version.Resources) != 1 || opened.Version.Resources[0].Name != "echo-server-image" || opened.Reference != nil {
		t.Errorf("the inline descriptor comes before the one of the same version in the repository: %+v", opened.Version.Resources)
	}
	made, err := children(t, Input{Installation: inst, Component: opened, Blueprint: load(t, imagesBlueprint)})
	if err != nil {
		t.Fatal(err)
	}
	wantYAML(t, "templates see it", configs(t, made.DeployItems),
		"{echo: {image: 'hashicorp/http-echo:0.2.3', repository: hashicorp/http-echo, version: 0.2.3, from: registry.example.com/test}}")
}

func nestedDescriptor(t *testing.T, d documents) {
	references := strings.ReplaceAll(strings.TrimSpace(d.block(t, "installations-04")), "\n", "\n        ")
	inst := documentInstallation(t, d.block(t, "installations-03", anyBlueprint, correction{why: "the block is a part of the other one", from: "componentReferences: []", to: references}))
	from := component.NewSession(component.NewShared(), component.Options{})
	opened, err := OpenComponent(t.Context(), from, inst.Spec.ComponentDescriptor)
	if err != nil {
		t.Fatal(err)
	}
	made, err := children(t, Input{Installation: inst, Component: opened, Blueprint: load(t, `
deployExecutions:
- name: d
  type: GoTemplate
  template: |
    deployItems:
    - name: all-{{ len .components.components }}
      type: t
      config: {ingress: {{ (getComponent .cd "name" "ingress").component.name }}}
`)})
	if err != nil {
		t.Fatal(err)
	}
	wantYAML(t, "no registry is asked", configs(t, made.DeployItems), "{all-2: {ingress: github.com/gardener/landscaper/ingress-nginx}}")
}

// singleLayer is a registry with one artifact, under the tag latest.
func singleLayer(t *testing.T, name string, layer []byte, mediaType string) string {
	t.Helper()
	config := []byte("{}")
	manifest := fmt.Appendf(nil, `{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json",
		"config":{"mediaType":"application/vnd.gardener.landscaper.blueprint.config.v1","digest":%q,"size":%d},
		"layers":[{"mediaType":%q,"digest":%q,"size":%d}]}`, digest.FromBytes(config), len(config), mediaType, digest.FromBytes(layer), len(layer))
	content := map[string][]byte{"manifests/latest": manifest, "manifests/" + digest.FromBytes(manifest).String(): manifest}
	for _, blob := range [][]byte{config, layer} {
		content["blobs/"+digest.FromBytes(blob).String()] = blob
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := content[strings.TrimPrefix(r.URL.Path, "/v2/"+name+"/")]
		switch {
		case r.URL.Path == "/v2/":
		case !ok:
			w.WriteHeader(http.StatusNotFound)
		default:
			w.Header().Set("Docker-Content-Digest", digest.FromBytes(body).String())
			w.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
			w.Header().Set("Content-Length", fmt.Sprint(len(body)))
			if r.Method == http.MethodGet {
				_, _ = w.Write(body)
			}
		}
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

func remoteBlueprint(t *testing.T, d documents) {
	published, err := descriptor.Decode([]byte(d.block(t, "installations-05")))
	if err != nil {
		t.Fatal(err)
	}
	var image struct {
		ImageReference string `json:"imageReference"`
	}
	if err := published.Resources[0].Access.Decode(&image); err != nil {
		t.Fatal(err)
	}
	if got, err := access.ParseReference(image.ImageReference); err != nil || got.Host != "registry.example.com" || got.Tag != "latest" {
		t.Errorf("a reference without a tag means latest: %+v, %v", got, err)
	}

	var packed bytes.Buffer
	description := []byte("kind: Blueprint\ndeployExecutions: [{name: d, type: GoTemplate, template: \"deployItems: [{name: from-registry, type: t}]\"}]\n")
	if err := archive.Pack(&packed, archive.File{Path: v1alpha1.BlueprintFileName, Data: description}); err != nil {
		t.Fatal(err)
	}
	host := singleLayer(t, "blueprints/my-application", packed.Bytes(), "application/vnd.gardener.landscaper.blueprint.v1+tar+gzip")
	files := fstest.MapFS{"component.yaml": {Data: []byte(d.block(t, "installations-05", correction{why: "a registry that exists", from: "registry.example.com", to: "http://" + host}))}}
	from := component.NewSession(component.NewSharedWith(egress.Policy{AllowLoopback: true}), component.Options{
		Local: files, Default: descriptor.Typed(`{"type":"local","filePath":"."}`), Registry: registry.Options{AllowPlainHTTP: true},
	})
	t.Cleanup(func() { _ = from.Close() })
	inst := documentInstallation(t, d.block(t, "installations-06"))
	in, err := openAll(t, from, inst)
	if err != nil {
		t.Fatal(err)
	}
	made, err := children(t, in)
	if err != nil || len(made.DeployItems) != 1 || made.DeployItems[0].Name != "from-registry" {
		t.Errorf("%+v, %v", made, err)
	}
	inst.Spec.Blueprint.Reference.ResourceName = "my-application-2"
	_, err = openAll(t, from, inst)
	wantError(t, "a resource that does not exist", err, "failed to get resource with name my-application-2")
}
