package published

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/test/lab"
)

// TestByFlux installs the release by the example for Flux. The controllers are those of Flux, with its
// manifests: the lab runs source-controller for its Deployment, and the test runs helm-controller with
// the rights of its ServiceAccount. A chart that another key has signed is not installed.
func TestByFlux(t *testing.T) {
	before := objects(t)
	flux := installFlux(t)
	example := fluxExample(t)
	kubectl(t, "create", "namespace", space)
	trust(t, strangersKey(t))
	kubectl(t, "apply", "--server-side", "-f", example)
	kubectl(t, "wait", "ocirepository/landscaper", "-n", space, "--for=condition=SourceVerified=false", "--timeout", waitLimit.String())
	if made := kubectl(t, "get", "deployments,jobs", "-n", space, "-o", "name"); made != "" {
		t.Errorf("a chart of a stranger was installed:\n%s", made)
	}

	genuine, err := os.ReadFile(filepath.Join(dist, "cosign.pub"))
	if err != nil {
		t.Fatal(err)
	}
	trust(t, genuine)
	kubectl(t, "annotate", "ocirepository/landscaper", "-n", space, "reconcile.fluxcd.io/requestedAt=now")
	for _, condition := range []string{"Released", "TestSuccess", "Ready"} {
		kubectl(t, "wait", "helmrelease/landscaper", "-n", space, "--for=condition="+condition, "--timeout", waitLimit.String())
	}
	wantImage(t, "landscaper", 2)
	removeFirst(t, deployFirst(t, "default"))

	kubectl(t, "delete", "helmrelease/landscaper", "-n", space)
	kubectl(t, "delete", "ocirepository/landscaper", "secret/landscaper-cosign", "-n", space)
	flux.remove(t)
	wantLeft(t, before, afterUninstall)
	removeAll(t, before)
}

// fluxExample is the example of the docs, with the registry of this test, which has no TLS, and its
// version.
func fluxExample(t *testing.T) string {
	t.Helper()
	root, err := lab.Root()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "examples", "install", "flux.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	changed := string(text)
	for _, change := range []struct{ from, to string }{
		{"oci://registry.example.org/landscaper/", "oci://" + registry + "/"},
		{"  verify:\n", "  insecure: true\n  verify:\n"},
		{`semver: ">=0.1.0 <0.2.0"`, `tag: ` + bare},
		{"  values:\n", "  values:\n    egress: {allowLoopback: true}\n"},
	} {
		if strings.Count(changed, change.from) != 1 {
			t.Fatalf("the example does not have %q once", change.from)
		}
		changed = strings.Replace(changed, change.from, change.to, 1)
	}
	file := filepath.Join(t.TempDir(), "flux.yaml")
	if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// trust lets the example trust a public key.
func trust(t *testing.T, key []byte) {
	t.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "landscaper-cosign"}, Data: map[string][]byte{"cosign.pub": key}}
	if err := client.IgnoreNotFound(admin.Delete(t.Context(), secret.DeepCopy())); err != nil {
		t.Fatal(err)
	}
	if err := admin.Create(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
}

// fluxSystem is the namespace of Flux.
const fluxSystem = "flux-system"

// flux is Flux in the cluster.
type flux struct {
	manifests []string
	process   *exec.Cmd
}

// installFlux installs Flux with the manifests that the extension shoot-flux has.
func installFlux(t *testing.T) *flux {
	t.Helper()
	root, err := lab.Root()
	if err != nil {
		t.Fatal(err)
	}
	installed := &flux{}
	for _, name := range []string{"rbac", "source-controller", "helm-controller"} {
		found, err := filepath.Glob(filepath.Join(root, "internal", "controller", "shootflux", "install", "flux", "*", name+".yaml"))
		if err != nil || len(found) != 1 {
			t.Fatalf("the manifests of %s: %v, %v", name, found, err)
		}
		installed.manifests = append(installed.manifests, found[0])
	}
	kubectl(t, "create", "namespace", fluxSystem)
	for _, file := range installed.manifests {
		kubectl(t, "apply", "--server-side", "-n", fluxSystem, "-f", file)
	}
	kubectl(t, "scale", "deployment/helm-controller", "-n", fluxSystem, "--replicas", "0") // the process takes its place
	kubectl(t, "rollout", "status", "deployment/source-controller", "-n", fluxSystem, "--timeout", waitLimit.String())
	installed.run(t)
	return installed
}

// run runs helm-controller until the test ends.
func (f *flux) run(t *testing.T) {
	t.Helper()
	program, err := lab.Program()
	if err != nil {
		t.Fatal(err)
	}
	where, err := exec.CommandContext(t.Context(), program, "build", "helm-controller").Output()
	if err != nil {
		t.Fatalf("build helm-controller: %v", err)
	}
	f.process = exec.CommandContext(t.Context(), strings.TrimSpace(string(where)), "--watch-all-namespaces", "--metrics-addr=0", "--health-addr=0")
	f.process.Env = append(os.Environ(), "RUNTIME_NAMESPACE="+fluxSystem, "KUBECONFIG="+accessOf(t, fluxSystem, "helm-controller"))
	log := &bytes.Buffer{}
	f.process.Stdout, f.process.Stderr = log, log
	if err := f.process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		f.stop()
		if t.Failed() {
			t.Logf("helm-controller:\n%s", log)
		}
	})
}

// stop ends helm-controller.
func (f *flux) stop() {
	if f.process.ProcessState == nil {
		_ = f.process.Process.Kill() // it has ended
		_ = f.process.Wait()         // it was killed
	}
}

// remove removes Flux.
func (f *flux) remove(t *testing.T) {
	t.Helper()
	f.stop()
	for _, file := range f.manifests {
		kubectl(t, "delete", "-n", fluxSystem, "-f", file)
	}
	kubectl(t, "delete", "namespace", fluxSystem)
}

// accessOf is a kubeconfig with a token of a ServiceAccount.
func accessOf(t *testing.T, namespace, name string) string {
	t.Helper()
	config, err := clientcmd.LoadFromFile(cluster.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	request := &authenticationv1.TokenRequest{}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	if err := admin.SubResource("token").Create(t.Context(), account, request); err != nil {
		t.Fatal(err)
	}
	user := config.Contexts[config.CurrentContext].AuthInfo
	config.AuthInfos = map[string]*clientcmdapi.AuthInfo{user: {Token: request.Status.Token}}
	file := filepath.Join(t.TempDir(), name+".kubeconfig")
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		t.Fatal(err)
	}
	return file
}

// strangersKey is the public key of a stranger.
func strangersKey(t *testing.T) []byte {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(private.Public())
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}
