package components

import (
	"encoding/json"
	"strings"
	"testing"

	"go.landscaper.dev/internal/cli/connection/connectiontest"
	"go.landscaper.dev/internal/cli/terminal/terminaltest"
)

const comparedConstructor = `
components:
- name: example.org/shop
  version: ${VERSION}
  provider: {name: shop-team}
  resources:
  - {name: blueprint, type: landscaper.gardener.cloud/blueprint, input: {type: dir, path: ${BLUEPRINT}, mediaType: application/vnd.gardener.landscaper.blueprint.v1+tar}}
  - {name: size, type: landscaper.gardener.cloud/jsonschema, input: {type: utf8, text: '{"type":"integer","maximum":${MOST:-9}}', mediaType: application/json}}
`

const blueprintHeader = "apiVersion: landscaper.gardener.cloud/v1alpha1\nkind: Blueprint\n"

func writeCompared(t *testing.T) {
	t.Helper()
	terminaltest.WriteFiles(t, map[string]string{
		"constructor.yaml":   comparedConstructor,
		"old/blueprint.yaml": blueprintHeader + "imports: [{name: size, schema: {$ref: 'cd://resources/size'}}]\nexports: [{name: address, schema: {type: string}}]\n",
		"new/blueprint.yaml": blueprintHeader + "imports: [{name: size, schema: {$ref: 'cd://resources/size'}}, {name: color, schema: {}}]\n",
		"landscape/shop.yaml": `apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Installation
metadata: {name: shop, namespace: live}
spec:
  componentDescriptor: {ref: {componentName: example.org/shop, version: 1.0.0}}
  blueprint: {ref: {resourceName: blueprint}}
  imports: {data: [{name: size, dataRef: s}]}
  exports: {data: [{name: address, dataRef: a}]}
`,
	})
	for version, blueprint := range map[string]string{"1.0.0": "old", "1.1.0": "new"} {
		if got := execute(t, "push", "constructor.yaml", version+".tgz", "--create", "-q", "--set", "VERSION="+version, "--set", "BLUEPRINT="+blueprint); got.code != 0 {
			t.Fatal(got)
		}
	}
	if got := execute(t, "push", "constructor.yaml", "narrow.tgz", "--create", "-q", "--set", "VERSION=1.2.0", "--set", "BLUEPRINT=old", "--set", "MOST=5"); got.code != 0 {
		t.Fatal(got)
	}
}

