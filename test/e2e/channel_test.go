package e2e

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	fleetv1alpha1 "go.landscaper.dev/api/fleet/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/server/install"
	"go.landscaper.dev/test/lab"
	"go.landscaper.dev/test/landscape"
)

const (
	channelUser  = "landscaper-channels"
	channelGates = "DeliveryPolicies=true,Fleets=true"
	hookSecret   = "0123456789abcdef0123456789abcdef"
)

// channelServer starts a server with Channels, and returns where it takes notifications.
func channelServer(t *testing.T) string {
	t.Helper()
	if err := install.Run(t.Context(), env.Admin, install.Options{Delivery: true, Fleets: true}, io.Discard); err != nil {
		t.Fatal(err)
	}
	rules, err := landscape.WriteRules(t.TempDir(), channelUser, map[string]any{"featureGates": map[string]any{"DeliveryPolicies": true, "Fleets": true}})
	if err != nil {
		t.Fatal(err)
	}
	user, err := env.Resource.AddUser(t.Context(), lab.UserOptions{Name: channelUser, ManifestFile: rules})
	if err != nil {
		t.Fatal(err)
	}
	address, err := landscape.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(t.TempDir(), "config.yaml")
	text := fmt.Sprintf("registry: {oci: {certificateAuthorities: %s}}\negress: {allowLoopback: true}\nchannels: {webhook: {address: %q}}\n", env.Lab.Registry.CAFile, address)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	startServer(t, user.Kubeconfig, "--config", config, "--feature-gates", channelGates)
	return "http://" + address
}

// publishEdition publishes a version of the shop that deploys its number.
func publishEdition(t *testing.T, path, version string) {
	t.Helper()
	files := changed(shop, "constructor.yaml", "- name: example.org/shop\n  version: 1.0.0", "- name: example.org/shop\n  version: "+version)
	publishFiles(t, path, changed(files, "blueprint/deploy.yaml", "          url:", "          edition: \""+version+"\"\n          url:"))
}

// announce sends a notification for a Channel with the HMAC of a secret, and returns the status of the
// answer.
func announce(t *testing.T, address, space, secret string) int {
	t.Helper()
	const body = `{"news":"there is a version"}`
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address+"/channels/"+space+"/stable", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	sum := hmac.New(sha256.New, []byte(secret))
	_, _ = sum.Write([]byte(body)) // it never fails
	request.Header.Set("X-Signature-256", "sha256="+hex.EncodeToString(sum.Sum(nil)))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close() // nothing is read
	return response.StatusCode
}

func wantEdition(t *testing.T, space, want string) {
	t.Helper()
	found := &corev1.ConfigMap{}
	if err := env.Workload.Get(t.Context(), client.ObjectKey{Namespace: space, Name: "shop"}, found); err != nil || found.Data["edition"] != want {
		t.Errorf("edition %q, want %q: %v", found.Data["edition"], want, err)
	}
}

