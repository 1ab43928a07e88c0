package landscape

import (
	"errors"
	"fmt"
	"os"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/yaml"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	fleetv1alpha1 "go.landscaper.dev/api/fleet/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/server/install"
	"go.landscaper.dev/test/chart"
)

// Connect returns a client that knows all our kinds and is not slowed down.
func Connect(kubeconfig string) (client.WithWatch, error) {
	// controller-runtime prints a stack trace when no logger was set.
	log.SetLogger(logr.Discard())
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig: %w", err)
	}
	config.QPS = -1
	scheme := install.Scheme()
	if err := errors.Join(v1alpha1.AddToScheme(scheme), deliveryv1alpha1.AddToScheme(scheme), fleetv1alpha1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	return client.NewWithWatch(config, client.Options{Scheme: scheme})
}

// Target returns a Target with an inline kubeconfig.
func Target(namespace, name, kubeconfig string) (*v1alpha1.Target, error) {
	access, err := yaml.Marshal(map[string]string{"kubeconfig": kubeconfig})
	if err != nil {
		return nil, fmt.Errorf("encode the Target: %w", err)
	}
	raw, err := yaml.YAMLToJSON(access)
	if err != nil {
		return nil, fmt.Errorf("encode the Target: %w", err)
	}
	return &v1alpha1.Target{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       v1alpha1.TargetSpec{Type: v1alpha1.KubernetesClusterTargetType, Configuration: v1alpha1.NewAnyJSONPointer(raw)},
	}, nil
}

// WriteRules writes the rules of the chart with these values, bound to a user, to a
// file in a directory, for lab.UserOptions.
func WriteRules(directory, user string, values map[string]any) (string, error) {
	return WriteRulesOf(chart.Landscaper, directory, user, values)
}

// WriteRulesOf does the same with another chart.
func WriteRulesOf(of chart.Chart, directory, user string, values map[string]any) (string, error) {
	manifest, err := of.Rules(user, values)
	if err != nil {
		return "", err
	}
	return WriteManifest(directory, manifest)
}

// WriteManifest writes rules to a file in a directory, for lab.UserOptions.
func WriteManifest(directory string, manifest []byte) (string, error) {
	file, err := os.CreateTemp(directory, "rules-*.yaml")
	if err != nil {
		return "", fmt.Errorf("write the rules of the chart: %w", err)
	}
	defer file.Close() //nolint:errcheck // Write reports what matters
	_, err = file.Write(manifest)
	return file.Name(), err
}
