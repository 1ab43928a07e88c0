package causes

import (
	"testing"
)

// prepareClusters makes what rows share on the target cluster.
func prepareClusters(t *testing.T) {
	t.Helper()
	publish(t)
	addWeak(t)
	s := &stage{T: t}
	s.yaml(env.Workload,
		`{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: teams-only}, spec: {failurePolicy: Fail, matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [configmaps]}], objectSelector: {matchLabels: {causes.example/policy: "on"}}}, validations: [{expression: "has(object.metadata.labels.team)", message: "set the label team to the name of your team"}]}}`,
		`{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: teams-only}, spec: {policyName: teams-only, validationActions: [Deny]}}`,
		`{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: gatekeeper}, webhooks: [{name: gate.acme.example, admissionReviewVersions: [v1], sideEffects: None, failurePolicy: Fail, timeoutSeconds: 2, clientConfig: {url: "https://127.0.0.1:1/gate"}, objectSelector: {matchLabels: {causes.example/hook: "on"}}, rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [configmaps]}]}]}`,
		`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: engines.acme.example}, spec: {group: acme.example, scope: Namespaced, names: {plural: engines, singular: engine, kind: Engine, listKind: EngineList}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}, subresources: {status: {}}}]}}`,
	)
	playKubelet(t)
}

func objects() []row {
	const area = "objects"
	one := func(object func(*stage) m) func(*stage) given {
		return func(s *stage) given { return given{items: list{manifests("one", m{}, object(s))}} }
	}
	return []row{
		{area: area, fault: "kind unknown", waits: true, cause: one(func(s *stage) m {
			return m{"apiVersion": "acme.example/v1", "kind": "Ghost", "metadata": m{"name": "app", "namespace": s.space}}
		}), names: names{reason: `kind.*Ghost|no matches|does not (know|serve)`, object: `Ghost "?NS/app`, cluster: `north`, next: `install (its|the) CustomResourceDefinition`}},
		{area: area, fault: "object invalid", waits: true, cause: one(func(s *stage) m {
			return m{"apiVersion": "v1", "kind": "Service", "metadata": m{"name": "app", "namespace": s.space}, "spec": m{"ports": list{m{"port": 99999}}}}
		}), names: names{reason: `port.*(65535|range|invalid)|invalid.*port`, object: `Service "?NS/app`, cluster: `north`, next: `spec\.ports\[0\]\.port`}},
		{area: area, fault: "policy denies", waits: true, cause: one(func(s *stage) m {
			return labelled(configMap(s.space, "app"), m{"causes.example/policy": "on"})
		}), names: names{reason: `teams-only`, object: `ConfigMap "?NS/app`, cluster: `north`, next: `set the label team to the name of your team`}},
		{area: area, fault: "webhook unreachable", waits: true, cause: one(func(s *stage) m {
			return labelled(configMap(s.space, "app"), m{"causes.example/hook": "on"})
		}), names: names{reason: `gate\.acme\.example`, object: `ConfigMap "?NS/app`, cluster: `north`, next: `repair it|check that it runs`}},
		{area: area, fault: "quota exceeded", waits: true, cause: func(s *stage) given {
			s.yaml(env.Workload, `{apiVersion: v1, kind: ResourceQuota, metadata: {name: few, namespace: NS}, spec: {hard: {count/configmaps: "0"}}}`)
			s.awaitQuota("few")
			return app(s)
		}, names: names{reason: `quota`, object: `ConfigMap "?NS/app`, cluster: `north`, next: `quota "?few|few.*(quota|raise|remove|free)|(raise|free).*few`}},
		{area: area, fault: "field immutable", waits: true, cause: func(s *stage) given {
			frozen := configMap(s.space, "app")
			frozen["immutable"] = true
			s.yaml(env.Workload, `{apiVersion: v1, kind: ConfigMap, metadata: {name: app, namespace: NS}, immutable: true, data: {greeting: other}}`)
			return given{items: list{manifests("one", m{}, frozen)}}
		}, names: names{reason: `immutable|cannot be changed`, object: `ConfigMap "?NS/app`, cluster: `north`, next: `onImmutableChange|delete the object`}},
		{area: area, fault: "field of another field manager", cause: func(s *stage) given {
			object := s.object(`{apiVersion: v1, kind: ConfigMap, metadata: {name: app, namespace: NS}, data: {greeting: other}}`)
			s.applyAs("other-manager", object)
			return given{items: list{item("one", "kubernetes-manifest", m{"updateStrategy": "apply", "manifests": list{m{"policy": "manage", "conflicts": "fail", "manifest": configMap(s.space, "app")}}})}}
		}, names: names{reason: `other-manager`, object: `ConfigMap "?NS/app`, cluster: `north`, next: `conflicts: force`}},
		{area: area, fault: "object of another item", cause: func(s *stage) given {
			s.yaml(env.Workload, `{apiVersion: v1, kind: ConfigMap, metadata: {name: app, namespace: NS, labels: {manifest.deployer.landscaper.gardener.cloud/deployitem: NS.another}}}`)
			return given{items: list{item("one", "kubernetes-manifest", m{"updateStrategy": "update", "manifests": list{m{"policy": "fallback", "manifest": configMap(s.space, "app")}}})}}
		}, names: names{reason: `another item|belongs to|another DeployItem|of DeployItem`, object: `ConfigMap "?NS/app`, cluster: `north`, next: `policy|rename|remove`}},
		{area: area, fault: "object invalid on the second target", waits: true, cause: func(s *stage) given {
			return given{items: list{with(manifests("one", m{}, m{"apiVersion": "v1", "kind": "Service", "metadata": m{"name": "app", "namespace": s.space}, "spec": m{"ports": list{m{"port": 99999}}}}), "target", m{"import": "second"})}}
		}, names: names{reason: `port.*(65535|range|invalid)|invalid.*port`, object: `Service "?NS/app`, cluster: `south`, next: `spec\.ports\[0\]\.port`}},
	}
}
