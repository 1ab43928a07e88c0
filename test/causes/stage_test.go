package causes

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/scenario"
)

// canary is part of every value that must not be shown.
const canary = "hunter2-canary"

// stage is where one row plays: a namespace of that name on all three clusters, with the
// Targets north and south.
type stage struct {
	*testing.T

	space string
	depth int
	// root is the Installation that is looked at.
	root *v1alpha1.Installation
}

// newStage makes the namespaces and the Targets.
func newStage(t *testing.T, name string, depth int) *stage {
	t.Helper()
	s := &stage{T: t, space: name, depth: depth}
	for _, cluster := range []client.Client{env.Admin, env.Workload, s.south()} {
		if err := cluster.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.space}}); err != nil {
			t.Fatal(err)
		}
	}
	env.CreateTarget(t, s.space, "north", env.TargetKubeconfig)
	env.CreateTarget(t, s.space, "south", scenario.ReadFile(t, env.Lab.Clusters["second"].Kubeconfig))
	env.WaitForContext(t, s.space)
	return s
}

// south is a client for the second target cluster.
func (s *stage) south() client.WithWatch {
	s.Helper()
	cluster, err := second()
	if err != nil {
		s.Fatal(err)
	}
	return cluster
}

// yaml creates objects on a cluster; NS stands for the namespace.
func (s *stage) yaml(cluster client.Client, texts ...string) {
	s.Helper()
	for _, text := range texts {
		if err := cluster.Create(s.Context(), s.object(text)); err != nil {
			s.Fatalf("create %s: %v", text, err)
		}
	}
}

// object reads an object; NS stands for the namespace.
func (s *stage) object(text string) *unstructured.Unstructured {
	s.Helper()
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(strings.ReplaceAll(text, "NS", s.space)), &object.Object); err != nil {
		s.Fatalf("read %s: %v", text, err)
	}
	return object
}

// patch changes an object by a merge patch.
func (s *stage) patch(cluster client.Client, object client.Object, patch string) {
	s.Helper()
	if err := cluster.Patch(s.Context(), object, client.RawPatch("application/merge-patch+json", []byte(patch))); err != nil {
		s.Fatal(err)
	}
}

// retarget gives a Target another content.
func (s *stage) retarget(name string, spec string) {
	s.Helper()
	target := &v1alpha1.Target{ObjectMeta: metav1.ObjectMeta{Namespace: s.space, Name: name}}
	if err := env.Admin.Delete(s.Context(), target); err != nil {
		s.Fatal(err)
	}
	s.yaml(env.Admin, `{apiVersion: landscaper.gardener.cloud/v1alpha1, kind: Target, metadata: {name: `+name+`, namespace: NS}, spec: `+spec+`}`)
}

// kubeconfig is that of the first target cluster, changed.
func (s *stage) kubeconfig(server, token string) string {
	s.Helper()
	return env.ChangedKubeconfig(s.T, func(config *clientcmdapi.Config) {
		for _, cluster := range config.Clusters {
			if server != "" {
				cluster.Server = server
			}
		}
		for _, user := range config.AuthInfos {
			if token != "" {
				user.Token, user.ClientCertificateData, user.ClientKeyData = token, nil, nil
			}
		}
	})
}

// withKubeconfig gives a Target another kubeconfig.
func (s *stage) withKubeconfig(name, kubeconfig string) {
	s.Helper()
	if err := env.Admin.Delete(s.Context(), &v1alpha1.Target{ObjectMeta: metav1.ObjectMeta{Namespace: s.space, Name: name}}); err != nil {
		s.Fatal(err)
	}
	env.CreateTarget(s.T, s.space, name, kubeconfig)
}
