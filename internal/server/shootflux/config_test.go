package shootflux

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// TestValidate: all problems are reported at the start, with the name of the flag.
func TestValidate(t *testing.T) {
	tests := []struct {
		reason string
		change func(*Config)
		want   []string
	}{
		{"the defaults need a namespace for the heartbeat", func(c *Config) { c.HeartbeatNamespace = "" }, []string{"--heartbeat-namespace"}},
		{"no heartbeat at all", func(c *Config) { c.HeartbeatNamespace, c.Disabled = "", []string{Heartbeat} }, nil},
		{"a controller that does not exist", func(c *Config) { c.Disabled = []string{"heartbeet"} }, []string{`--disable-controllers "heartbeet"`, "extension, healthcheck, heartbeat"}},
		{"all of them switched off", func(c *Config) { c.Disabled = Controllers() }, nil},
		{"no workers", func(c *Config) { c.Workers = 0 }, []string{"--extension-max-concurrent-reconciles"}},
		{"fewer workers than none", func(c *Config) { c.HealthWorkers = -1 }, []string{"--healthcheck-max-concurrent-reconciles"}},
		{"a word that is no choice", func(c *Config) { c.WithoutConfig = "ignore" }, []string{`--default-without-config "ignore": use install or fail`}},
		{"no choice", func(c *Config) { c.WithoutConfig = "" }, []string{"--default-without-config"}},
		{"a range of versions", func(c *Config) { c.AllowedVersions = ">=2.3.0 <3" }, nil},
		{"a range that is not valid", func(c *Config) { c.AllowedVersions = "two or three" }, []string{`--allowed-flux-versions "two or three"`, ">=2.3.0 <3"}},
		{"never looking again", func(c *Config) { c.Resync = 0 }, []string{"--resync-period"}},
		{"a heartbeat without a pause", func(c *Config) { c.HeartbeatInterval = 0 }, []string{"--heartbeat-renew-interval-seconds"}},
		{"spreading backwards", func(c *Config) { c.Spread = -1 }, []string{"--change-spread"}},
		{"all shoots of a project at once", func(c *Config) { c.Spread = 0 }, nil},
		{"a Secret of gardenlet", func(c *Config) { c.GardenletSecret = "garden/gardenlet-kubeconfig" }, nil},
		{"a Secret without a namespace", func(c *Config) { c.GardenletSecret = "gardenlet-kubeconfig" }, []string{"--gardenlet-kubeconfig"}},
		{"a Secret with an empty namespace", func(c *Config) { c.GardenletSecret = "/gardenlet-kubeconfig" }, []string{"--gardenlet-kubeconfig"}},
		{"a Secret with an empty name", func(c *Config) { c.GardenletSecret = "garden/" }, []string{"--gardenlet-kubeconfig"}},
		{"a Secret with a key", func(c *Config) { c.GardenletSecret = "garden/gardenlet/kubeconfig" }, []string{"--gardenlet-kubeconfig"}},
		{"several mistakes are told at once", func(c *Config) { c.Workers, c.WithoutConfig = 0, "x" }, []string{"--extension-max", "--default-without-config"}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			c := Default()
			c.HeartbeatNamespace = "garden"
			test.change(&c)
			err := c.Validate()
			if (err == nil) != (len(test.want) == 0) {
				t.Fatalf("got %v", err)
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is missing in %v", want, err)
				}
			}
		})
	}
}

// TestAllowed: without a range all releases are allowed.
func TestAllowed(t *testing.T) {
	if allowed, err := (&Config{}).allowed(); allowed != nil || err != nil {
		t.Errorf("%v, %v", allowed, err)
	}
}

// TestGardenMapper: the garden is never asked for its kinds.
func TestGardenMapper(t *testing.T) {
	mapper := coreMapper()
	for kind, resource := range map[string]string{"ConfigMap": "configmaps", "Secret": "secrets"} {
		t.Run("we read "+resource, func(t *testing.T) {
			mapping, err := mapper.RESTMapping(schema.GroupKind{Kind: kind}, "v1")
			if err != nil || mapping.Resource.Resource != resource {
				t.Errorf("%v, %v", mapping, err)
			}
		})
	}
	t.Run("and nothing else", func(t *testing.T) {
		if _, err := mapper.RESTMapping(schema.GroupKind{Kind: "Namespace"}, "v1"); err == nil {
			t.Error("Namespaces are known")
		}
	})
}

// TestNameOnly: unused fields take no memory, and other values stay.
func TestNameOnly(t *testing.T) {
	full := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Name: "a", Namespace: "b", ResourceVersion: "7", Labels: map[string]string{"a": "b"}, Annotations: map[string]string{"a": "b"},
		OwnerReferences: []metav1.OwnerReference{{Name: "o"}}, ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m"}},
	}}
	kept, err := nameOnly(full)
	if err != nil {
		t.Fatal(err)
	}
	if meta, ok := kept.(*metav1.PartialObjectMetadata); !ok || meta.Name != "a" || meta.ResourceVersion != "7" || meta.Labels != nil || meta.Annotations != nil || meta.OwnerReferences != nil || meta.ManagedFields != nil {
		t.Errorf("kept %+v", kept)
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}}}
	if same, err := nameOnly(secret); same != any(secret) || err != nil || secret.Labels == nil {
		t.Errorf("got %v, %v", same, err)
	}
}

// TestGardenletConfig: what is wrong with a kubeconfig is told without it.
func TestGardenletConfig(t *testing.T) {
	const word, good = "hunter2hunter2", "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{name: c, context: {cluster: c, user: u}}]\nclusters: [{name: c, cluster: {server: 'https://127.0.0.1:6443'}}]\nusers: [{name: u, user: {token: hunter2hunter2}}]\n"
	for _, test := range []struct{ reason, content, name, want string }{
		{"as gardenlet has it", good, "garden/gardenlet", ""},
		{"a Secret that does not exist", good, "garden/other", "read the kubeconfig of gardenlet"},
		{"nothing in it", "", "garden/gardenlet", "the Secret garden/gardenlet has no kubeconfig that can be read"},
		{"something else in it", word, "garden/gardenlet", "the Secret garden/gardenlet has no kubeconfig that can be read"},
		{"a kubeconfig that is not valid", "clusters: " + word, "garden/gardenlet", "the Secret garden/gardenlet has no kubeconfig that can be read"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "gardenlet"}, Data: map[string][]byte{"kubeconfig": []byte(test.content)}}
			config, err := gardenletConfig(t.Context(), fake.NewClientBuilder().WithObjects(secret).Build(), test.name)
			if test.want == "" {
				if err != nil || config.Host != "https://127.0.0.1:6443" {
					t.Errorf("%v, %v", config, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), word) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestSilentGarden: a garden that accepts a request and does not answer blocks no caller for ever.
func TestSilentGarden(t *testing.T) {
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) { <-request.Context().Done() }))
	t.Cleanup(silent.Close)
	config := &rest.Config{Host: silent.URL}
	garden, err := newGarden(config, Scheme(), 50*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err = garden.Client.Get(ctx, client.ObjectKey{Namespace: "garden-lab", Name: "flux-config"}, &corev1.ConfigMap{})
	if err == nil || ctx.Err() != nil {
		t.Errorf("got %v", err)
	}
	if config.Timeout != 0 {
		t.Error("the watch of projects would end")
	}
}
