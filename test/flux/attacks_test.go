package flux

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// fluxAttacks are the ways that a tenant tries, by what stands against them.
func fluxAttacks() []fluxAttack {
	var all []fluxAttack
	for _, group := range [][]fluxAttack{flagAttacks(), kubeconfigAttacks(), repositoryAttacks(), policyAttacks(), sourceAttacks(), rightAttacks(), writeAttacks()} {
		all = append(all, group...)
	}
	return all
}

// deployed is a Kustomization that Flux refuses, and says why.
func deployed(reason, change, shown string) fluxAttack {
	return fluxAttack{reason: reason, object: kustomization("", ""), change: change, shown: shown}
}

// written is an object that the API server refuses.
func written(reason string, object *unstructured.Unstructured, change, refused string) fluxAttack {
	return fluxAttack{reason: reason, object: object, change: change, refused: refused}
}

// flagAttacks fail because of how the controllers are started.
func flagAttacks() []fluxAttack {
	own := kustomization("", "")
	return []fluxAttack{
		deployed("a source of another namespace", "{spec: {sourceRef: {namespace: OTHER}}}", "cross-namespace references have been blocked"),
		deployed("a source that another controller writes", "{spec: {sourceRef: {kind: ExternalArtifact}}}", "ExternalArtifact feature gate is disabled"),
		deployed("decryption as an account", "{spec: {decryption: {provider: sops, serviceAccountName: flux}}}", "ObjectLevelWorkloadIdentity feature gate"),
		{reason: "a base from another repository", object: own, files: map[string]string{"kustomization.yaml": "resources: [\"git::URL//examples/kustomize/podinfo-flux-controlled/resources?ref=main\"]\n"},
			shown: "fs-security-constraint"},
		deployed("a component from the network", "{spec: {components: [TRAP/loot]}}", "must be local and relative"),
		deployed("a Secret by a path in its name", `{spec: {kubeConfig: {secretRef: {name: "../../OTHER/secrets/own-cluster"}}}}`, "unable to read KubeConfig secret"),
		deployed("values by a path in the name of a Secret", `{spec: {postBuild: {substituteFrom: [{kind: Secret, name: "../../OTHER/secrets/own-cluster"}]}}}`, "substitut"),
		deployed("values of a Secret that only another namespace has", `{spec: {postBuild: {substituteFrom: [{kind: Secret, name: secret-of-other}]}}}`, "not found"),
	}
}

// kubeconfigAttacks fail because of what the controllers take from a kubeconfig, and of
// whom they are on a cluster.
func kubeconfigAttacks() []fluxAttack {
	own := kustomization("", "")
	return []fluxAttack{
		deployed("a kubeconfig that runs a program", "{spec: {kubeConfig: {secretRef: {name: attack-program}}}}", "(Forbidden): failed to get server groups"),
		deployed("a kubeconfig with a file of the controller", "{spec: {kubeConfig: {secretRef: {name: attack-tokenfile}}}}", "references a tokenFile"),
		deployed("the cluster of Flux without a login", "{spec: {kubeConfig: {secretRef: {name: attack-anonymous}}}}", "(Forbidden): failed to get server groups"),
		deployed("the cluster of Flux as the tenant", "{spec: {kubeConfig: {secretRef: {name: attack-own}}}}", "(Forbidden): failed to get server groups"),
		deployed("a Secret of another namespace by its plain name", "{spec: {kubeConfig: {secretRef: {name: secret-of-other}}}}", "not found"),
		deployed("another account", "{spec: {serviceAccountName: default}}", "(Forbidden): failed to get server groups"),
		deployed("objects in another namespace", "{spec: {targetNamespace: WORKLOAD}}", "forbidden"),
		{reason: "objects without a namespace", object: own, files: map[string]string{"namespace.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: loot}\n"},
			shown: "forbidden"},
		{reason: "rights for itself", object: own, files: map[string]string{"rights.yaml": "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: loot}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}\n"},
			shown: "forbidden"},
	}
}

