package build

import (
	"fmt"
	"strings"
	"testing"
	"time"

	api "go.landscaper.dev/api/kustomize/v1alpha1"
	"go.landscaper.dev/internal/runtime/sandbox"
	"go.landscaper.dev/internal/runtime/sandbox/sandboxtest"
	"sigs.k8s.io/yaml"
)

// entries writes so many entries, as in "k0: v,k1: v".
func entries(format string, count int) string {
	all := make([]string, count)
	for i := range all {
		all[i] = fmt.Sprintf(format, i)
	}
	return strings.Join(all, ",")
}

// containers is a Deployment, or a patch of one, with containers.
func containers(count int) string {
	return "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {template: {spec: {containers: [" + entries("{name: c%d}", count) + "]}}}}"
}

// keys is a ConfigMap, or a patch of one, with keys.
func keys(count int) string {
	return "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {" + entries("k%d: v", count) + "}}"
}

// configMaps is a list with ConfigMaps.
func configMaps(count int) string {
	return "{apiVersion: v1, kind: List, items: [" + entries("{apiVersion: v1, kind: ConfigMap, metadata: {name: c%d}}", count) + "]}"
}

// tooMuch is in the errors of what the process has ended: whether its memory or its time comes first
// follows from the machine.
const tooMuch = "building the kustomization took more than "

// attack is a source that takes much of a few lines. It ends with an error that has a text in it; ""
// is for one that is done within the bounds.
type attack struct {
	reason, config string
	from           files
	want           string
}

// attackTimeout is a sixth at most of what each attack takes without it, on a fast machine too.
const attackTimeout = 2 * time.Second

// ended builds kustomizations in processes: each ends as it should, and leaves those of another tenant
// alone.
func ended(t *testing.T, attacks []attack) {
	t.Helper()
	there := Process{sandboxtest.Pool(t, func(o *sandbox.Options) { o.Timeout = attackTimeout })}
	honest := files{"kustomization.yaml": "resources: [a.yaml]", "a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: s}"}
	for _, test := range attacks {
		t.Run(test.reason, func(t *testing.T) {
			config := &api.ProviderConfiguration{}
			if err := yaml.UnmarshalStrict([]byte(test.config), config); err != nil {
				t.Fatal(err)
			}
			begin := time.Now()
			_, err := there.Build(t.Context(), "hostile", tree(t, test.from), config)
			t.Logf("%s, %.300v", time.Since(begin).Round(time.Millisecond), err)
			over := err == nil && test.want == "" || err != nil && strings.HasPrefix(err.Error(), tooMuch)
			if !over && (err == nil || test.want == "" || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("error %.300v, want %q", err, test.want)
			}
			if _, err := there.Build(t.Context(), "honest", tree(t, honest), &api.ProviderConfiguration{}); err != nil {
				t.Errorf("one of another tenant: %v", err)
			}
		})
	}
}

