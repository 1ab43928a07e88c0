package causes

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// mergePatch is a patch of that kind.
func mergePatch(patch string) client.Patch {
	return client.RawPatch("application/merge-patch+json", []byte(patch))
}

// remove asks for the deletion of the root.
func remove(s *stage) {
	s.Helper()
	if err := env.Admin.Delete(s.Context(), s.root.DeepCopy()); err != nil {
		s.Fatal(err)
	}
}

// guarded is a ConfigMap whose finalizer no controller removes.
func guarded(s *stage) given {
	object := configMap(s.space, "app")
	object["metadata"].(m)["finalizers"] = list{"acme.example/guard"}
	return given{items: list{manifests("one", m{}, object)}}
}

func deletions() []row {
	const area = "deletion"
	return []row{
		{area: area, fault: "finalizer that no controller removes", waits: true, cause: guarded, then: remove,
			names: names{reason: `waiting for the end|waited for the end|did not go|is still there|not gone`, object: `ConfigMap "?NS/app`, cluster: `north`, next: `finalizers? acme\.example/guard`}},
		{area: area, fault: "importer whose deletion fails", waits: true, cause: func(s *stage) given {
			giver := given{exports: map[string]string{"out": "port"}, blueprint: exporting("out", "1"), items: list{manifests("one", m{}, configMap(s.space, "given"))}}
			user := guarded(s)
			user.imports, user.local = map[string]string{"port": "{}"}, true
			return given{blueprint: m{"subinstallations": list{giver.template("giver"), user.template("user")}}}
		}, then: remove,
			names: names{reason: `waiting for the end|waited for the end|did not go|is still there|not gone`, object: `ConfigMap "?NS/app`, cluster: `north`, next: `finalizers? acme\.example/guard`}},
		{area: area, fault: "root that others import from", waits: true, onlyRoots: "roots alone are deleted by people", cause: func(s *stage) given {
			g := app(s)
			g.exports, g.blueprint = map[string]string{"out": "port"}, exporting("out", "1")
			return g
		}, then: func(s *stage) {
			user := given{imports: map[string]string{"port": "{}"}}
			env.WaitSucceeded(s.T, env.Create(s.T, user.installation(s.space, "user", 0)))
			remove(s)
		}, end: interrupt, names: names{reason: `sibling still imports|import(s|ed)? .*(user)|user.*import`, object: `Installations? user`, next: `delete-ignore-successors|delete (it|them|user)`}},
		{area: area, fault: "Target deleted", waits: true, cause: app, then: func(s *stage) {
			if err := env.Admin.Delete(s.Context(), &v1alpha1.Target{ObjectMeta: metav1.ObjectMeta{Namespace: s.space, Name: "north"}}); err != nil {
				s.Fatal(err)
			}
			s.removeCopies()
			remove(s)
		}, names: names{reason: `no Target|Target.*(not found|does not exist|missing)`, object: `Target`, cluster: `north`, next: `create it|delete-without-uninstall`}},
		{area: area, fault: "cluster unreachable", waits: true, cause: app, then: func(s *stage) {
			config := s.kubeconfig("https://127.0.0.1:1", "")
			targets := &v1alpha1.TargetList{}
			if err := env.Admin.List(s.Context(), targets, client.InNamespace(s.space)); err != nil {
				s.Fatal(err)
			}
			for _, target := range targets.Items {
				s.patch(env.Admin, &target, string(encode(m{"spec": m{"config": m{"kubeconfig": config}}})))
			}
			remove(s)
		}, names: names{reason: `connection refused`, object: `127\.0\.0\.1:1\b`, cluster: `north`, next: `delete-without-uninstall|check the address`}},
		{area: area, fault: "namespace stuck", waits: true, cause: func(s *stage) given {
			return given{items: list{manifests("one", m{}, m{"apiVersion": "v1", "kind": "Namespace", "metadata": m{"name": s.space + "-own"}})}}
		}, then: func(s *stage) {
			s.yaml(env.Workload, `{apiVersion: v1, kind: ConfigMap, metadata: {name: held, namespace: NS-own, finalizers: [acme.example/guard]}}`)
			remove(s)
		}, names: names{reason: `acme\.example/guard|finaliz|content`, object: `Namespace "?NS-own`, cluster: `north`, next: `acme\.example/guard|configmaps`}},
		{area: area, fault: "orphan that is not deleted", waits: true, cause: guarded, then: func(s *stage) {
			without := given{items: list{manifests("one", m{}, configMap(s.space, "other"))}}
			patch := encode(m{"metadata": m{"annotations": m{v1alpha1.OperationAnnotation: "reconcile"}}, "spec": without.installation(s.space, "shop", s.depth).Spec})
			s.patch(env.Admin, s.root.DeepCopy(), string(patch))
		}, names: names{reason: `waiting for the end|waited for the end|did not go|is still there|not gone`, object: `ConfigMap "?NS/app`, cluster: `north`, next: `finalizers? acme\.example/guard`}},
		{area: area, fault: "right to delete missing", waits: true, cause: app, then: func(s *stage) {
			targets := &v1alpha1.TargetList{}
			if err := env.Admin.List(s.Context(), targets, client.InNamespace(s.space)); err != nil {
				s.Fatal(err)
			}
			for _, target := range targets.Items {
				s.patch(env.Admin, &target, string(encode(m{"spec": m{"config": m{"kubeconfig": weak}}})))
			}
			remove(s)
		}, names: names{reason: `403|forbidden|may not|not allowed`, object: `ConfigMap "?NS/app`, cluster: `north`, next: `lacks? this permission|grant|allow `}},
	}
}

// removeCopies deletes the copies of Targets, as their owner would.
func (s *stage) removeCopies() {
	s.Helper()
	if err := env.Admin.DeleteAllOf(s.Context(), &v1alpha1.Target{}, client.InNamespace(s.space)); err != nil {
		s.Fatal(err)
	}
}
