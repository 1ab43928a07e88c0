package build

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	api "go.landscaper.dev/api/kustomize/v1alpha1"
	"go.landscaper.dev/internal/base/memfs"
)

// files are paths and contents of a source. A content that begins with -> is a link.
type files map[string]string

func tree(t testing.TB, from files) *memfs.Tree {
	t.Helper()
	b := &memfs.Builder{}
	for name, content := range from {
		add := b.AddFile
		if target, isLink := strings.CutPrefix(content, "->"); isLink {
			add, content = b.AddSymlink, target
		}
		if err := add(name, content); err != nil {
			t.Fatal(err)
		}
	}
	return b.Tree()
}

// built is what a configuration makes of a source, as YAML.
func built(t testing.TB, from files, config string) (string, error) {
	t.Helper()
	parsed := &api.ProviderConfiguration{}
	if err := yaml.UnmarshalStrict([]byte(config), parsed); err != nil {
		t.Fatal(err)
	}
	found, err := Build(t.Context(), tree(t, from), parsed)
	var texts []string
	for _, object := range found {
		text, err := yaml.Marshal(object.Object)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	return strings.Join(texts, "---\n"), err
}

const (
	configMap  = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: v}\n"
	deployment = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 1, selector: {matchLabels: {app: web}},
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: "nginx:1", envFrom: [{configMapRef: {name: settings}}]}]}}}}`
)

// TestFeatures shows what of kustomize works.
func TestFeatures(t *testing.T) {
	tests := []struct {
		reason, config string
		from           files
		want           []string
	}{
		{"resources", "{}", files{"kustomization.yaml": "resources: [a.yaml]", "a.yaml": configMap}, []string{"kind: ConfigMap", "k: v", "name: a\n"}},
		{"several documents, and a list", "{}", files{"kustomization.yml": "resources: [./x/../a.yaml]", "a.yaml": configMap + "---\n# nothing\n---\n{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}]}"}, []string{"name: a\n", "name: b\n"}},
		{"no kustomization file", "{path: deploy}", files{"deploy/a.yaml": configMap, "deploy/b/c.yml": strings.Replace(configMap, "name: a", "name: c", 1), "deploy/README.md": "hello", "deploy/.git/x.yaml": "no", "deploy/k/kustomization.yaml": "namePrefix: p-\nresources: [d.yaml]", "deploy/k/d.yaml": strings.Replace(configMap, "name: a", "name: d", 1)}, []string{"name: a\n", "name: c\n", "name: p-d\n"}},
		{"bases and overlays", "{path: overlays/one}", files{"overlays/one/kustomization.yaml": "resources: [../../base]\nnameSuffix: -one\nnamespace: ns", "base/Kustomization": "resources: [a.yaml]", "base/a.yaml": configMap}, []string{"name: a-one\n", "namespace: ns"}},
		{"a base twice", "{}", files{"kustomization.yaml": "resources: [one, two]", "one/kustomization.yaml": "bases: [../base]\nnamePrefix: one-", "two/kustomization.yaml": "resources: [../base]\nnamePrefix: two-", "base/kustomization.yaml": "resources: [a.yaml]", "base/a.yaml": configMap}, []string{"name: one-a\n", "name: two-a\n"}},
		{"a file beside the kustomization, as with Flux", "{path: k}", files{"k/kustomization.yaml": "resources: [../shared/a.yaml]", "shared/a.yaml": configMap}, []string{"name: a\n"}},
		{"components", "{}", files{"kustomization.yaml": "resources: [a.yaml]\ncomponents: [c]", "a.yaml": configMap, "c/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\ncommonAnnotations: {from: component}"}, []string{"from: component"}},
		{"components of the item", "{path: k, components: [../c]}", files{"k/kustomization.yaml": "resources: [a.yaml]", "k/a.yaml": configMap, "c/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\ncommonAnnotations: {from: component}"}, []string{"from: component"}},
		{"generators with hashes, and references to them", "{}", files{"kustomization.yaml": "resources: [d.yaml]\nconfigMapGenerator: [{name: settings, literals: [k=v], files: [f.txt, other=f.txt], envs: [e.env]}]", "d.yaml": deployment, "f.txt": "text", "e.env": "A=B\n"}, []string{"f.txt: text", "other: text", "A: B", "name: settings-"}},
		{"secrets", "{}", files{"kustomization.yaml": "secretGenerator: [{name: s, literals: [password=hunter2], options: {disableNameSuffixHash: true}}]"}, []string{"password: aHVudGVyMg==", "name: s\n"}},
		{"patches of all sorts", "{}", files{"kustomization.yaml": "resources: [d.yaml]\npatches: [{path: p.yaml}, {patch: '[{op: replace, path: /spec/replicas, value: 3}]', target: {kind: Deployment}}]\npatchesStrategicMerge: [s.yaml, '{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, labels: {inline: x}}}']\npatchesJson6902: [{path: j.json, target: {group: apps, version: v1, kind: Deployment, name: web}}]", "d.yaml": deployment, "p.yaml": "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, labels: {file: x}}}", "s.yaml": "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, labels: {old: x}}}", "j.json": `[{"op": "add", "path": "/metadata/annotations", "value": {"json": "x"}}]`}, []string{"replicas: 3", "file: x", "inline: x", "old: x", "json: x"}},
		{"the fields of an item", `{namePrefix: p-, nameSuffix: -s, targetNamespace: ns, commonMetadata: {labels: {l: x}, annotations: {a: x}}, images: [{name: nginx, newName: registry.example/nginx, newTag: "2"}], patches: [{patch: '{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {paused: true}}'}]}`, files{"d.yaml": deployment}, []string{"name: p-web-s", "namespace: ns", "l: x", "a: x", "image: registry.example/nginx:2", "paused: true"}},
		{"labels in selectors where they are asked for", "{}", files{"kustomization.yaml": "resources: [d.yaml]\ncommonLabels: {team: x}\nimages: [{name: nginx, digest: 'sha256:24a0c4b4a4c0eb97a1aabb8e29f18e917d05abfe1b7a7c07857230879ce7d3d3'}]\nreplicas: [{name: web, count: 5}]", "d.yaml": deployment}, []string{"matchLabels:\n      app: web\n      team: x", "nginx@sha256:24a0", "replicas: 5"}},
		{"words of YAML 1.1 are texts, and large numbers stay whole", "{}", files{"a.yaml": "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: yes}, n: 9007199254740993}"}, []string{`k: "yes"`, ": 9007199254740993"}},
		{"aliases", "{}", files{"a.yaml": "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: &x hello, l: *x}}"}, []string{"k: hello", "l: hello"}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			got, err := built(t, test.from, test.config)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range test.want {
				if !strings.Contains(got, want) {
					t.Errorf("%q is missing in\n%s", want, got)
				}
			}
		})
	}
}

// word is a value that no message may repeat.
const word = "hunter2hunter2"

// refusal is a source that is refused, with a part of the message.
type refusal struct {
	reason, config string
	from           files
	want           string
}

// TestLists: objects that the library takes for a list do not vanish, also if they are not lists.
func TestLists(t *testing.T) {
	list := func(reason, items, want string) refusal {
		return refusal{reason, "{}", files{"a.yaml": configMap, "b.yaml": configMap + "---\n{apiVersion: v1, kind: List, items: " + items + "}"}, `"b.yaml": document 2: ` + want}
	}
	none, nothing := "items must be a list of objects", "items[0] must be an object"
	checkRefused(t, []refusal{
		list("a text", word, none),
		list("a number", "1", none),
		list("nothing", "null", none),
		list("a map, as of a range that was forgotten", "{a: "+word+"}", none),
		list("a text in it", "["+word+"]", nothing),
		list("nothing in it", "[null]", nothing),
		list("an object without anything in it", "[{}]", nothing),
		list("a list inside a list with items that are a text", "[{apiVersion: v1, kind: ConfigMapList, items: "+word+"}]", "items[0]."+none),
		{"a list of a kind", "{}", files{"a.yaml": "{apiVersion: v1, kind: ConfigMapList, items: " + word + "}"}, `"a.yaml": document 1: ` + none},
		{"a list in a resource of a kustomization", "{}", files{"kustomization.yaml": "resources: [a.yaml]", "a.yaml": "{apiVersion: v1, kind: List, items: " + word + "}"}, `"a.yaml": document 1: ` + none},
	})
	for _, test := range []struct{ reason, text string }{
		{"an empty list is a list", "{apiVersion: v1, kind: List, items: []}"},
		{"items of a kind other than a list are its own", "{apiVersion: example.com/v1, kind: Basket, metadata: {name: b}, items: {a: b}}"},
		{"a kind with List in its name and without items is an object", "{apiVersion: example.com/v1, kind: AllowList, metadata: {name: b}}"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if _, err := built(t, files{"a.yaml": configMap + "---\n" + test.text}, "{}"); err != nil {
				t.Error(err)
			}
		})
	}
}

// kustomization is a source with a kustomization file and an object.
func kustomization(text string) files {
	return files{"kustomization.yaml": text, "a.yaml": configMap}
}

// TestRefused shows what is refused, with messages that say where and why.
func TestRefused(t *testing.T) {
	checkRefused(t, []refusal{
		{"no such path", "{path: other}", kustomization(""), `path: "other": there is no such file`},
		{"a path out of the source", "{path: ../..}", kustomization(""), "leads out of the source"},
		{"a file as the path", "{path: a.yaml}", kustomization(""), "it is a file, not a directory"},
		{"nothing to deploy", "{path: d}", files{"d/README.md": ""}, "neither a kustomization file nor manifests"},
		{"two kustomization files", "{}", files{"kustomization.yaml": "", "Kustomization": ""}, "path: the top directory: the top directory has several kustomization files: kustomization.yaml, Kustomization"},
		{"two documents", "{}", kustomization("resources: [a.yaml]\n---\nresources: [a.yaml]"), "must be one YAML document, not 2"},
		{"a field that does not exist", "{}", kustomization("resource: [a.yaml]"), `field "resource" does not exist`},
		{"a field of a field that does not exist", "{}", kustomization("images: [{nam: x}]"), `unknown field "images[0].nam", did you mean "name"?`},
		{"a field of the wrong type", "{}", kustomization("resources: " + word), "field resources must be a list, not string"},
		{"plugins", "{}", kustomization("transformers: [a.yaml]"), "field transformers is refused: plugins are not run"},
		{"generator plugins", "{}", kustomization("generators: ['{apiVersion: builtin, kind: HelmChartInflationGenerator}']"), "field generators is refused"},
		{"charts", "{}", kustomization("helmCharts: [{name: x, repo: 'https://127.0.0.1:1/'}]"), "field helmCharts is refused"},
		{"schemas of the process", "{}", kustomization("openapi: {path: a.yaml}"), "field openapi is refused"},
		{"replacements", "{}", kustomization("replacements: [{path: a.yaml}]"), "field replacements is refused"},
		{"a link", "{}", files{"kustomization.yaml": "resources: [b.yaml]", "a.yaml": configMap, "b.yaml": "->a.yaml"}, `"b.yaml" is a link`},
		{"through a link to a directory", "{}", files{"kustomization.yaml": "resources: [d/a.yaml]", "e/a.yaml": configMap, "d": "->e"}, `"d" is a link`},
		{"a link as the path", "{path: d}", files{"e/a.yaml": configMap, "d": "->e"}, `"d" is a link`},
		{"a kustomization file that is a link", "{}", files{"kustomization.yaml": "->a.yaml", "a.yaml": configMap}, "is a link"},
		{"a manifest below that is a link", "{}", files{"b.yaml": "->a.yaml", "a.yaml": configMap}, "is a link"},
		{"above the source", "{}", kustomization("resources: [../../etc/passwd]"), "leads out of the source"},
		{"an absolute path", "{}", kustomization("resources: [/etc/passwd]"), "must be relative"},
		{"a file above the source in a generator", "{}", kustomization("configMapGenerator: [{name: a, files: [x=../../etc/passwd]}]"), "leads out of the source"},
		{"an environment above the source", "{}", kustomization("secretGenerator: [{name: a, env: ../x}]"), "leads out of the source"},
		{"a patch above the source", "{}", kustomization("patches: [{path: ../x}]"), "leads out of the source"},
		{"a cycle of two", "{}", files{"kustomization.yaml": "resources: [a]", "a/kustomization.yaml": "resources: [../b]", "b/kustomization.yaml": "resources: [../a]"}, "in a cycle"},
		{"a cycle of one", "{}", kustomization("resources: [.]"), "in a cycle"},
		{"a component among the resources", "{}", files{"kustomization.yaml": "resources: [c]", "c/kustomization.yaml": "kind: Component\nnamePrefix: x"}, "among its resources: it belongs to its components"},
		{"a kustomization among the components", "{}", files{"kustomization.yaml": "components: [c]", "c/kustomization.yaml": "namePrefix: x"}, "among its components: it belongs to its resources"},
		{"a manifest that is a text", "{}", files{"a.yaml": word}, "document 1 is not an object"},
		{"an object without a kind", "{}", files{"a.yaml": "{metadata: {name: a}, data: {k: " + word + "}}"}, "document 1 has no apiVersion"},
		{"YAML that is not valid", "{}", files{"a.yaml": "a: [" + word}, `resources[0] of the top directory: "a.yaml": line 1`},
		{"an object that occurs twice", "{}", files{"a.yaml": configMap, "b.yaml": configMap}, "kustomization of the top directory: merging resources from 'b.yaml': may not add resource with an already registered id: ConfigMap.v1"},
	})
}

// TestRefusedChanges shows what is refused of patches and generators.
func TestRefusedChanges(t *testing.T) {
	checkRefused(t, []refusal{
		{"a patch without an object", "{patches: [{patch: '{apiVersion: v1, kind: ConfigMap, metadata: {name: other}, data: {k: " + word + "}}'}]}", files{"a.yaml": configMap}, `patches[0]: no resource matches strategic merge patch "ConfigMap.v1/other": correct apiVersion, kind, name and namespace of the patch, or remove it`},
		{"a patch that is a text", "{patches: [{patch: " + word + "}]}", files{"a.yaml": configMap}, "patches[0]: it is neither"},
		{"an empty patch", "{patches: [{patch: ' '}]}", files{"a.yaml": configMap}, "patches[0]: it is empty"},
		{"a JSON patch without a target", "{patches: [{patch: '[{op: add, path: /a, value: " + word + "}]'}]}", files{"a.yaml": configMap}, "needs a target"},
		{"a JSON patch of a field that is not there", "{patches: [{target: {kind: ConfigMap}, patch: '[{op: remove, path: /nothing}]'}]}", files{"a.yaml": configMap}, "nothing"},
		{"a JSON patch that tests a value", "{patches: [{target: {kind: ConfigMap}, patch: '[{op: test, path: /data/k, value: " + word + "}]'}]}", files{"a.yaml": configMap}, "/data/k"},
		{"a JSON patch that copies", "{patches: [{target: {kind: ConfigMap}, patch: '[{op: copy, from: /data, path: /data/x}]'}]}", files{"a.yaml": configMap}, "op copy is refused"},
		{"a JSON patch with another operation", "{patches: [{target: {kind: ConfigMap}, patch: '[{op: " + word + ", path: /a}]'}]}", files{"a.yaml": configMap}, "op does not exist"},
		{"a selector that is no expression", "{patches: [{target: {kind: '('}, patch: '[{op: remove, path: /data}]'}]}", files{"a.yaml": configMap}, "patches[0].target.kind: the regular expression is not valid (missing closing )): use the syntax of RE2"},
		{"a selector that is too complex", "{}", kustomization("resources: [a.yaml]\npatches: [{target: {name: '" + manyStates + "'}, patch: '[{op: remove, path: /data}]'}]"), "the top directory: patches[0].target.name: the regular expression is too complex: use smaller repetitions"},
		{"a selector that is too long", "{patches: [{target: {namespace: " + strings.Repeat("x", 10_000) + "}, patch: '[{op: remove, path: /data}]'}]}", files{"a.yaml": configMap}, "the configuration of the item: patches[0].target.namespace: the regular expression is longer than 10000 bytes: use a shorter one"},
		{"an image that is no expression", "{}", kustomization("resources: [a.yaml]\nimages: [{name: a}, {name: 'a**', newName: b}]"), "the top directory: images[1].name: the regular expression is not valid"},
		{"an image that is too complex", "{images: [{name: '" + manyStates + "', newName: b}]}", files{"a.yaml": configMap}, "the configuration of the item: images[0].name: the regular expression is too complex"},
		{"an older field for images", "{}", kustomization("resources: [a.yaml]\nimageTags: [{name: '" + manyStates + "', newTag: b}]"), "the top directory: images[0].name: the regular expression is too complex"},
		{"a secret that is no pair", "{}", kustomization("secretGenerator: [{name: a, literals: [" + word + "]}]"), "secretGenerator[0]: literals[0] must be key=value"},
		{"a secret twice", "{}", kustomization("secretGenerator: [{name: a, literals: [x=" + word + "]}, {name: a, literals: [x=" + word + "]}]"), `must be merge or replace`},
		{"an environment that is not UTF-8", "{}", files{"kustomization.yaml": "secretGenerator: [{name: a, envs: [e]}]", "e": "\xff\xfe" + word}, "envs[0]: \"e\": it is not text in UTF-8"},
		{"labels at places of their own", "{}", kustomization("resources: [a.yaml]\nlabels: [{pairs: {a: b}, fields: [{path: data}]}]"), "labels[].fields is refused"},
	})
}

// manyStates is a short expression of many instructions.
var manyStates = strings.Repeat("[a-z]{900}", 50)

func checkRefused(t *testing.T, tests []refusal) {
	t.Helper()
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			got, err := built(t, test.from, test.config)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("error %v, want %q\n%s", err, test.want, got)
			}
			if strings.Contains(err.Error(), word) || strings.Contains(err.Error(), "aHVudGVy") {
				t.Errorf("the message repeats a value: %v", err)
			}
		})
	}
}

// TestWaitsForItsTurn shows that a caller that gives up does not wait.
func TestWaitsForItsTurn(t *testing.T) {
	turn <- struct{}{}
	defer func() { <-turn }()
	ctx, cancel := contextThatEnds(t)
	cancel()
	if _, err := Build(ctx, memfs.Empty(), &api.ProviderConfiguration{}); !errors.Is(err, ctx.Err()) {
		t.Errorf("error %v", err)
	}
}

// TestSameAgain shows that a build leaves nothing behind for the next one.
func TestSameAgain(t *testing.T) {
	from := files{"kustomization.yaml": "resources: [d.yaml]\nnamePrefix: p-", "d.yaml": deployment}
	first, err := built(t, from, "{}")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := built(t, files{"a.yaml": "{a: b}"}, "{}"); err == nil {
		t.Error("an object without a kind is deployed")
	}
	second, err := built(t, from, "{}")
	if diff := cmp.Diff(first, second); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}
