package e2e

import (
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/internal/server/install"
	"go.landscaper.dev/test/landscape"
)

// kubeconfigTemplate deploys a Secret with a kubeconfig for a ServiceAccount of the
// target cluster.
var kubeconfigTemplate = landscape.OneItem(`apiVersion: v1
kind: Secret
metadata: {name: NAME, namespace: NAMESPACE}
data: {kubeconfig: {{ getServiceAccountKubeconfig "robot" "NAMESPACE" 600 .imports.cluster }}}
`)

// TestServiceAccountKubeconfig: a template makes a kubeconfig through an imported
// Target, and the cluster accepts it.
func TestServiceAccountKubeconfig(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	space := namespace(t)
	if err := env.Workload.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "robot"}}); err != nil {
		t.Fatal(err)
	}
	waitSucceeded(t, create(t, newInstallation(space, "shop", kubeconfigTemplate)))
	secret := &corev1.Secret{}
	if err := env.Workload.Get(t.Context(), client.ObjectKey{Namespace: space, Name: "shop"}, secret); err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(secret.Data["kubeconfig"])
	if err != nil {
		t.Fatal(err)
	}
	robot, err := client.New(config, client.Options{Scheme: install.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	who := &authenticationv1.SelfSubjectReview{}
	if err := robot.Create(t.Context(), who); err != nil || who.Status.UserInfo.Username != "system:serviceaccount:"+space+":robot" {
		t.Errorf("the kubeconfig is of %q, %v", who.Status.UserInfo.Username, err)
	}
}

// TestDisabledTemplateFunction: an administrator can switch the function off.
func TestDisabledTemplateFunction(t *testing.T) {
	registryServer(t, "disabledTemplateFunctions: [getServiceAccountKubeconfig]")
	space := namespace(t)
	checkFailed(t, create(t, newInstallation(space, "shop", kubeconfigTemplate)), "CreateImportsAndSubobjects",
		"getServiceAccountKubeconfig", "the administrator has switched this function off", "template source:")
}

// TestKubeconfigErrors: what the cluster says reaches the user.
func TestKubeconfigErrors(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	space := namespace(t)
	checkFailed(t, create(t, newInstallation(space, "shop", kubeconfigTemplate)), "CreateImportsAndSubobjects",
		"request a token of a ServiceAccount from the cluster of Target "+space+"/host")
}
