package secrets

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/landscape"
)

// canarySources are what can be wrong with a value that is imported.
func canarySources() []canaryCase {
	template := manifestItem(`{apiVersion: v1, kind: ConfigMap, metadata: {name: NAME, namespace: NAMESPACE}}`)
	var cases []canaryCase
	for _, source := range []string{"data", "secret", "config"} {
		for what, schema := range map[string]string{
			"is not a number":    `{type: integer}`,
			"fits no pattern":    `{type: string, pattern: "^x$"}`,
			"is not listed":      `{enum: [a, b]}`,
			"is longer than may": `{type: string, maxLength: 3}`,
			"is another object":  `{oneOf: [{type: string, const: a}, {type: object}]}`,
		} {
			cases = append(cases, canaryCase{reason: source + " " + what, template: template, schemas: map[string]string{source: schema}, says: source})
		}
	}
	mapping := func(reason, expression string) canaryCase {
		return canaryCase{reason: reason, template: template, schemas: map[string]string{"data": "{type: integer}"}, says: "data", prepare: func(_ *testing.T, inst *v1alpha1.Installation) {
			inst.Spec.ImportDataMappings = map[string]v1alpha1.AnyJSON{"data": v1alpha1.NewAnyJSON(jsonOf(expression))}
		}}
	}
	return append(cases,
		mapping("mapping that fits no schema", "(( secret ))"),
		mapping("mapping that fails", "(( secret + 1 ))"),
		mapping("mapping that reads what is not there", "(( secret.field ))"),
	)
}

// canaryTemplates are templates that fail with a value in their hands.
func canaryTemplates() []canaryCase {
	spiff := func(reason, name string) canaryCase {
		return canaryCase{reason: reason, says: "spiffed", blueprint: "deployExecutions:\n- name: spiffed\n  type: Spiff\n  template:\n    deployItems:\n    - {name: " + name + ", type: t}\n"}
	}
	return []canaryCase{
		{reason: "template that indexes", template: `deployItems: {{ index .imports.secret "a" }}`, says: "default"},
		{reason: "template that parses JSON", template: `deployItems: {{ mustFromJson .imports.secret }}`, says: "default"},
		{reason: "template that parses a date", template: `deployItems: {{ mustToDate "2006-01-02" .imports.secret }}`, says: "default"},
		{reason: "template that parses an expression", template: `deployItems: {{ mustRegexMatch (print "(" .imports.secret) "a" }}`, says: "default"},
		{reason: "template that parses a version", template: `deployItems: {{ semverCompare .imports.secret "1.0.0" }}`, says: "default"},
		{reason: "template that parses a URL", template: `deployItems: {{ urlParse (print "http://[" .imports.secret) }}`, says: "default"},
		{reason: "template that asks for a resource", template: `deployItems: {{ getResource .cd "name" .imports.secret }}`, says: "default"},
		{reason: "template that calls a missing template", template: `deployItems: {{ include .imports.secret . }}`, says: "default"},
		{reason: "output that does not end", template: `deployItems: [VALUE`, says: "default"},
		{reason: "output with a tab", template: "deployItems:\n\tVALUE", says: "default"},
		{reason: "output with an alias", template: `deployItems: *VALUE`, says: "default"},
		{reason: "output with a tag", template: `deployItems: !!VALUE a`, says: "default"},
		{reason: "output with a key twice", template: "deployItems: []\nVALUE: 1\nVALUE: 2", succeeds: true},
		{reason: "output of a wrong type", template: `deployItems: VALUE`, says: "deployItems"},
		{reason: "output that is a text", template: `VALUE`, says: "default"},
		spiff("spiff that adds", `(( imports.secret + 1 ))`),
		spiff("spiff that reads what is not there", `(( imports.secret.field ))`),
		spiff("spiff that calls", `(( keys(imports.secret) ))`),
	}
}

