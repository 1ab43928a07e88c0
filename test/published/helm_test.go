package published

import (
	"io"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/cli"
	"helm.sh/helm/v4/pkg/kube"
	helmregistry "helm.sh/helm/v4/pkg/registry"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"
)

// helm is Helm at work on the cluster.
type helm struct {
	*action.Configuration
	settings *cli.EnvSettings
	// version is that of the chart.
	version string
}

func newHelm(t *testing.T) helm {
	t.Helper()
	return newHelmBy(t, nil)
}

// newHelmBy is Helm whose access to the cluster is changed.
func newHelmBy(t *testing.T, change func(*rest.Config) *rest.Config) helm {
	t.Helper()
	for _, variable := range []string{"HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME"} {
		t.Setenv(variable, t.TempDir())
	}
	flags, namespace := genericclioptions.NewConfigFlags(false), space
	flags.KubeConfig, flags.Namespace, flags.WrapConfigFn = &cluster.Kubeconfig, &namespace, change
	client, err := helmregistry.NewClient(helmregistry.ClientOptPlainHTTP(), helmregistry.ClientOptCredentialsFile(filepath.Join(t.TempDir(), "config.json")))
	if err != nil {
		t.Fatal(err)
	}
	h := helm{action.NewConfiguration(action.ConfigurationSetLogger(slog.NewTextHandler(io.Discard, nil))), cli.New(), bare}
	h.RegistryClient = client
	if err := h.Init(flags, space, "secret"); err != nil {
		t.Fatal(err)
	}
	return h
}

// chart pulls the chart of the release.
func (h helm) chart(t *testing.T) chart.Charter {
	t.Helper()
	pull := action.NewInstall(h.Configuration)
	pull.Version, pull.PlainHTTP = h.version, true
	file, err := pull.LocateChart("oci://"+registry+"/charts/landscaper", h.settings)
	if err != nil {
		t.Fatal(err)
	}
	pulled, err := loader.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	return pulled
}

// install does what "helm install --wait" of docs/release.md does, and says how long it took.
func (h helm) install(t *testing.T, values map[string]any) {
	t.Helper()
	began := time.Now()
	install := action.NewInstall(h.Configuration)
	install.ReleaseName, install.Namespace, install.CreateNamespace = "landscaper", space, true
	install.WaitStrategy, install.Timeout = kube.StatusWatcherStrategy, waitLimit
	if _, err := install.RunWithContext(t.Context(), h.chart(t), values); err != nil {
		t.Fatalf("%v\n%s", err, pods(t))
	}
	t.Logf("ready after %.1f s", time.Since(began).Seconds())
}

// test does what "helm test" does.
func (h helm) test(t *testing.T) {
	t.Helper()
	began := time.Now()
	test := action.NewReleaseTesting(h.Configuration)
	test.Namespace, test.Timeout = space, waitLimit
	_, shutdown, err := test.Run("landscaper")
	if err != nil {
		t.Fatalf("%v\n%s", err, pods(t))
	}
	if err := shutdown(); err != nil {
		t.Fatal(err)
	}
	t.Logf("tested in %.1f s", time.Since(began).Seconds())
}

// uninstall does what "helm uninstall --wait" does.
func (h helm) uninstall(t *testing.T) {
	t.Helper()
	uninstall := action.NewUninstall(h.Configuration)
	uninstall.WaitStrategy, uninstall.Timeout, uninstall.DeletionPropagation = kube.StatusWatcherStrategy, waitLimit, "foreground"
	if _, err := uninstall.Run("landscaper"); err != nil {
		t.Fatalf("%v\n%s", err, pods(t))
	}
	// The program of the next test does not wait until the Lease ends.
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "landscaper.landscaper.gardener.cloud"}}
	if err := admin.Delete(t.Context(), lease); err != nil {
		t.Error(err)
	}
}
