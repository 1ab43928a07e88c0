package chart

import (
	"os"
	"slices"
	"strings"
	"testing"
)

func TestShootFlux(t *testing.T) {
	const name = "gardener-extension-shoot-flux"
	flux := func(values map[string]any) map[string]any { return map[string]any{"flux": values} }
	tests := []struct {
		reason string
		values map[string]any
		kind   string
		name   string
		want   []string
	}{
		{"the defaults fit a seed", nil, "Deployment", name, []string{
			"--extension-max-concurrent-reconciles=5", "--healthcheck-max-concurrent-reconciles=5", "--heartbeat-renew-interval-seconds=30", "--default-without-config=install",
			"--heartbeat-namespace=extension-shoot-flux", "--leader-election-namespace=extension-shoot-flux", `"replicas":2`, name + ":0.1.0", `"priorityClassName":"gardener-system-900"`,
			`"networking.gardener.cloud/to-runtime-apiserver":"allowed"`, `"networking.resources.gardener.cloud/to-all-shoots-kube-apiserver-tcp-443":"allowed"`,
		}},
		{"gardenlet fills in what it knows", map[string]any{"gardener": map[string]any{"version": "v1.130.0", "garden": map[string]any{"clusterIdentity": "landscape-a"}}}, "Deployment", name,
			[]string{"--garden-cluster-identity=landscape-a", "--gardener-version=v1.130.0"}},
		{"the image is pinned", map[string]any{"image": map[string]any{"digest": "sha256:0abc0abc0abc0abc0abc0abc0abc0abc0abc0abc0abc0abc0abc0abc0abc0abc", "tag": "ignored"}}, "Deployment", name, []string{`"image":"` + name + `@sha256:0abc0abc0abc0abc0abc0abc0abc0abc0abc0abc0abc0abc0abc0abc0abc0abc"`}},
		{"a mirror with checksums", flux(map[string]any{"mirror": map[string]any{"address": "oci://r.example.org/flux", "checksums": map[string]any{"v2.8.1": "sha256:1111111111111111111111111111111111111111111111111111111111111111", "v2.7.0": "sha256:2222222222222222222222222222222222222222222222222222222222222222"}}}), "Deployment", name,
			[]string{"--flux-mirror=oci://r.example.org/flux", "--flux-mirror-checksum=v2.7.0=sha256:2222222222222222222222222222222222222222222222222222222222222222", "--flux-mirror-checksum=v2.8.1=sha256:1111111111111111111111111111111111111111111111111111111111111111"}},
		{"a range of releases, with what YAML could read otherwise", flux(map[string]any{"allowedVersions": ">=2.3.0 <3"}), "Deployment", name, []string{`--allowed-flux-versions=\u003e=2.3.0 \u003c3`}},
		{"projects are not read, nor host keys asked for", map[string]any{"projectConfigMap": false, "allowHostKeyScan": false, "defaultWithoutConfig": "fail"}, "Deployment", name,
			[]string{"--project-configmap=false", "--allow-host-key-scan=false", "--default-without-config=fail"}},
		{"controllers may be switched off and configured", map[string]any{
			"disableControllers": []any{"healthcheck", "heartbeat"}, "controllers": map[string]any{"ignoreOperationAnnotation": true},
		}, "Deployment", name, []string{"--disable-controllers=healthcheck,heartbeat", "--ignore-operation-annotation"}},
		{"the way of the first implementation", map[string]any{"gardenletKubeconfig": "garden/gardenlet-kubeconfig"}, "Deployment", name, []string{"--gardenlet-kubeconfig=garden/gardenlet-kubeconfig"}},
		{"more arguments, variables and labels", map[string]any{"extraArgs": []any{"--resync-period=2h"}, "extraEnv": []any{map[string]any{"name": "A", "value": "b"}}, "extraLabels": map[string]any{"a/b": "c"}}, "Deployment", name,
			[]string{"--resync-period=2h", `"env":[{"name":"A","value":"b"}]`, `"a/b":"c"`}},
		{"metrics are collected", map[string]any{"metricsPort": 9090}, "Service", name, []string{`[{\"port\":9090,\"protocol\":\"TCP\"}]`, `"targetPort":"metrics"`}},
		{"the Deployment is resized by a VerticalPodAutoscaler", nil, "VerticalPodAutoscaler", name, []string{`"updateMode":"Auto"`, `"memory":"64Mi"`, `"name":"` + name + `"`}},
		{"a seed is protected from the memory of the program", nil, "Deployment", name, []string{`"limits":{"memory":"512Mi"}`}},
		{"only the Secret with a key is changed", nil, "ClusterRole", name, []string{`"resourceNames":["shoot-flux-source"],"resources":["secrets"],"verbs":["update"]`, `"resources":["secrets"],"verbs":["get","list","watch","create","delete"]`}},
		{"the leader election writes events in the namespace of the program", nil, "Role", name + "-leases", []string{`{"apiGroups":[""],"resources":["events"],"verbs":["create","patch"]}`}},
		{"a PodDisruptionBudget keeps one replica", nil, "PodDisruptionBudget", name, []string{`"maxUnavailable":1`}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			objects, err := ShootFlux.Render(test.values)
			if err != nil {
				t.Fatal(err)
			}
			contains(t, objects, test.kind, test.name, test.want)
		})
	}
}

// TestShootFluxWithout leaves out the disabled objects.
func TestShootFluxWithout(t *testing.T) {
	objects, err := ShootFlux.Render(map[string]any{"vpa": map[string]any{"enabled": false}, "metrics": map[string]any{"enableScraping": false}})
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, object := range objects {
		kinds = append(kinds, object.GetKind())
	}
	slices.Sort(kinds)
	if want := []string{"ClusterRole", "ClusterRoleBinding", "Deployment", "PodDisruptionBudget", "Role", "RoleBinding", "ServiceAccount"}; !slices.Equal(kinds, want) {
		t.Errorf("got %v", kinds)
	}
}

// TestShootFluxValues shows that no value of the chart is without effect. Three are part of
// what is passed on as a whole.
func TestShootFluxValues(t *testing.T) {
	directory, err := ShootFlux.Directory()
	if err != nil {
		t.Fatal(err)
	}
	var templates strings.Builder
	files, err := os.ReadDir(directory + "/templates")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		content, err := os.ReadFile(directory + "/templates/" + file.Name())
		if err != nil {
			t.Fatal(err)
		}
		templates.Write(content)
	}
	values, err := os.ReadFile(directory + "/values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(values), "\n") {
		name, _, found := strings.Cut(strings.TrimSpace(line), ":")
		if !found || strings.HasPrefix(name, "#") || strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		if !strings.Contains(templates.String(), "."+name) && name != "updateMode" && name != "requests" && name != "limits" {
			t.Errorf("no template reads the value %s", name)
		}
	}
}
