package chart

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// right is one verb on one resource in a namespace; everywhere is the namespace "*".
type right struct{ namespace, resource, verb string }

// rights are those of the roles that are bound to the program.
func rights(t *testing.T, values map[string]any) map[right]bool {
	t.Helper()
	objects := render(t, values)
	found := map[right]bool{}
	for _, binding := range objects {
		if !strings.HasSuffix(binding.GetKind(), "Binding") || !Landscaper.bindsProgram(binding) {
			continue
		}
		kind, _, _ := unstructured.NestedString(binding.Object, "roleRef", "kind")
		name, _, _ := unstructured.NestedString(binding.Object, "roleRef", "name")
		for _, object := range objects {
			if object.GetKind() != kind || object.GetName() != name || object.GetNamespace() != binding.GetNamespace() {
				continue
			}
			role := &rbacv1.ClusterRole{}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, role); err != nil {
				t.Fatal(err)
			}
			namespace := binding.GetNamespace()
			if kind == "ClusterRole" {
				namespace = "*"
			}
			for _, rule := range role.Rules {
				for _, resource := range rule.Resources {
					for _, verb := range rule.Verbs {
						found[right{namespace, resource, verb}] = true
					}
				}
			}
		}
	}
	return found
}

func TestRights(t *testing.T) {
	confined := map[string]any{"namespaces": []any{"team-a", "team-b"}}
	with := func(base map[string]any, key string, value any) map[string]any {
		values := map[string]any{key: value}
		for key, value := range base {
			values[key] = value
		}
		return values
	}
	tokensInA := map[string]any{"namespaces": []any{"team-a"}}
	shared := map[string]any{"importNamespaces": []any{map[string]any{"from": "shared", "to": []any{"team-a"}}}}
	token := func(namespace string) right { return right{namespace, "serviceaccounts/token", "create"} }
	tests := []struct {
		reason  string
		values  map[string]any
		granted []right
		refused []right
	}{
		{"without namespaces, the server has rights in all of them", nil,
			[]right{{"*", "installations", "watch"}, {"*", "secrets", "create"}, {"*", "namespaces", "watch"}, {"*", "targetsyncs", "patch"}, {"*", "targetsyncs/status", "update"}},
			[]right{token("*"), {"*", "targetsyncs", "create"}, {"*", "targetsyncs", "delete"}}},
		{"tokens where asked for", with(nil, "serviceAccountTokens", tokensInA), []right{token("team-a")}, []right{token("*")}},
		{"tokens everywhere if asked for", with(nil, "serviceAccountTokens", map[string]any{"everywhere": true}), []right{token("*")}, nil},
		{"confined, the server has the same rights in its namespaces, and sees no others", confined,
			[]right{{"team-a", "installations", "watch"}, {"team-b", "secrets", "create"}, {"team-b", "deployitems/status", "update"}},
			[]right{{"*", "installations", "watch"}, {"*", "secrets", "get"}, {"*", "namespaces", "list"}, token("team-a"), token("*")}},
		{"confined, tokens where asked for", with(confined, "serviceAccountTokens", tokensInA), []right{token("team-a")}, []right{token("team-b"), token("*")}},
		{"confined, tokens in all its namespaces", with(confined, "serviceAccountTokens", map[string]any{"everywhere": true}), []right{token("team-a"), token("team-b")}, []right{token("*")}},
		{"confined, the server reads where its Installations may import from", with(confined, "install", shared),
			[]right{{"shared", "secrets", "get"}}, []right{{"shared", "secrets", "list"}, {"shared", "secrets", "create"}, {"*", "secrets", "get"}}},
		{"the health object where one is wanted", with(nil, "healthCheck", "health"), []right{{Namespace, "lshealthchecks", "update"}}, []right{{"*", "lshealthchecks", "update"}}},
		{"no health object where none is wanted", nil, nil, []right{{Namespace, "lshealthchecks", "update"}}},
		{"without the feature, policies are not read", nil, nil, []right{{"*", "deliverypolicies", "list"}, {"*", "deliverypolicies/status", "update"}, {"*", "deliveryrevisions", "list"}}},
		{"policies are read, and their status is written", with(nil, "featureGates", map[string]any{"DeliveryPolicies": true}),
			[]right{{"*", "deliverypolicies", "watch"}, {"*", "deliverypolicies/status", "update"}}, []right{{"*", "deliverypolicies", "update"}, {"*", "deliverypolicies", "override"}}},
		{"earlier specifications are kept, and never changed", with(nil, "featureGates", map[string]any{"DeliveryPolicies": true}),
			[]right{{"*", "deliveryrevisions", "list"}, {"*", "deliveryrevisions", "create"}, {"*", "deliveryrevisions", "delete"}}, []right{{"*", "deliveryrevisions", "update"}, {"*", "deliveryrevisions", "patch"}}},
		{"plans are written, and approvals only read", with(nil, "featureGates", map[string]any{"DeliveryPolicies": true}),
			[]right{{"*", "deliveryplans", "create"}, {"*", "deliveryplans", "delete"}, {"*", "deliveryapprovals", "watch"}}, []right{{"*", "deliveryplans", "update"}, {"*", "deliveryapprovals", "create"}, {"*", "deliveryapprovals", "delete"}}},
		{"confined, policies of its namespaces are read", with(confined, "featureGates", map[string]any{"AllAlpha": true}), []right{{"team-a", "deliverypolicies", "watch"}}, []right{{"*", "deliverypolicies", "watch"}}},
		{"metrics for everybody need no token reviews", with(confined, "metrics", map[string]any{"authenticated": false}), nil,
			[]right{{"*", "tokenreviews", "create"}}},
	}
	console := func(login map[string]any) map[string]any {
		values := map[string]any{"enabled": true, "url": "https://c.example.org"}
		if login != nil {
			values["login"] = login
		}
		return values
	}
	quiet := map[string]any{"authenticated": false}
	tests = append(tests, []struct {
		reason           string
		values           map[string]any
		granted, refused []right
	}{
		{"no console, no rights for it", map[string]any{"metrics": quiet}, nil, []right{{"*", "subjectaccessreviews", "create"}, {"*", "events", "list"}, {"*", "events", "watch"}}},
		{"a console asks who users are, and what they may list", map[string]any{"metrics": quiet, "featureGates": withConsole, "console": console(nil)},
			[]right{{"*", "tokenreviews", "create"}, {"*", "subjectaccessreviews", "create"}, {"*", "events", "watch"}},
			[]right{{"*", "users", "impersonate"}, {"*", "groups", "impersonate"}, {"*", "events", "get"}}},
		{"without a login by tokens, no token is asked about", map[string]any{"metrics": quiet, "featureGates": withConsole, "console": console(map[string]any{"token": false, "proxy": map[string]any{"usernameHeader": "X-User", "secretHeader": "X-Secret", "secretName": "s"}})},
			[]right{{"*", "subjectaccessreviews", "create"}}, []right{{"*", "tokenreviews", "create"}}},
		{"confined, it sees the events of its namespaces", with(with(confined, "console", console(nil)), "featureGates", withConsole), []right{{"team-a", "events", "list"}}, []right{{"*", "events", "list"}}},
	}...)
	acting := func(actions map[string]any) map[string]any {
		values := console(nil)
		values["actions"] = actions
		return map[string]any{"featureGates": withConsole, "console": values}
	}
	planning := func(actions map[string]any) map[string]any {
		values := acting(actions)
		values["console"].(map[string]any)["plans"] = map[string]any{"enabled": true}
		return values
	}
	impersonate := []right{{"*", "users", "impersonate"}, {"*", "groups", "impersonate"}, {"*", "serviceaccounts", "impersonate"}, {"*", "uids", "impersonate"}}
	tests = append(tests, []struct {
		reason           string
		values           map[string]any
		granted, refused []right
	}{
		{"who acts with a token needs nothing of the server", acting(map[string]any{"enabled": true}), nil, impersonate},
		{"without actions, no user is acted for", acting(map[string]any{"enabled": false, "users": []any{"jane"}, "groups": []any{"dev"}}), nil, impersonate},
		{"users are acted for that are named", acting(map[string]any{"enabled": true, "users": []any{"jane"}}), impersonate[:1], impersonate[1:]},
		{"users see plans without acting: they are named in the same place", planning(map[string]any{"users": []any{"jane"}, "groups": []any{"dev"}}), impersonate[:2], impersonate[2:]},
		{"who sees plans with a token needs nothing of the server", planning(map[string]any{}), nil, impersonate},
		{"users are acted for in groups that are named", acting(map[string]any{"enabled": true, "users": []any{"*"}, "groups": []any{"dev"}}), impersonate[:2], impersonate[2:]},
	}...)
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			got := rights(t, test.values)
			for _, want := range test.granted {
				if !got[want] {
					t.Errorf("not granted: %v", want)
				}
			}
			for _, refused := range test.refused {
				if got[refused] {
					t.Errorf("granted: %v", refused)
				}
			}
		})
	}
	for granted := range rights(t, confined) {
		// What asks the API server about clients of the metrics is for no object.
		if granted.namespace == "*" && granted.resource != "tokenreviews" && granted.resource != "subjectaccessreviews" {
			t.Errorf("confined, but granted everywhere: %v", granted)
		}
	}
}

