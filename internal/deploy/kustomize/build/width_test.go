package build

import (
	"fmt"
	"math"
	"strings"
	"testing"
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

// TestWideLimits: what the library searches again and again is counted before, for a
// source of some hundred kilobytes would keep it busy for hours.
func TestWideLimits(t *testing.T) {
	const objects, work, bytes = "the number of objects of", "the work for the objects", "the number of bytes that the objects"
	tests := []struct {
		reason, config string
		from           files
		want           string
	}{
		{"a list in a list", "{}", files{"a.yaml": "{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: ConfigMapList, items: [" + configMaps(1100) + "]}]}"}, objects},
		{"annotations of all that is generated", "{}", files{"kustomization.yaml": "generatorOptions: {annotations: {a: " + strings.Repeat("x", 1<<17) + "}}\nconfigMapGenerator: [" + entries("{name: c%d}", 300) + "]"}, bytes},
		{"a patch of a list with many entries", "{patches: [{patch: '" + containers(3000) + "'}]}", files{"a.yaml": containers(3000)}, work},
		{"a small patch of a list with many entries", "{patches: [{patch: '" + containers(1) + "'}]}", files{"a.yaml": containers(3000)}, work},
		{"a patch with many entries", "{patches: [{patch: '" + containers(3000) + "'}]}", files{"a.yaml": containers(1)}, work},
		{"patches that make a list longer and longer", "{}", files{"kustomization.yaml": "resources: [a.yaml]\npatches: [" + strings.TrimSuffix(strings.Repeat("{path: p.yaml},", 50), ",") + "]", "a.yaml": containers(1), "p.yaml": containers(300)}, work},
		{"a patch of a component", "{}", files{"kustomization.yaml": "resources: [a.yaml]\ncomponents: [c]", "a.yaml": containers(3000), "c/kustomization.yaml": "kind: Component\npatches: [{path: p.yaml}]", "c/p.yaml": containers(3000)}, work},
		{"a patch of the item for a base", "{path: k, patches: [{patch: '" + containers(3000) + "'}]}", files{"k/kustomization.yaml": "resources: [../b]", "b/a.yaml": containers(3000)}, work},
		{"a wide patch for all objects", "{patches: [{target: {kind: ConfigMap}, patch: '" + keys(600) + "'}]}", files{"a.yaml": configMaps(500)}, work},
		{"a map with many keys", "{}", files{"a.yaml": keys(15_000)}, work},
		{"many literals", "{}", files{"kustomization.yaml": "configMapGenerator: [{name: a, literals: [" + entries("k%d=v", 15_000) + "]}]"}, work},
		{"an environment with many lines", "{}", files{"kustomization.yaml": "secretGenerator: [{name: a, envs: [e]}]", "e": strings.ReplaceAll(entries("k%d=v", 15_000), ",", "\n")}, work},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if _, err := built(t, test.from, test.config); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %.300v, want %q", err, test.want)
			}
		})
	}
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

// TestSearchDoesNotOverflow: nothing that fits into a source looks small because of its
// size.
func TestSearchDoesNotOverflow(t *testing.T) {
	patch := countedPatch{width{maxEntries, maxEntries, enough, square(math.MaxInt)}, true}
	patches := make([]countedPatch, 100_000)
	for i := range patches {
		patches[i] = patch
	}
	for _, wide := range []bool{true, false} {
		patches[0].wide = wide
		if work, after := search(patches, 1000, widths{patch.width, patch.width}); work != enough || after.widest.squared != enough {
			t.Errorf("%d for %+v", work, after)
		}
	}
}
