package scenario

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	apideployer "go.landscaper.dev/api/deployer"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/lab"
)

// ClustersOf is what the status of an item says of clusters.
func ClustersOf(t *testing.T, item *v1alpha1.DeployItem) apideployer.ClusterRecord {
	t.Helper()
	var record apideployer.ClusterRecord
	if item.Status.ProviderStatus == nil {
		return record
	}
	if err := json.Unmarshal(item.Status.ProviderStatus.Raw, &record); err != nil {
		t.Fatal(err)
	}
	return record
}

// IDOf is the ID of a cluster: the UID of its Namespace kube-system.
func IDOf(t *testing.T, cluster client.Client) string {
	t.Helper()
	system := &corev1.Namespace{}
	if err := cluster.Get(t.Context(), client.ObjectKey{Name: metav1.NamespaceSystem}, system); err != nil {
		t.Fatal(err)
	}
	return string(system.UID)
}

// Proxied returns the kubeconfig of a new user of a cluster whose requests go through the fault proxy.
func Proxied(t *testing.T, cluster *lab.Cluster, options lab.UserOptions) string {
	t.Helper()
	options.ThroughProxy = true
	user, err := cluster.AddUser(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	return user.Kubeconfig
}