func TestCompare(t *testing.T) {
	writeCompared(t)
	const broken = "breaking: blueprint: import color: it is new and required\nbreaking: blueprint: export address: it does not exist any more\n"
	const counted = "Not compatible: 2 breaking, 0 unknown, 0 warnings, 0 notes\n"
	for _, test := range []struct {
		reason, args string
		code         int
		out, err     string
	}{
		{"a version is compatible with itself", "1.0.0.tgz 1.0.0.tgz", 0, "Compatible: 0 breaking, 0 unknown, 0 warnings, 0 notes\n", ""},
		{"what is breaking", "1.0.0.tgz 1.1.0.tgz", 2, broken + counted, ""},
		{"a component version by its name", "1.0.0.tgz//example.org/shop:1.0.0 1.1.0.tgz", 2, broken + counted, ""},
		{"the users in a folder", "1.0.0.tgz 1.1.0.tgz --landscape landscape", 2, broken + "Installations that are concerned:\n  live/shop (1.0.0), breaking: import color, export address\n" + counted, ""},
		{"the schema in the component was narrowed", "1.0.0.tgz narrow.tgz", 2, "breaking: blueprint: import size: maximum was 9, and is 5: values that were allowed are refused\n", ""},
		{"notes, if they are wanted", "1.1.0.tgz 1.0.0.tgz --notes", 2, "note: blueprint: export address: it is new\n", ""},
		{"an archive that is not there", "1.0.0.tgz 9.tgz", 3, "", "9.tgz"},
		{"two landscapes", "1.0.0.tgz 1.1.0.tgz -A --landscape landscape", 64, "", "give one of them"},
		{"a folder that is not there", "1.0.0.tgz 1.1.0.tgz --landscape nowhere", 3, "", "there is no directory nowhere"},
		{"an unknown form", "1.0.0.tgz 1.1.0.tgz -o xml", 64, "", "use text or json"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got := execute(t, append([]string{"compare"}, terminaltest.Fields(test.args)...)...)
			if got.code != test.code || !strings.Contains(got.out, test.out) || !strings.Contains(got.err, test.err) || (test.err == "" && got.err != "") {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestCompareForPrograms has the users in a cluster, and all as JSON.
func TestCompareForPrograms(t *testing.T) {
	writeCompared(t)
	cluster := connectiontest.New(t, `apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Installation
metadata: {name: shop, namespace: live}
spec:
  componentDescriptor: {ref: {componentName: example.org/shop, version: 1.0.0}}
  blueprint: {ref: {resourceName: blueprint}}
`)
	ended := execute(t, "compare", "1.0.0.tgz", "1.1.0.tgz", "-n", "live", "--kubeconfig", cluster.Kubeconfig(t), "-o", "json")
	var got struct {
		Compatible    bool
		Findings      []struct{ Severity, Resource, Subject, Name string }
		Installations []struct {
			Namespace, Name, Version string
			Findings                 []int
		}
	}
	if err := json.Unmarshal([]byte(ended.out), &got); err != nil || ended.code != 2 {
		t.Fatalf("%v: %+v", err, ended)
	}
	if got.Compatible || len(got.Findings) != 2 || len(got.Installations) != 1 || got.Installations[0].Name != "shop" || len(got.Installations[0].Findings) != 1 {
		t.Errorf("%+v", got)
	}
}

// TestPushCheck: what breaks users needs another version.
func TestPushCheck(t *testing.T) {
	writeCompared(t)
	push := func(version, blueprint string, more ...string) result {
		return execute(t, append([]string{"push", "constructor.yaml", "delivery", "--create", "-q", "--set", "VERSION=" + version, "--set", "BLUEPRINT=" + blueprint}, more...)...)
	}
	for _, step := range []struct {
		reason, version, blueprint string
		more                       string
		code                       int
		out, err                   string
	}{
		{"the first version", "0.1.0", "old", "--check-against latest", 0, "Published example.org/shop:0.1.0", "No version of example.org/shop to compare with"},
		{"a patch that breaks", "0.1.1", "new", "--check-against latest", 2, "", "example.org/shop:0.1.1 breaks users of version 0.1.0"},
		{"a new minor version below 1.0.0 may break", "0.2.0", "new", "--check-against latest", 0, "Published", "Not compatible: 2 breaking"},
		{"a compatible patch", "0.1.1", "old", "--check-against latest", 0, "Published", "example.org/shop:0.1.1, compared with 0.1.0: Compatible"},
		{"a major version may break", "1.0.0", "old", "--check-against latest", 0, "Published", "compared with 0.2.0: Not compatible"},
		{"a minor version may not", "1.1.0", "new", "--check-against 1.0.0", 2, "", "breaking: blueprint: import color: it is new and required"},
		{"nor may a dry run", "1.1.0", "new", "--check-against 1.0.0 --dry-run", 2, "", "breaks users"},
		{"unless that is allowed", "1.1.0", "new", "--check-against 1.0.0 --allow-breaking", 0, "Published", "Not compatible"},
		{"a version that is not there", "1.2.0", "new", "--check-against 7.0.0", 3, "", "there are example.org/shop:0.1.0"},
		{"a flag without the other one", "1.2.0", "new", "--allow-breaking", 64, "", "has no effect without --check-against"},
	} {
		if got := push(step.version, step.blueprint, strings.Fields(step.more)...); got.code != step.code || !strings.Contains(got.out, step.out) || !strings.Contains(got.err, step.err) {
			t.Errorf("%s: %+v", step.reason, got)
		}
	}
}