// TestPods shows that no pod of the chart can do more than it must.
func TestPods(t *testing.T) {
	pods := 0
	for _, object := range render(t, nil) {
		raw, found, err := unstructured.NestedMap(object.Object, "spec", "template", "spec")
		if err != nil || !found {
			continue
		}
		pods++
		pod := &corev1.PodSpec{}
		content, err := json.Marshal(raw)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(content, pod); err != nil {
			t.Fatal(err)
		}
		checkPod(t, object.GetKind()+" "+object.GetName(), pod)
	}
	if pods != 2 {
		t.Errorf("%d pods, want those of the program and of the installer", pods)
	}
}

func checkPod(t *testing.T, name string, pod *corev1.PodSpec) {
	t.Helper()
	isTrue := func(value *bool) bool { return value != nil && *value }
	isFalse := func(value *bool) bool { return value != nil && !*value }
	if pod.HostNetwork || pod.HostPID || pod.HostIPC {
		t.Errorf("%s shares something with the node", name)
	}
	if security := pod.SecurityContext; security == nil || !isTrue(security.RunAsNonRoot) || security.RunAsUser == nil || *security.RunAsUser == 0 {
		t.Errorf("%s may run as root", name)
	}
	for _, container := range pod.Containers {
		security := container.SecurityContext
		if security == nil {
			t.Errorf("%s: container %s has no security context", name, container.Name)
			continue
		}
		for what, holds := range map[string]bool{
			"may gain privileges":      isFalse(security.AllowPrivilegeEscalation),
			"may write its image":      isTrue(security.ReadOnlyRootFilesystem),
			"may run as root":          isTrue(security.RunAsNonRoot),
			"has capabilities":         security.Capabilities != nil && slices.Equal(security.Capabilities.Drop, []corev1.Capability{"ALL"}) && len(security.Capabilities.Add) == 0,
			"may call all of Linux":    security.SeccompProfile != nil && security.SeccompProfile.Type == corev1.SeccompProfileTypeRuntimeDefault,
			"is privileged":            !isTrue(security.Privileged),
			"shares paths of the node": !slices.ContainsFunc(pod.Volumes, func(v corev1.Volume) bool { return v.HostPath != nil }),
		} {
			if !holds {
				t.Errorf("%s: container %s %s", name, container.Name, what)
			}
		}
	}
}