// TestHostile shows that a source of a few lines cannot take the memory of the server, or its time.
func TestHostile(t *testing.T) {
	doubling := files{"l0/kustomization.yaml": "resources: [a.yaml]", "l0/a.yaml": configMap}
	for i := 1; i <= 40; i++ {
		for _, side := range []string{"a", "b"} {
			doubling[fmt.Sprintf("l%d/%s/kustomization.yaml", i, side)] = fmt.Sprintf("resources: [../../l%d]\nnamePrefix: %s-", i-1, side)
		}
		doubling[fmt.Sprintf("l%d/kustomization.yaml", i)] = "resources: [a, b]"
	}
	long := files{"kustomization.yaml": "resources: [k0]"}
	for i := range 300 {
		long[fmt.Sprintf("k%d/kustomization.yaml", i)] = fmt.Sprintf("resources: [../k%d]", i+1)
	}
	long["k300/a.yaml"] = configMap
	var many strings.Builder
	for i := range 1200 {
		fmt.Fprintf(&many, "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: c%d}}\n", i)
	}
	empty := files{"l0/kustomization.yaml": "namePrefix: a"}
	components := files{"kustomization.yaml": "resources: [a.yaml]\ncomponents: [l40]", "a.yaml": configMap, "l0/kustomization.yaml": "kind: Component\nnamePrefix: a"}
	deep := files{"l0/kustomization.yaml": "resources: [a.yaml]", "l0/a.yaml": many.String()[:many.Len()/2]}
	for i := 1; i <= 40; i++ {
		empty[fmt.Sprintf("l%d/kustomization.yaml", i)] = fmt.Sprintf("resources: [../l%d, ../l%d]", i-1, i-1)
		components[fmt.Sprintf("l%d/kustomization.yaml", i)] = fmt.Sprintf("kind: Component\ncomponents: [../l%d, ../l%d]", i-1, i-1)
	}
	for i := 1; i <= 250; i++ {
		deep[fmt.Sprintf("l%d/kustomization.yaml", i)] = fmt.Sprintf("resources: [../l%d]\nnamePrefix: a", i-1)
	}
	deep["l0/a.yaml"] = deep["l0/a.yaml"][:strings.LastIndex(deep["l0/a.yaml"], "---")]
	half := many.String()[:many.Len()/2]
	ended(t, []attack{
		{"bases that double", "{path: l40}", doubling, tooMuch},
		{"bases without objects that double", "{path: l40}", empty, tooMuch},
		{"components that double", "{}", components, tooMuch},
		{"many levels of many objects", "{path: l250}", deep, tooMuch},
		{"many patches of many objects", "{}", files{"kustomization.yaml": "resources: [a.yaml]\npatches: [" + strings.Repeat("{target: {kind: X}, patch: '[{op: remove, path: /a}]'},", 500) + "]", "a.yaml": deep["l0/a.yaml"]}, ""},
		{"many kustomizations", "{}", long, ""},
		{"many objects", "{}", files{"a.yaml": many.String()}, ""},
		{"an alias that stands for much", "{}", files{"a.yaml": "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e]\ng: [*f,*f,*f,*f,*f,*f,*f,*f]"}, "more than 250000 values"},
		{"a file that is used again and again", "{}", files{"kustomization.yaml": "configMapGenerator: [{name: a, files: [" + strings.TrimSuffix(strings.Repeat("x=big,", 20), ",") + "]}]", "big": strings.Repeat("x", 1<<20)}, "illegally repeats the key"},
		{"a patch of many objects", "{patches: [{target: {kind: ConfigMap}, patch: '{data: {k: " + strings.Repeat("x", 1<<17) + "}}'}]}", files{"a.yaml": half[:strings.LastIndex(half, "---")]}, "unable to parse"},
		{"a long label of many objects", "{commonMetadata: {annotations: {a: " + strings.Repeat("x", 1<<12) + "}}}", files{"a.yaml": half[:strings.LastIndex(half, "---")]}, ""},
		{"a costly name for many images", "{images: [" + strings.Repeat("{name: '"+manyStates[:200]+"', newName: b},", 5) + "]}", files{"a.yaml": "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [" + strings.Repeat("{name: a, image: "+strings.Repeat("a", 2500)+"},", 1000) + "]}}"}, tooMuch},
		{"a deep value", "{}", files{"a.yaml": strings.Repeat("[", 200) + strings.Repeat("]", 200)}, "more than 100 levels deep"},
	})
}