// repositoryAttacks fail because of what the controllers take from a repository.
func repositoryAttacks() []fluxAttack {
	own := kustomization("", "")
	generated := func(file string) map[string]string {
		return map[string]string{"kustomization.yaml": "configMapGenerator: [{name: loot, files: [" + file + "]}]\n"}
	}
	return []fluxAttack{
		{reason: "a file of the controller by its path", object: own, files: generated("/proc/self/environ"),
			shown: "environ"},
		{reason: "a file of the controller by the way up", object: own, files: generated("../../../../../../../../proc/self/environ"),
			shown: "environ"},
		{reason: "a file of the controller by a link", object: own, files: generated("link"), links: map[string]string{"link": "/proc/self/environ"},
			shown: "link"},
		{reason: "a directory of the controller by a link", object: own, files: map[string]string{"kustomization.yaml": "resources: [link]\n"}, links: map[string]string{"link": "/tmp"},
			shown: "link"},
		deployed("a path out of the repository", "{spec: {path: ../../../../../../../../proc/self}}", "kustomization path not found"),
		{reason: "a chart that helm would fetch", object: own, files: map[string]string{"kustomization.yaml": "helmCharts: [{name: loot, repo: TRAP}]\n"},
			shown: "helm"},
		{reason: "a generator that is a program", object: own, files: map[string]string{
			"kustomization.yaml": "generators: [generator.yaml]\n",
			"generator.yaml":     "apiVersion: example.org/v1\nkind: Loot\nmetadata: {name: loot, annotations: {config.kubernetes.io/function: \"exec: {path: /bin/true}\"}}\n",
		}, shown: "plugin"},
	}
}

// policyAttacks fail because of the policies for Kustomizations and Secrets.
func policyAttacks() []fluxAttack {
	own := kustomization("", "")
	return []fluxAttack{
		written("a deployment to the cluster of Flux", own, "{spec: {kubeConfig: null}}", "spec.kubeConfig.secretRef is missing"),
		written("a cluster by the identity of the controller", own, "{spec: {kubeConfig: {secretRef: null, configMapRef: {name: own}}}}", "spec.kubeConfig.secretRef is missing"),
		written("guesses about a Kustomization of another namespace", own, "{spec: {dependsOn: [{name: victim, namespace: OTHER, readyExpr: \"dep.spec.prune == true\"}]}}", "spec.dependsOn: only Kustomizations of this namespace"),
		written("work without a break", own, "{spec: {interval: 1s}}", "spec.interval, spec.retryInterval: at least 1m"),
		written("repetitions without a break", own, "{spec: {retryInterval: 1s}}", "spec.interval, spec.retryInterval: at least 1m"),
		{reason: "a Secret for the token of an account", object: anyObject("v1", "Secret", ""),
			change:  "{type: kubernetes.io/service-account-token, metadata: {annotations: {kubernetes.io/service-account.name: default}}}",
			refused: "tokens of ServiceAccounts are not for tenants"},
	}
}

// sourceAttacks fail because of the policy for sources.
func sourceAttacks() []fluxAttack {
	source, image := gitRepository(""), anyObject("source.toolkit.fluxcd.io/v1", "OCIRepository", "")
	return []fluxAttack{
		written("a source at another address", source, "{spec: {url: TRAP/loot}}", "spec.url: Flux fetches for this tenant only from below"),
		written("an image at another address", image, `{spec: {url: "oci://127.0.0.1:9/loot", interval: 10m}}`, "spec.url: Flux fetches for this tenant only from below"),
		written("an address that leads up", source, "{spec: {url: SERVER/x/../../loot}}", "spec.url: Flux fetches for this tenant only from below"),
		written("an address that leads up in disguise", source, "{spec: {url: SERVER/%2e%2e/loot}}", "spec.url: Flux fetches for this tenant only from below"),
		written("an address with a login in it", source, `{spec: {url: "SERVER@127.0.0.1:9/loot"}}`, "spec.url: Flux fetches for this tenant only from below"),
		written("a source by the identity of the controller", source, "{spec: {provider: azure}}", "spec.provider: the identity of the controller is not for tenants"),
		written("a source through a proxy", source, "{spec: {proxySecretRef: {name: proxy}}}", "spec.proxySecretRef: proxies are not for tenants"),
		written("submodules from anywhere", source, "{spec: {recurseSubmodules: true}}", "spec.recurseSubmodules: submodules may come from anywhere"),
		written("fetching without a break", source, "{spec: {interval: 1s}}", "spec.interval: at least 1m"),
		{reason: "an address that is changed later", do: func(ctx context.Context, in *intrusion) error {
			return in.intruder.patch(ctx, gitRepository("own"), in.intruder.space, in.fill(`{"spec": {"url": "TRAP/loot"}}`))
		}, refused: "spec.url: Flux fetches for this tenant only from below"},
	}
}