// TestChannel: an Installation follows a Channel to each new version, after an approval where a policy
// demands one, and goes nowhere when a user has gone back.
func TestChannel(t *testing.T) {
	const path = "/channel"
	publishEdition(t, path, "1.0.0")
	address := channelServer(t)
	space := namespace(t)
	shopImports(t, space, 3)
	createAll(t,
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "pull"}, Type: corev1.SecretTypeDockerConfigJson, Data: map[string][]byte{corev1.DockerConfigJsonKey: dockerConfig(env.Lab.Registry.Password)}},
		// A plan reads them with the rights of the chart, as a job does.
		&v1alpha1.ComponentVersionOverwrites{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "mirrored"}, Overwrites: v1alpha1.ComponentVersionOverwriteList{}},
		&v1alpha1.Context{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "vendor"}, ContextConfiguration: v1alpha1.ContextConfiguration{
			ComponentVersionOverwritesReference: "mirrored",
			RepositoryContext:                   repositoryContext(t, env.Lab.Registry.Address+path), RegistryPullSecrets: []v1alpha1.LocalPullSecret{{Name: "pull"}},
		}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "hook"}, Data: map[string][]byte{"token": []byte(hookSecret)}},
		&fleetv1alpha1.Channel{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "stable"}, Spec: fleetv1alpha1.ChannelSpec{
			Component: "example.org/shop", Context: "vendor", Versions: "1.x", Interval: "168h",
			Webhook: &fleetv1alpha1.ChannelWebhook{SecretRef: fleetv1alpha1.WebhookSecret{Name: "hook"}},
		}},
	)
	inst := shopInstallation(space, "1.0.0")
	inst.Annotations[fleetv1alpha1.ChannelAnnotation] = "stable"
	inst = waitSucceeded(t, create(t, inst))
	wantEdition(t, space, "1.0.0")

	t.Run("a notification brings the next version within seconds, not in a week", func(t *testing.T) {
		publishEdition(t, path, "1.1.0")
		if status := announce(t, address, space, "another secret of any length"); status != http.StatusUnauthorized {
			t.Errorf("a notification with another secret: %d", status)
		}
		if status := announce(t, address, space, hookSecret); status != http.StatusAccepted {
			t.Fatalf("%d", status)
		}
		inst = waitDone(t, inst, inst.Status.JobID)
		if inst.Spec.ComponentDescriptor.Reference.Version != "1.1.0" || inst.Status.InstallationPhase != v1alpha1.InstallationPhases.Succeeded || inst.Annotations[fleetv1alpha1.FollowedAnnotation] != "1.1.0" {
			t.Errorf("%+v, %s", inst.Spec.ComponentDescriptor.Reference, inst.Status.InstallationPhase)
		}
		wantEdition(t, space, "1.1.0")
		if said := eventsOf(t, inst, "VersionFollowed"); len(said) != 1 || said[0] != "Channel stable has 1.1.0 after 1.0.0: a job was requested" {
			t.Errorf("%q", said)
		}
	})
	t.Run("a policy lets the next version wait for an approval", func(t *testing.T) {
		policy(t, space, "production", approvalBy(deliveryv1alpha1.ApprovalRule{When: "Always"}))
		publishEdition(t, path, "1.2.0")
		if code, out, said := cli(t, "channels", "poll", "stable", "-n", space); code != 0 {
			t.Fatalf("code %d, %q, %q", code, out, said)
		}
		plan := waitPlan(t, inst, "")
		wantEdition(t, space, "1.1.0")
		if code, _, said := cli(t, "plans", "approve", "shop", "--digest", plan.Spec.Digest, "-n", space); code != 0 {
			t.Fatalf("code %d, %q", code, said)
		}
		inst = waitDone(t, inst, inst.Status.JobID)
		wantEdition(t, space, "1.2.0")
	})
	t.Run("who goes back stays there", func(t *testing.T) {
		changed := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"componentDescriptor":{"ref":{"version":"1.1.0"}}}}`))
		if err := env.Admin.Patch(t.Context(), inst.DeepCopy(), changed); err != nil {
			t.Fatal(err)
		}
		waitEvent(t, inst, "NotFollowed", "it had 1.2.0 before, and has gone back to 1.1.0")
		if now := getInstallation(t, inst); now.Spec.ComponentDescriptor.Reference.Version != "1.1.0" {
			t.Errorf("%+v", now.Spec.ComponentDescriptor.Reference)
		}
	})
	t.Run("the command line shows it", func(t *testing.T) {
		for want, args := range map[string][]string{
			"stable  example.org/shop  1.x       1.2.0    1          VersionFound": {"channels", "list"},
			"1.2.0    sha256:": {"channels", "show", "stable"},
		} {
			if code, out, said := cli(t, append(args, "-n", space)...); code != 0 || !strings.Contains(out, want) {
				t.Errorf("%v: code %d, %q, %q", args, code, out, said)
			}
		}
	})
	t.Run("an Installation without a Channel costs what it costs without the feature", func(t *testing.T) {
		space := namespace(t)
		waitForContext(t, space)
		count, err := landscape.StartCount(t.Context(), landscape.Caller{Cluster: env.Resource, User: channelUser}, landscape.Caller{Cluster: env.Target, User: "landscaper-deployer"})
		if err != nil {
			t.Fatal(err)
		}
		waitSucceeded(t, create(t, newInstallation(space, "smallest", oneConfigMap)))
		list, err := count.Requests(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		check(t, landscape.Smallest, slices.DeleteFunc(list, func(r landscape.Request) bool { return r.Namespace != space }))
	})
}

// waitEvent waits for an event about an Installation.
func waitEvent(t *testing.T, inst *v1alpha1.Installation, reason, text string) {
	t.Helper()
	events, err := env.Admin.Watch(t.Context(), &eventsv1.EventList{}, client.InNamespace(inst.Namespace))
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	limit := time.After(waitLimit)
	for {
		if slices.ContainsFunc(eventsOf(t, inst, reason), func(said string) bool { return strings.Contains(said, text) }) {
			return
		}
		select {
		case <-events.ResultChan():
		case <-limit:
			t.Fatalf("no event %s says %q: %q", reason, text, eventsOf(t, inst, reason))
		}
	}
}