// canaryItems are deploy items with a value in a field that has rules, and in the
// configuration of a deployer.
func canaryItems() []canaryCase {
	item := func(reason, fields, says string) canaryCase {
		return canaryCase{reason: reason, template: "deployItems: [{" + fields + "}]", says: says}
	}
	config := func(reason, fields, says string) canaryCase {
		return item(reason, "name: a, type: landscaper.gardener.cloud/kubernetes-manifest, target: {import: cluster}, timeout: 12s, config: {"+fields+"}", says)
	}
	const head = "apiVersion: manifest.deployer.landscaper.gardener.cloud/v1alpha2, kind: ProviderConfiguration, "
	return []canaryCase{
		item("item name", `name: "VALUE_Ä", type: t`, "deployItems[0].name"),
		item("item label", `name: a, type: t, labels: {a: "VALUE Ä"}`, "labels"),
		item("item label key", `name: a, type: t, labels: {"VALUE Ä": a}`, "labels"),
		item("item timeout", `name: a, type: t, timeout: VALUE`, "timeout"),
		item("item target", `name: a, type: t, target: {import: VALUE}`, "target"),
		item("item that depends", `name: a, type: t, dependsOn: [VALUE]`, "dependsOn"),
		item("item with an unknown field", `name: a, VALUE: 1`, "type"),
		config("config version", "apiVersion: VALUE, kind: ProviderConfiguration", "apiVersion"),
		config("config kind", "apiVersion: manifest.deployer.landscaper.gardener.cloud/v1alpha2, kind: VALUE", "kind"),
		config("config strategy", head+"updateStrategy: VALUE", "updateStrategy"),
		config("config of a wrong type", head+"manifests: VALUE", "manifests"),
		config("config with a wrong policy", head+"manifests: [{policy: VALUE, manifest: {}}]", "policy"),
		config("config with an invalid manifest", head+"manifests: [{manifest: VALUE}]", "manifest"),
		config("config with conflicts", head+"manifests: [{conflicts: VALUE, manifest: {}}]", "conflicts"),
		config("config with an invalid patch", head+"manifests: [{patchAfterDeployment: VALUE, manifest: {}}]", "patchAfterDeployment"),
		config("config with a wrong pointer", head+"manifests: [{ignoreDifferences: [VALUE], manifest: {}}]", "ignoreDifferences"),
		config("config with a wrong operator", head+"readinessChecks: {custom: [{name: a, labelSelector: {apiVersion: v1, kind: Secret, matchLabels: {a: b}}, requirements: [{jsonPath: .a, operator: VALUE}]}]}", "operator"),
		config("config with a wrong path", head+`readinessChecks: {custom: [{name: a, labelSelector: {apiVersion: v1, kind: Secret, matchLabels: {a: b}}, requirements: [{jsonPath: "{.VALUE[", operator: exists}]}]}`, "jsonPath"),
		config("config with a wrong timeout", head+"readinessChecks: {custom: [{name: a, timeout: VALUE}]}", "imeout"),
		config("config with a wrong mode", head+"readinessChecks: {mode: VALUE}", "mode"),
		config("config with a wrong group", head+"deletionGroups: [{predefinedResourceGroup: {type: VALUE}}]", "type"),
		config("config with a wrong export", head+`exports: {exports: [{key: a, jsonPath: "{.VALUE["}]}`, "exports"),
	}
}

// manifestItem is a template that deploys an object. What comes behind is added to the
// configuration.
func manifestItem(object string, config ...string) string {
	return `deployItems:
- name: one
  type: landscaper.gardener.cloud/kubernetes-manifest
  target: {import: cluster}
  timeout: 12s
  labels: {a: "VALUE"}
  config:
    apiVersion: manifest.deployer.landscaper.gardener.cloud/v1alpha2
    kind: ProviderConfiguration
    manifests: [{policy: manage, manifest: ` + object + `}]
` + landscape.Indent(strings.Join(config, "\n"), 4)
}

