package published

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/lab"
)

// ofNamespaces says whether an object is a namespace, or what each namespace has.
func ofNamespaces(object string) bool {
	return strings.HasPrefix(object, "namespaces /") || strings.HasSuffix(object, "/kube-root-ca.crt") || strings.HasPrefix(object, "serviceaccounts ") && strings.HasSuffix(object, "/default")
}

// nothing stays.
func nothing(string) bool { return false }

// byProgram says whether the program has made the object for itself, which docs/release.md says stays.
func byProgram(object string) bool {
	return object == "secrets "+space+"/landscaper-plan-key" || object == "leases "+space+"/landscaper.landscaper.gardener.cloud"
}

// afterUninstall says whether docs/release.md says of an object that it stays after "helm uninstall".
func afterUninstall(object string) bool {
	for _, is := range []bool{
		ofNamespaces(object), byProgram(object), strings.HasPrefix(object, "contexts "), strings.HasPrefix(object, "apiservices "),
		strings.HasPrefix(object, "customresourcedefinitions /"), strings.HasPrefix(object, "validatingadmissionpolic"),
	} {
		if is {
			return true
		}
	}
	return false
}

// removeAll does what docs/release.md says about definitions, policies and the namespace.
func removeAll(t *testing.T, before []string) {
	t.Helper()
	kubectl(t, "get", "crd", "installations.landscaper.gardener.cloud") // an uninstallation leaves it
	kubectl(t, "delete", "-f", filepath.Join(dist, "landscaper-crds.yaml"))
	kubectl(t, "delete", "validatingadmissionpolicies,validatingadmissionpolicybindings", "-l", "landscaper.gardener.cloud/component=admission")
	kubectl(t, "delete", "namespace", space)
	wantLeft(t, before, nothing)
	if kinds := kubectl(t, "get", "crd", "-o", "name"); strings.Contains(kinds, "landscaper.gardener.cloud") {
		t.Errorf("left:\n%s", kinds)
	}
}

// loopback are the values without which the program refuses the addresses of the lab.
var loopback = map[string]any{"allowLoopback": true}

// TestConfined installs the chart for one namespace.
func TestConfined(t *testing.T) {
	if err := admin.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team-a"}}); err != nil {
		t.Fatal(err)
	}
	before := objects(t)
	helm := newHelm(t)
	helm.install(t, map[string]any{"namespaces": []any{"team-a"}, "egress": loopback})
	helm.test(t)
	removeFirst(t, deployFirst(t, "team-a"))
	helm.uninstall(t)
	wantLeft(t, before, afterUninstall)
}

// TestChart installs the chart from the registry for the whole cluster, with two replicas, and
// removes everything. The tests before leave the definitions: the cluster looks for new kinds every
// 30 seconds alone, and deletes until then nothing of them that has lost its owner.
func TestChart(t *testing.T) {
	before := objects(t)
	helm := newHelm(t)
	helm.install(t, map[string]any{"replicas": 2, "egress": loopback})
	wantImage(t, "landscaper", 2)
	wantProcesses(t, 2)
	helm.test(t)
	removeFirst(t, deployFirst(t, "default"))
	helm.uninstall(t)
	wantLeft(t, before, afterUninstall)
	removeAll(t, before)
}

// wantImage: all pods are ready and run the image of the release.
func wantImage(t *testing.T, name string, replicas int32) {
	t.Helper()
	var deployments appsv1.DeploymentList
	if err := admin.List(t.Context(), &deployments); err != nil {
		t.Fatal(err)
	}
	for _, deployment := range deployments.Items {
		if deployment.Name != name {
			continue
		}
		if deployment.Status.ReadyReplicas != replicas {
			t.Errorf("%d replicas are ready\n%s", deployment.Status.ReadyReplicas, pods(t))
		}
		if image := deployment.Spec.Template.Spec.Containers[0].Image; !strings.HasPrefix(image, registry+"/landscaper@sha256:") && image != registry+"/landscaper:"+release {
			t.Errorf("the image is %s", image)
		}
		return
	}
	t.Errorf("there is no Deployment %s", name)
}

