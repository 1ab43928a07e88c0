package integration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// correction turns a block of a document into something that can be sent: it
// fills a placeholder, or mends what was broken when the document was written.
type correction struct {
	why, from, to string
}

const (
	contextRoot = "kind: Installation\nmetadata: {name: document}\nspec:\n  blueprint: {ref: {resourceName: a}}\n"
	twoTargets  = "a target named x stands for the imported one"
)

var (
	fillName   = correction{why: "a placeholder", from: "<some name>", to: "document"}
	fillSpace  = correction{why: "a placeholder", from: "<Namespace 1>", to: "default"}
	fillHash   = correction{why: "a placeholder", from: "<some hash>", to: "document"}
	fillLabels = correction{why: "placeholders", from: "Installation.<namespace>.<installation name>", to: "Installation.default.document"}
)

// TestDocumentBlocks sends every YAML block of the users' documents to an API server:
// verbatim, or with the named corrections.
func TestDocumentBlocks(t *testing.T) {
	tests := []struct {
		block string
		// before is put in front of the block, to make a whole object of a part.
		before string
		// indent moves a part to its place.
		indent      string
		corrections []correction
		// kept are paths that the API server must not cut off.
		kept []string
		// refused is what the API server says to blocks that it must refuse.
		refused string
	}{
		{block: "installations-01", refused: "must have exactly one of dataRef, secretRef and configMapRef"},
		{block: "installations-01", corrections: []correction{
			{why: "names and references are left out in the overview", from: `- name: "" # logical internal name` + "\n      dataRef: \"\"", to: "- name: a\n      dataRef: b"},
			{why: "names and references are left out in the overview", from: `- name: "" # logical internal name` + "\n      target: \"\"", to: "- name: c\n      target: d"},
			{why: "the overview lists the phases instead of one", from: "Progressing | Pending | Deleting | Completed | Failed", to: "Completed"},
			{why: "the overview lists the types instead of one", from: "dataobject | target", to: "dataobject"},
			{why: "a version of a value is a string, as the code of that time had it", from: "configGeneration: 0", to: `configGeneration: "0"`},
		}, kept: []string{"spec.componentDescriptor.ref.componentName", "spec.blueprint.ref.resourceName", "spec.importDataMappings.name", "spec.exportDataMappings.name",
			"status.phase", "status.imports", "status.executionRef.namespace", "status.installationRefs"}},
		{block: "installations-02", before: "kind: Installation\n", corrections: []correction{{why: "an installation has a blueprint", from: "spec:", to: "spec:\n  blueprint: {ref: {resourceName: a}}"}},
			kept: []string{"spec.componentDescriptor.ref.version"}},
		{block: "installations-03", before: "kind: Installation\n", corrections: []correction{{why: "an installation has a blueprint", from: "spec:", to: "spec:\n  blueprint: {ref: {resourceName: a}}"}},
			kept: []string{"spec.componentDescriptor.inline.component.resources", "spec.componentDescriptor.inline.component.repositoryContexts"}},
		{block: "installations-04", before: contextRoot + "  componentDescriptor:\n    inline:\n      component:\n        ", indent: "        ",
			kept: []string{"spec.componentDescriptor.inline.component.componentReferences"}},
		{block: "installations-05", before: contextRoot + "  componentDescriptor:\n    inline:\n      ", indent: "      ",
			kept: []string{"spec.componentDescriptor.inline.component.resources"}},
		{block: "installations-06", before: "kind: Installation\n", kept: []string{"spec.blueprint.ref.resourceName", "spec.componentDescriptor.ref.version"}},
		{block: "installations-07", before: "kind: Installation\n", kept: []string{"spec.blueprint.inline.filesystem"}},
		{block: "installations-08", before: contextRoot + "  ", indent: "  ", refused: "must have exactly one of dataRef, secretRef and configMapRef"},
		{block: "installations-08", before: contextRoot + "  ", indent: "  ", corrections: []correction{
			{why: "a reference is left out", from: `dataRef: ""`, to: "dataRef: a"},
			{why: "the block shows alternatives under one name", from: "- name: my-import\n      secretRef: \n        name: \"\"\n        namespace: \"\"\n        key: \"\"", to: "- name: second\n      secretRef:\n        name: s\n        namespace: default\n        key: k"},
			{why: "the block shows alternatives under one name", from: "- name: my-import\n      configMapRef: \n        name: \"\"\n        namespace: \"\"\n        key: \"\"", to: "- name: third\n      configMapRef:\n        name: s\n        namespace: default\n        key: k"},
		}, kept: []string{"spec.imports.data"}},
		{block: "installations-09", before: contextRoot + "  ", indent: "  ", refused: "must have exactly one of target, targets, targetListRef, targetMap and targetMapRef"},
		{block: "installations-09", before: contextRoot + "  ", indent: "  ", corrections: []correction{{why: "a reference is left out", from: `target: ""`, to: "target: x"}}, kept: []string{"spec.imports.targets"}},
		{block: "installations-10", before: "kind: Installation\n", corrections: []correction{
			{why: "an installation has a blueprint", from: "spec:", to: "spec:\n  blueprint: {ref: {resourceName: a}}"}},
			refused: "spec.imports.data: imp1, imp2 must have exactly one of dataRef, secretRef and configMapRef"},
		{block: "installations-10", before: "kind: Installation\n", corrections: []correction{
			{why: "an installation has a blueprint", from: "spec:", to: "spec:\n  blueprint: {ref: {resourceName: a}}"},
			{why: "references are left out", from: "- name: imp1", to: "- {name: imp1, dataRef: imp1}"}, {why: "references are left out", from: "- name: imp2", to: "- {name: imp2, dataRef: imp2}"}},
			kept: []string{"spec.importDataMappings.<blueprintimport1>", "spec.importDataMappings.<blueprintimport3>.a"}},
		{block: "installations-11", before: contextRoot + "  blueprint:\n    inline:\n      filesystem:\n        blueprint.yaml: |\n          ", indent: "          ",
			corrections: []correction{{why: "the blueprint of the block replaces that of the document", from: "  blueprint: {ref: {resourceName: a}}\n", to: ""}},
			kept:        []string{"spec.blueprint.inline.filesystem"}},
		{block: "installations-12", before: "kind: Installation\n", corrections: []correction{
			{why: "an installation has a blueprint", from: "spec:", to: "spec:\n  blueprint: {ref: {resourceName: a}}"},
			{why: "references are left out", from: "- name: aws-provider #", to: "- {name: aws-provider, dataRef: aws} #"}, {why: "references are left out", from: "- name: gcp-provider-type #", to: "- {name: gcp-provider-type, dataRef: gcp} #"}},
			kept: []string{"spec.importDataMappings.identifier", "spec.importDataMappings.providers", "spec.importDataMappings.aws-credentials.accessKeyID"}},
		{block: "installations-13", before: contextRoot + "  ", indent: "  ", kept: []string{"spec.exports.data"}},
		{block: "installations-14", corrections: []correction{fillHash, fillLabels, {why: "a placeholder", from: "<exported data>", to: "{a: 1}"}}, kept: []string{"data.a"}},
		{block: "installations-15", before: contextRoot + "  ", indent: "  ", kept: []string{"spec.exports.targets"}},
		{block: "installations-16", corrections: []correction{fillHash, fillLabels, {why: "a placeholder", from: "<exported target data>", to: "{a: 1}"}}, kept: []string{"spec.config.a", "spec.type"}},
		{block: "installations-17", before: "kind: Installation\n", corrections: []correction{
			{why: "an installation has a blueprint", from: "spec:", to: "spec:\n  blueprint: {ref: {resourceName: a}}"},
			{why: "references are left out", from: "- name: imp1", to: "- {name: imp1, dataRef: imp1}"}, {why: "references are left out", from: "- name: imp2", to: "- {name: imp2, dataRef: imp2}"}},
			kept: []string{"spec.exportDataMappings.imp2"}},
		{block: "installations-18", before: contextRoot + "  blueprint:\n    inline:\n      filesystem:\n        blueprint.yaml:\n          ", indent: "          ",
			corrections: []correction{{why: "the blueprint of the block, a map and not a text, replaces that of the document", from: "  blueprint: {ref: {resourceName: a}}\n", to: ""}},
			kept:        []string{"spec.blueprint.inline.filesystem"}},
		{block: "installations-19", before: "kind: Installation\n", corrections: []correction{
			{why: "an installation has a blueprint", from: "spec:", to: "spec:\n  blueprint: {ref: {resourceName: a}}"},
			{why: "references are left out", from: "- name: identifier", to: "- {name: identifier, dataRef: id}"}, {why: "references are left out", from: "- name: creds", to: "- {name: creds, dataRef: creds}"}},
			kept: []string{"spec.exportDataMappings.creds"}},

		{block: "dataflow-01", before: contextRoot + "  blueprint:\n    inline:\n      filesystem:\n        blueprint.yaml:\n          ", indent: "          ",
			corrections: []correction{{why: "the blueprint of the block replaces that of the document", from: "  blueprint: {ref: {resourceName: a}}\n", to: ""}},
			kept:        []string{"spec.blueprint.inline.filesystem"}},
		{block: "dataflow-02", before: "kind: DeployItem\nspec:\n  type: landscaper.gardener.cloud/kubernetes-manifest\n  config:\n    apiVersion: manifest.deployer.landscaper.gardener.cloud/v1alpha2\n    kind: ProviderConfiguration\n    ", indent: "    ",
			corrections: []correction{{why: twoTargets, from: "{{ .imports.cluster2.metadata.name }}", to: "x"}},
			kept:        []string{"spec.config.readinessChecks.custom", "spec.config.readinessChecks.disableDefault"}},
		{block: "dataflow-03", before: "kind: DeployItem\nspec:\n  type: landscaper.gardener.cloud/kubernetes-manifest\n  config:\n    apiVersion: manifest.deployer.landscaper.gardener.cloud/v1alpha2\n    kind: ProviderConfiguration\n    ", indent: "    ",
			corrections: []correction{{why: twoTargets, from: "{{ .imports.cluster2.metadata.name }}", to: "x"}},
			kept:        []string{"spec.config.exports.exports"}},

		{block: "targetsync-01", corrections: append(targetSyncIndentation("shootNameExpression", `<some regex e.g. "*">`, `"*"`), fillName, fillSpace),
			kept: []string{"spec.sourceNamespace", "spec.shootNameExpression", "spec.secretRef.key", "spec.tokenRotation.enabled"}},
		{block: "targetsync-02", corrections: append(targetSyncIndentation("secretNameExpression", `<some regex e.g. "\.kubeconfig$">`, `'\.kubeconfig$'`), fillName, fillSpace),
			kept: []string{"spec.sourceNamespace", "spec.secretNameExpression", "spec.secretRef.name", "spec.tokenRotation.enabled"}},
		{block: "targetsync-03", corrections: []correction{
			fillName, fillSpace,
			{why: "the document lost its indentation", from: "\nname: ", to: "\n  name: "}, {why: "the document lost its indentation", from: "\nnamespace: ", to: "\n  namespace: "},
			{why: "the document lost its indentation", from: "\ncreateTargetToSource", to: "\n  createTargetToSource"}, {why: "the document lost its indentation", from: "\ntargetToSourceName", to: "\n  targetToSourceName"},
			{why: "the block has only some of the fields", from: "\n...\n", to: "\n  sourceNamespace: garden-x\n  secretRef: {name: s, key: kubeconfig}\n"},
		}, kept: []string{"spec.createTargetToSource", "spec.targetToSourceName"}},
		{block: "targetsync-04", before: "kind: Target\nspec:\n  type: landscaper.gardener.cloud/kubernetes-cluster\n  config:\n    kubeconfig: |\n      ", indent: "      ",
			kept: []string{"spec.config.kubeconfig"}},
	}
	used := map[string]bool{}
	for _, test := range tests {
		used[test.block] = true
		name := test.block
		if test.refused != "" {
			name += "-verbatim"
		}
		t.Run(name, func(t *testing.T) {
			text := test.before + strings.ReplaceAll(readBlock(t, test.block), "\n", "\n"+test.indent)
			for _, c := range test.corrections {
				if !strings.Contains(text, c.from) {
					t.Fatalf("the correction %q (%s) does not apply to\n%s", c.from, c.why, text)
				}
				text = strings.ReplaceAll(text, c.from, c.to)
			}
			object := mustParse(t, text)
			stored, err := createAndRead(t, object)
			if test.refused != "" {
				if err == nil || !strings.Contains(err.Error(), test.refused) {
					t.Fatalf("got error %v, want one with %q", err, test.refused)
				}
				return
			}
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			for _, path := range test.kept {
				if _, found, err := unstructured.NestedFieldNoCopy(stored.Object, strings.Split(path, ".")...); err != nil || !found {
					t.Errorf("%s was cut off (%v)", path, err)
				}
			}
		})
	}
	files, err := filepath.Glob("testdata/documents/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if block := strings.TrimSuffix(filepath.Base(file), ".yaml"); !used[block] {
			t.Errorf("block %s is not tested", block)
		}
	}
}

// targetSyncIndentation gives the block of a TargetSync back what the document
// lost.
func targetSyncIndentation(expression, placeholder, value string) []correction {
	lost := "the document lost its indentation"
	return []correction{
		{why: lost, from: "metadata:\nname: ", to: "metadata:\n  name: "},
		{why: lost, from: "\nnamespace: ", to: "\n  namespace: "},
		{why: lost, from: "\nsourceNamespace: ", to: "\n  sourceNamespace: "},
		{why: "a placeholder", from: "\n" + expression + ": " + placeholder, to: "\n  " + expression + ": " + value},
		{why: lost, from: "\nsecretRef:\nkey: ", to: "\n  secretRef:\n    key: "},
		{why: lost, from: "\nname: <some secret name>", to: "\n    name: secret"},
		{why: lost, from: "\ntokenRotation: # optional\nenabled: true/false", to: "\n  tokenRotation: # optional\n    enabled: true"},
	}
}

func readBlock(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", "documents", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