// canaryManifests are objects with a value that an API server takes or refuses.
func canaryManifests() []canaryCase {
	const meta = "metadata: {name: NAME, namespace: NAMESPACE}"
	good := `{apiVersion: v1, kind: Secret, ` + meta + `, stringData: {a: "{{ .imports.data }}", b: "{{ .imports.secret }}", c: "{{ .imports.config }}"}}`
	cases := []canaryCase{
		{reason: "all is well", succeeds: true, template: "state: {token: VALUE}\n" + manifestItem(good,
			"exports: {exports: [{key: a, jsonPath: .data.a, fromResource: {apiVersion: v1, kind: Secret, name: NAME, namespace: NAMESPACE}}]}")},
		{reason: "object that does not get ready", says: "another value", template: manifestItem(good,
			`readinessChecks: {custom: [{name: check, resourceSelector: [{apiVersion: v1, kind: Secret, name: NAME, namespace: NAMESPACE}], requirements: [{jsonPath: .data.a, operator: "==", values: [{value: VALUE}]}]}]}`)},
		{reason: "export that does not come", says: "export", template: manifestItem(good,
			"exports: {exports: [{key: a, jsonPath: .data.absent, fromResource: {apiVersion: v1, kind: Secret, name: NAME, namespace: NAMESPACE}}]}")},
	}
	refused := []struct{ what, object string }{
		{"type of a Service", `{apiVersion: v1, kind: Service, ` + meta + `, spec: {type: VALUE, ports: [{port: 80}]}}`},
		{"port of a Service", `{apiVersion: v1, kind: Service, ` + meta + `, spec: {ports: [{port: VALUE}]}}`},
		{"name of a port", `{apiVersion: v1, kind: Service, ` + meta + `, spec: {ports: [{name: "VALUE_", port: 80}]}}`},
		{"label", `{apiVersion: v1, kind: ConfigMap, metadata: {name: NAME, namespace: NAMESPACE, labels: {a: "VALUE Ä"}}}`},
		{"key of a label", `{apiVersion: v1, kind: ConfigMap, metadata: {name: NAME, namespace: NAMESPACE, labels: {"VALUE Ä": a}}}`},
		{"annotation of a wrong type", `{apiVersion: v1, kind: ConfigMap, metadata: {name: NAME, namespace: NAMESPACE, annotations: {a: [VALUE]}}}`},
		{"data of a wrong type", `{apiVersion: v1, kind: ConfigMap, ` + meta + `, data: {a: [VALUE]}}`},
		{"key of data", `{apiVersion: v1, kind: ConfigMap, ` + meta + `, data: {"VALUE Ä": a}}`},
		{"data of a Secret", `{apiVersion: v1, kind: Secret, ` + meta + `, data: {a: "VALUE!"}}`},
		{"number of replicas", `{apiVersion: apps/v1, kind: Deployment, ` + meta + `, spec: {replicas: VALUE}}`},
		{"quantity", `{apiVersion: v1, kind: ResourceQuota, ` + meta + `, spec: {hard: {pods: VALUE}}}`},
		{"invalid metadata", `{apiVersion: v1, kind: ConfigMap, metadata: VALUE}`},
		{"owner", `{apiVersion: v1, kind: ConfigMap, metadata: {name: NAME, namespace: NAMESPACE, ownerReferences: [{apiVersion: v1, kind: VALUE}]}}`},
		{"finalizer", `{apiVersion: v1, kind: ConfigMap, metadata: {name: NAME, namespace: NAMESPACE, finalizers: ["VALUE Ä"]}}`},
		{"role", `{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, ` + meta + `, roleRef: {apiGroup: VALUE, kind: Role, name: a}}`},
	}
	for _, r := range refused {
		for _, strategy := range []string{"update", "apply"} {
			cases = append(cases, canaryCase{reason: r.what + " with " + strategy, template: manifestItem(r.object, "updateStrategy: "+strategy), says: "manifest"})
		}
	}
	return append(cases,
		canaryCase{reason: "field that does not exist", template: manifestItem(`{apiVersion: v1, kind: ConfigMap, `+meta+`, VALUE: {a: VALUE}}`, "updateStrategy: apply"), says: ""},
		canaryCase{reason: "patch that is refused", template: strings.Replace(manifestItem(good), "policy: manage,", "policy: manage, patchAfterDeployment: {metadata: {labels: {a: \"VALUE Ä\"}}},", 1), says: "patch"},
	)
}