// TestHostileWidth: what the library searches again and again. A source of some hundred kilobytes
// would keep it busy for hours.
func TestHostileWidth(t *testing.T) {
	ended(t, []attack{
		{"a list in a list", "{}", files{"a.yaml": "{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: ConfigMapList, items: [" + configMaps(1100) + "]}]}"}, ""},
		{"annotations of all that is generated", "{}", files{"kustomization.yaml": "generatorOptions: {annotations: {a: " + strings.Repeat("x", 1<<17) + "}}\nconfigMapGenerator: [" + entries("{name: c%d}", 300) + "]"}, tooMuch},
		{"a patch of a list with many entries", "{patches: [{patch: '" + containers(5000) + "'}]}", files{"a.yaml": containers(5000)}, tooMuch},
		{"a small patch of a list with many entries", "{patches: [{patch: '" + containers(1) + "'}]}", files{"a.yaml": containers(5000)}, tooMuch},
		{"a patch with many entries", "{patches: [{patch: '" + containers(5000) + "'}]}", files{"a.yaml": containers(1)}, tooMuch},
		{"patches that make a list longer and longer", "{}", files{"kustomization.yaml": "resources: [a.yaml]\npatches: [" + strings.TrimSuffix(strings.Repeat("{path: p.yaml},", 100), ",") + "]", "a.yaml": containers(1), "p.yaml": containers(300)}, tooMuch},
		{"a patch of a component", "{}", files{"kustomization.yaml": "resources: [a.yaml]\ncomponents: [c]", "a.yaml": containers(5000), "c/kustomization.yaml": "kind: Component\npatches: [{path: p.yaml}]", "c/p.yaml": containers(5000)}, tooMuch},
		{"a patch of the item for a base", "{path: k, patches: [{patch: '" + containers(5000) + "'}]}", files{"k/kustomization.yaml": "resources: [../b]", "b/a.yaml": containers(5000)}, tooMuch},
		{"a wide patch for all objects", "{patches: [{target: {kind: ConfigMap}, patch: '" + keys(600) + "'}]}", files{"a.yaml": configMaps(500)}, tooMuch},
		{"a map with many keys", "{}", files{"a.yaml": keys(50_000)}, tooMuch},
		{"many literals", "{}", files{"kustomization.yaml": "configMapGenerator: [{name: a, literals: [" + entries("k%d=v", 50_000) + "]}]"}, tooMuch},
		{"an environment with many lines", "{}", files{"kustomization.yaml": "secretGenerator: [{name: a, envs: [e]}]", "e": strings.ReplaceAll(entries("k%d=v", 50_000), ",", "\n")}, tooMuch},
	})
}

// TestWideEnough: usual sizes stay possible.
func TestWideEnough(t *testing.T) {
	tests := []struct {
		reason, config string
		from           files
	}{
		{"a patch of many containers", "{patches: [{patch: '" + containers(10) + "'}]}", files{"a.yaml": containers(500)}},
		{"a patch of many keys", "{patches: [{patch: '" + keys(100) + "'}]}", files{"a.yaml": keys(2000)}},
		{"labels for many objects", "{commonMetadata: {labels: {a: b}}, patches: [{target: {kind: ConfigMap}, patch: '[{op: add, path: /data, value: {a: b}}]'}]}", files{"a.yaml": configMaps(300)}},
		{"options of what is generated", "{}", files{"kustomization.yaml": "generatorOptions: {labels: {a: b}}\nconfigMapGenerator: [" + entries("{name: c%d, literals: [a=b]}", 100) + "]"}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if _, err := built(t, test.from, test.config); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestHostileKustomizations: what takes too much ends, and another tenant is not held up.
func TestHostileKustomizations(t *testing.T) {
	there := Process{sandboxtest.Pool(t, func(o *sandbox.Options) { o.Timeout = 10 * time.Second })}
	var references, list strings.Builder
	for i := range 900 {
		fmt.Fprintf(&references, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%d}\n", i)
	}
	fmt.Fprintf(&list, "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec:\n  template:\n    spec:\n      containers:\n      - name: a\n        env:\n")
	for i := range 900 {
		fmt.Fprintf(&list, "        - {name: e%d, valueFrom: {configMapKeyRef: {name: c%d, key: a}}}\n", i, i)
	}
	hostile := files{"kustomization.yaml": "resources: [a.yaml, b.yaml]\nnamePrefix: p-", "a.yaml": references.String(), "b.yaml": list.String()}
	done := make(chan struct{})
	go func() {
		defer close(done)
		begin := time.Now()
		_, err := there.Build(t.Context(), "hostile", tree(t, hostile), &api.ProviderConfiguration{})
		t.Logf("name references: %v, %v", time.Since(begin).Round(time.Millisecond), err)
	}()
	honest := files{"kustomization.yaml": "resources: [a.yaml]", "a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: s}"}
	for range 20 {
		if _, err := there.Build(t.Context(), "honest", tree(t, honest), &api.ProviderConfiguration{}); err != nil {
			t.Error(err)
		}
	}
	<-done
}
