package cli

import (
	"maps"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"

	"go.landscaper.dev/api/v1alpha1"
)

// TestCompletion proposes names of what exists, for arguments and for flags.
func TestCompletion(t *testing.T) {
	namespace := newNamespace(t)
	shop := newInstallation(namespace, "shop", "")
	shop.Spec.Imports.Data = []v1alpha1.DataImport{{Name: "domain", DataRef: "domain"}}
	shop.Spec.ImportDataMappings = map[string]v1alpha1.AnyJSON{"replicas": v1alpha1.NewAnyJSON([]byte("3"))}
	create(t, shop, job("job-1", "Succeeded"))
	create(t, newInstallation(namespace, "shop-part", "shop"), job("job-1", "Succeeded"))
	meta := metav1.ObjectMeta{Namespace: namespace, Name: "edge"}
	target := &v1alpha1.Target{ObjectMeta: meta}
	target.Spec.Type = v1alpha1.KubernetesClusterTargetType
	if err := cluster.Create(t.Context(), target); err != nil {
		t.Fatal(err)
	}
	if err := cluster.Create(t.Context(), &v1alpha1.DataObject{ObjectMeta: meta, Data: v1alpha1.NewAnyJSON([]byte("1"))}); err != nil {
		t.Fatal(err)
	}
	if err := cluster.Create(t.Context(), &v1alpha1.Context{ObjectMeta: meta}); err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.LoadFromFile(resource.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	all := "shop\nshop-part\n"
	tests := []struct{ line, want string }{
		{"inst create . --target cluster=", "cluster=edge\n"},
		{"inst create . --data domain=", "domain=edge\n"},
		{"inst create . --target clus", ""},
		{"inst create . --context ", "edge\n"},
		{"inst set-import ", all},
		{"inst set-import shop ", "domain=\nreplicas=\n"},
		{"inst set-import gone ", ""},
		{"inst rerun ", "shop\n"},
		{"inst rerun shop ", ""},
		{"reconcile ", "shop\n"},
		{"targets create k8s-cluster --target-kubeconfig " + resource.Kubeconfig + " --context ", strings.Join(slices.Sorted(maps.Keys(config.Contexts)), "\n") + "\n"},
		{"inspect --cluster ", strings.Join(slices.Sorted(maps.Keys(config.Clusters)), "\n") + "\n"},
		{"inspect --user ", strings.Join(slices.Sorted(maps.Keys(config.AuthInfos)), "\n") + "\n"},
	}
	for _, command := range []string{"inspect", "interrupt", "wait", "plan", "graph", "logs", "events", "delete", "force-delete"} {
		tests = append(tests, struct{ line, want string }{"inst " + command + " ", all})
	}
	for _, test := range tests {
		args := append([]string{"__complete"}, strings.Split(test.line, " ")...)
		args = slices.Insert(args, len(args)-1, "-n", namespace)
		if before := args[len(args)-4]; strings.HasPrefix(before, "--") {
			// The flag that is completed comes last.
			args = slices.Concat(args[:len(args)-4], []string{"-n", namespace, before}, args[len(args)-1:])
		}
		got := cli(t, resource.Kubeconfig, args...)
		if proposals, _, _ := strings.Cut(got.out, ":"); proposals != test.want {
			t.Errorf("%q: %+v, want %q", test.line, got, test.want)
		}
	}
}