// TestManifests installs the files of the release without Helm.
func TestManifests(t *testing.T) {
	before := objects(t)
	text, err := os.ReadFile(filepath.Join(dist, "landscaper.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	const config = "  config.yaml: |\n"
	if strings.Count(string(text), config) != 1 {
		t.Fatalf("the configuration is not found in:\n%.3000s", text)
	}
	file := filepath.Join(t.TempDir(), "landscaper.yaml")
	if err := os.WriteFile(file, []byte(strings.Replace(string(text), config, config+"    egress: {allowLoopback: true}\n", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	kubectl(t, "apply", "--server-side", "-f", filepath.Join(dist, "landscaper-crds.yaml"))
	kubectl(t, "apply", "-f", file)
	kubectl(t, "rollout", "status", "-n", space, "deployment/landscaper", "--timeout", waitLimit.String())
	wantImage(t, "landscaper", 1)
	removeFirst(t, deployFirst(t, "default"))
	kubectl(t, "delete", "-f", file)
	kubectl(t, "delete", "-f", filepath.Join(dist, "landscaper-crds.yaml"))
	wantLeft(t, before, nothing)
}

// TestQuickstart goes the way of the README, with the command line of the release, which names the
// image of the release by itself.
func TestQuickstart(t *testing.T) {
	quickstart(t, unpacked(t, "landscaper-cli"), "egress: {allowLoopback: true}\n")
}

// TestQuickstartOfACommit goes the way that the README describes for those without a release: a command
// line of a commit, which knows no image, with that of "make release" in the values.
func TestQuickstartOfACommit(t *testing.T) {
	root, err := lab.Root()
	if err != nil {
		t.Fatal(err)
	}
	cli := filepath.Join(root, "bin", "landscaper-cli")
	if _, err := os.Stat(cli); err != nil {
		t.Fatalf("%v: run make test-published", err)
	}
	quickstart(t, cli, "egress: {allowLoopback: true}\nimage: {repository: "+registry+"/landscaper, tag: "+release+"}\n")
}

// quickstart installs with a command line, deploys the first Installation as the README does, and
// removes all of it.
func quickstart(t *testing.T, cli, text string) {
	t.Helper()
	before := objects(t)
	values := filepath.Join(t.TempDir(), "values.yaml")
	if err := os.WriteFile(values, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	execute(t, cli, "quickstart", "install", "--landscaper-values", values, "--wait", "--timeout", waitLimit.String())
	wantImage(t, "landscaper", 1)
	execute(t, cli, "targets", "create", "kubernetes-cluster", "--name", "first-cluster", "-n", "default", "--target-kubeconfig", cluster.Kubeconfig, "--apply")
	kubectl(t, "apply", "-n", "default", "-f", firstFile(t))
	execute(t, cli, "wait", "first", "-n", "default")
	if tree := execute(t, cli, "inspect", "first", "-n", "default"); !strings.Contains(tree, "Succeeded] Installation first") {
		t.Errorf("it shows\n%s", tree)
	}
	removeFirst(t, &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "first"}})
	execute(t, cli, "quickstart", "uninstall", "--delete-crd", "--delete-namespace", "--wait", "--yes")
	wantLeft(t, before, nothing)
}

// TestVersion: each program says which release it is.
func TestVersion(t *testing.T) {
	for _, name := range []string{"landscaper", "landscaper-cli", "gardener-extension-shoot-flux"} {
		if got := execute(t, unpacked(t, name), "--version"); got != name+" version "+release+"\n" {
			t.Errorf("%s says %q", name, got)
		}
	}
}

// unpacked returns a program of the release, from its archive.
func unpacked(t *testing.T, name string) string {
	t.Helper()
	return unpackedOf(t, filepath.Join(dist, name+"_"+release+"_linux_amd64.tar.gz"), name)
}

func unpackedOf(t *testing.T, file, name string) string {
	t.Helper()
	archive, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close() //nolint:errcheck // nothing is written
	plain, err := gzip.NewReader(archive)
	if err != nil {
		t.Fatal(err)
	}
	for reader := tar.NewReader(plain); ; {
		header, err := reader.Next()
		if err != nil {
			t.Fatalf("find the program: %v", err)
		}
		if header.Name != name {
			continue
		}
		file, err := os.OpenFile(filepath.Join(t.TempDir(), header.Name), os.O_CREATE|os.O_WRONLY, 0o700)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.Copy(file, reader)
		if err := errors.Join(err, file.Close()); err != nil {
			t.Fatal(err)
		}
		return file.Name()
	}
}

// TestExchangedImage: where the registry has other content than the digest says, nothing runs.
func TestExchangedImage(t *testing.T) {
	image := imageOf(t)
	_, digest, _ := strings.Cut(image, "@sha256:")
	blob := filepath.Join(started.Directory, "registry", "images", "docker", "registry", "v2", "blobs", "sha256", digest[:2], digest, "data")
	genuine, err := os.ReadFile(blob)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.WriteFile(blob, genuine, 0o600); err != nil {
			t.Error(err)
		}
	})
	if err := os.WriteFile(blob, append(genuine, ' '), 0o600); err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "exchanged"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "program", Image: image, Args: []string{"--version"}}}, RestartPolicy: corev1.RestartPolicyNever},
	}
	if err := admin.Create(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	defer admin.Delete(t.Context(), pod) //nolint:errcheck // the cluster ends with the tests
	watched, err := admin.Watch(t.Context(), &corev1.PodList{}, client.InNamespace(pod.Namespace), client.MatchingFields{"metadata.name": pod.Name})
	if err != nil {
		t.Fatal(err)
	}
	defer watched.Stop()
	for event := range watched.ResultChan() {
		now, ok := event.Object.(*corev1.Pod)
		if !ok {
			t.Fatalf("%+v", event)
		}
		if now.Status.Phase != corev1.PodPending {
			t.Fatalf("the pod is %s: %s", now.Status.Phase, now.Status.Message)
		}
		if strings.Contains(now.Status.Message, "digest") {
			return
		}
	}
}

// imageOf is the image that the manifests of the release name.
func imageOf(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dist, "landscaper.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "image: ")
	if !found {
		t.Fatal("no image is named")
	}
	image, _, _ := strings.Cut(rest, "\n")
	return image
}