// canaryTargets are Targets that hold the canary and lead nowhere.
func canaryTargets() []canaryCase {
	target := func(reason, says string, make func(t *testing.T, space, name string)) canaryCase {
		c := canaryCase{reason: reason, says: says, template: manifestItem(`{apiVersion: v1, kind: ConfigMap, metadata: {name: NAME, namespace: NAMESPACE}}`)}
		c.prepare = func(t *testing.T, inst *v1alpha1.Installation) {
			make(t, inst.Namespace, inst.Name)
			inst.Spec.Imports.Targets[0].Target = inst.Name
		}
		return c
	}
	text := func(reason, says, kubeconfig string) canaryCase {
		return target(reason, says, func(t *testing.T, space, name string) { createTarget(t, space, name, kubeconfig) })
	}
	changed := func(reason, says string, change func(*clientcmdapi.Cluster, *clientcmdapi.AuthInfo)) canaryCase {
		return target(reason, says, func(t *testing.T, space, name string) {
			createTarget(t, space, name, env.ChangedKubeconfig(t, func(c *clientcmdapi.Config) {
				current := c.Contexts[c.CurrentContext]
				change(c.Clusters[current.Cluster], c.AuthInfos[current.AuthInfo])
			}))
		})
	}
	stored := func(reason, says, key string) canaryCase {
		return target(reason, says, func(t *testing.T, space, name string) {
			meta := metav1.ObjectMeta{Namespace: space, Name: name}
			createAll(t,
				&corev1.Secret{ObjectMeta: meta, Data: map[string][]byte{"kubeconfig": []byte("this is " + canary + " and no kubeconfig")}},
				&v1alpha1.Target{ObjectMeta: meta, Spec: v1alpha1.TargetSpec{Type: v1alpha1.KubernetesClusterTargetType, SecretRef: &v1alpha1.LocalSecretReference{Name: name, Key: key}}},
			)
		})
	}
	inline := func(reason, says, config string) canaryCase {
		return target(reason, says, func(t *testing.T, space, name string) {
			createAll(t, &v1alpha1.Target{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: name},
				Spec: v1alpha1.TargetSpec{Type: v1alpha1.KubernetesClusterTargetType, Configuration: v1alpha1.NewAnyJSONPointer([]byte(config))}})
		})
	}
	nowhere := "127.0.0.1:1"
	return []canaryCase{
		text("text instead of a kubeconfig", "kubeconfig", "this is "+canary+" and no kubeconfig"),
		text("kubeconfig with a wrong type", "kubeconfig", "kind: Config\nclusters: "+canary+"\n"),
		text("kubeconfig with an alias", "kubeconfig", "kind: Config\nclusters: *"+canary+"\n"),
		stored("Secret without a kubeconfig", "kubeconfig", "kubeconfig"),
		stored("Secret without a key", "", ""),
		stored("Secret with another key", "", "other"),
		inline("Target with a wrong type", "", fmt.Sprintf(`{"kubeconfig": [%q]}`, canary)),
		inline("Target that is a text", "", fmt.Sprintf("%q", canary)),
		inline("Target with a user in the address", "user", fmt.Sprintf(`{"oidcConfig": {"server": "https://user:%s@%s", "serviceAccount": {"name": "a"}, "audience": ["a"]}}`, canary, nowhere)),
		inline("Target with invalid data", "", fmt.Sprintf(`{"oidcConfig": {"server": "https://%s", "caData": "%s!", "serviceAccount": {"name": "a"}}}`, nowhere, canary)),
		changed("wrong token", "401", func(_ *clientcmdapi.Cluster, user *clientcmdapi.AuthInfo) {
			*user = clientcmdapi.AuthInfo{Token: canary}
		}),
		changed("wrong password", "", func(_ *clientcmdapi.Cluster, user *clientcmdapi.AuthInfo) {
			*user = clientcmdapi.AuthInfo{Username: canary, Password: canary}
		}),
		changed("token for an address without a listener", "connection refused", func(cluster *clientcmdapi.Cluster, user *clientcmdapi.AuthInfo) {
			cluster.Server, *user = "https://"+nowhere, clientcmdapi.AuthInfo{Token: canary}
		}),
		changed("user in the address", "server", func(cluster *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) {
			cluster.Server = "https://user:" + canary + "@" + nowhere
		}),
		changed("token in the query of the address", "", func(cluster *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) {
			cluster.Server = "https://" + nowhere + "/?token=" + canary
		}),
		changed("invalid address", "server", func(cluster *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) {
			cluster.Server = "https://user:" + canary + "@[" + nowhere
		}),
		changed("address with a wrong port", "server", func(cluster *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) {
			cluster.Server = "https://user:" + canary
		}),
		changed("user in the address of a proxy", "", func(cluster *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) {
			cluster.ProxyURL = "http://user:" + canary + "@" + nowhere
		}),
		changed("invalid certificate", "", func(cluster *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) {
			cluster.CertificateAuthorityData = []byte(canary)
		}),
		changed("invalid key", "", func(_ *clientcmdapi.Cluster, user *clientcmdapi.AuthInfo) {
			*user = clientcmdapi.AuthInfo{ClientCertificateData: []byte(canary), ClientKeyData: []byte(canary)}
		}),
		changed("file of a token", "tokenFile", func(_ *clientcmdapi.Cluster, user *clientcmdapi.AuthInfo) { user.TokenFile = "/" + canary }),
		changed("program", "exec", func(_ *clientcmdapi.Cluster, user *clientcmdapi.AuthInfo) {
			*user = clientcmdapi.AuthInfo{Exec: &clientcmdapi.ExecConfig{Command: canary, Args: []string{canary}, APIVersion: "client.authentication.k8s.io/v1", InteractiveMode: clientcmdapi.NeverExecInteractiveMode}}
		}),
	}
}