// rightAttacks fail because the tenant has no right to read.
func rightAttacks() []fluxAttack {
	read := func(object client.Object, namespace string) func(context.Context, *intrusion) error {
		return func(ctx context.Context, in *intrusion) error {
			return in.intruder.cluster.Get(ctx, client.ObjectKey{Namespace: in.fill(namespace), Name: object.GetName()}, object)
		}
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "own-cluster"}}
	return []fluxAttack{
		{reason: "reading a Secret of another namespace", do: read(secret, "OTHER"), refused: "forbidden"},
		{reason: "reading a Kustomization of another namespace", do: read(kustomization("", "victim"), "OTHER"), refused: "forbidden"},
		{reason: "reading all Secrets", do: func(ctx context.Context, in *intrusion) error {
			return in.intruder.cluster.List(ctx, &corev1.SecretList{})
		}, refused: "forbidden"},
		{reason: "the token of the account that deploys", do: func(ctx context.Context, in *intrusion) error {
			return token(ctx, in.intruder.cluster, in.intruder.space, "flux")
		}, refused: "forbidden"},
		{reason: "the token of a controller", do: func(ctx context.Context, in *intrusion) error {
			return token(ctx, in.intruder.cluster, "flux-controllers", "kustomize-controller")
		}, refused: "forbidden"},
	}
}

// writeAttacks fail because the tenant has no right to write, or because the kind does not exist.
func writeAttacks() []fluxAttack {
	source, own := gitRepository(""), kustomization("", "")
	in := func(namespace string) string { return "{metadata: {namespace: " + namespace + "}}" }
	binding := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "attack"}, RoleRef: role("cluster-admin")}
	policy := anyObject("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding", "flux-tenant-a-sources")
	kinds := anyObject("apiextensions.k8s.io/v1", "CustomResourceDefinition", "kustomizations.kustomize.toolkit.fluxcd.io")
	remove := func(object client.Object) func(context.Context, *intrusion) error {
		return func(ctx context.Context, in *intrusion) error { return in.intruder.cluster.Delete(ctx, object) }
	}
	return []fluxAttack{
		{reason: "a Kustomization in another namespace", object: own, change: in("OTHER"), refused: "forbidden"},
		{reason: "a source in another namespace", object: source, change: in("OTHER"), refused: "forbidden"},
		{reason: "the source of another tenant", do: func(ctx context.Context, in *intrusion) error {
			return in.intruder.patch(ctx, gitRepository("own"), in.other.space, in.fill(`{"spec": {"url": "URL"}}`))
		}, refused: "forbidden"},
		{reason: "an artifact of another tenant in the status", do: func(ctx context.Context, in *intrusion) error {
			own := gitRepository("own")
			own.SetNamespace(in.intruder.space)
			return in.intruder.cluster.Status().Patch(ctx, own, client.RawPatch("application/merge-patch+json", []byte(`{"status": {"artifact": {"revision": "x"}}}`)))
		}, refused: "gitrepositories/status"},
		{reason: "a role", do: func(ctx context.Context, in *intrusion) error {
			binding := binding.DeepCopy()
			binding.Namespace = in.intruder.space
			return in.intruder.cluster.Create(ctx, binding)
		}, refused: "forbidden"},
		{reason: "an account", object: anyObject("v1", "ServiceAccount", ""), refused: "forbidden"},
		{reason: "a pod beside the controllers", object: anyObject("v1", "Pod", ""), change: "{metadata: {namespace: flux-controllers}, spec: {containers: [{name: loot, image: loot}]}}", refused: "forbidden"},
		{reason: "a bucket", object: anyObject("source.toolkit.fluxcd.io/v1", "Bucket", ""), change: "{spec: {bucketName: loot, endpoint: 127.0.0.1, interval: 1h}}", refused: "forbidden"},
		{reason: "a repository of charts", object: anyObject("source.toolkit.fluxcd.io/v1", "HelmRepository", ""), change: "{spec: {url: TRAP}}", refused: "forbidden"},
		{reason: "an artifact of the tenant's own program", object: anyObject("source.toolkit.fluxcd.io/v1", "ExternalArtifact", ""), refused: "no matches for kind"},
		{reason: "a release of a chart", object: anyObject("helm.toolkit.fluxcd.io/v2", "HelmRelease", ""), refused: "no matches for kind"},
		{reason: "notifications", object: anyObject("notification.toolkit.fluxcd.io/v1beta3", "Alert", ""), refused: "no matches for kind"},
		{reason: "a deleted policy", do: remove(policy), refused: "forbidden"},
		{reason: "deleted kinds", do: remove(kinds), refused: "forbidden"},
		{reason: "a changed label of the tenant's namespace", do: func(ctx context.Context, in *intrusion) error {
			return in.intruder.patch(ctx, anyObject("v1", "Namespace", in.intruder.space), "", `{"metadata": {"labels": {"toolkit.fluxcd.io/tenant": "loot"}}}`)
		}, refused: "forbidden"},
	}
}

// patch changes an object as the tenant.
func (tenant *fluxTenant) patch(ctx context.Context, object client.Object, namespace, patch string) error {
	object.SetNamespace(namespace)
	return tenant.cluster.Patch(ctx, object, client.RawPatch("application/merge-patch+json", []byte(patch)))
}
