package published

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/lab"
	"go.landscaper.dev/test/landscape"
	"go.landscaper.dev/test/showcase"
)

// pods describes all pods of the program, with the end of what they have written.
func pods(t *testing.T) string {
	t.Helper()
	var all corev1.PodList
	if err := admin.List(context.Background(), &all, client.InNamespace(space)); err != nil {
		return err.Error()
	}
	var out strings.Builder
	for _, pod := range all.Items {
		log, err := started.Logs(context.Background(), "cluster/"+pod.Name)
		if err != nil {
			log = err.Error()
		}
		fmt.Fprintf(&out, "pod %s: %s %s\n%s\n", pod.Name, pod.Status.Phase, pod.Status.Message, log[max(0, len(log)-2000):])
	}
	return out.String()
}

// kubectl runs the client that users have.
func kubectl(t *testing.T, args ...string) string {
	t.Helper()
	program, err := showcase.Client("kubectl")
	if err != nil {
		t.Fatal(err)
	}
	return execute(t, program, args...)
}

func execute(t *testing.T, program string, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), program, args...)
	command.Env = append(os.Environ(), "KUBECONFIG="+cluster.Kubeconfig)
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s\n%s", filepath.Base(program), strings.Join(args, " "), err, output, pods(t))
	}
	return string(output)
}

// unimportant are kinds whose objects the cluster makes and deletes by itself.
var unimportant = []string{"events", "endpoints", "endpointslices", "componentstatuses", "controllerrevisions"}

// objects are all objects of the cluster, as "resource namespace/name".
func objects(t *testing.T) []string {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", cluster.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	discovered, err := discovery.NewDiscoveryClientForConfigOrDie(config).ServerPreferredResources()
	if err != nil {
		t.Fatal(err)
	}
	reader, err := metadata.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, list := range discovered {
		for _, resource := range list.APIResources {
			if !slices.Contains(resource.Verbs, "list") || slices.Contains(unimportant, resource.Name) {
				continue
			}
			version, err := schema.ParseGroupVersion(list.GroupVersion)
			if err != nil {
				t.Fatal(err)
			}
			objects, err := reader.Resource(version.WithResource(resource.Name)).List(t.Context(), metav1.ListOptions{})
			if apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, object := range objects.Items {
				if !strings.HasPrefix(object.Namespace, "kube-") {
					found = append(found, fmt.Sprintf("%s %s/%s", resource.Name, object.Namespace, object.Name))
				}
			}
		}
	}
	return found
}

// wantLeft waits until the objects that have come since then are those that are said to stay. What has
// lost its owner is deleted by the cluster, some time later.
func wantLeft(t *testing.T, before []string, stay func(object string) bool) {
	t.Helper()
	var found []string
	err := wait.PollUntilContextTimeout(t.Context(), 200*time.Millisecond, waitLimit, true, func(context.Context) (bool, error) {
		found = nil
		for _, object := range objects(t) {
			if !slices.Contains(before, object) && !stay(object) {
				found = append(found, object)
			}
		}
		return len(found) == 0, nil
	})
	if err != nil {
		t.Errorf("left:\n%s", strings.Join(found, "\n"))
	}
}

// deployFirst deploys the first Installation of the docs in a namespace, by the program that runs.
func deployFirst(t *testing.T, namespace string) *v1alpha1.Installation {
	t.Helper()
	target, err := landscape.Target(namespace, "first-cluster", kubeconfig(t))
	if err == nil {
		err = admin.Create(t.Context(), target)
	}
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(firstFile(t))
	if err != nil {
		t.Fatal(err)
	}
	installation := &v1alpha1.Installation{}
	if err := yaml.Unmarshal(text, installation); err != nil {
		t.Fatal(err)
	}
	installation.Namespace = namespace
	if err := admin.Create(t.Context(), installation); err != nil {
		t.Fatal(err)
	}
	succeed(t, []*v1alpha1.Installation{installation})
	deployed := &corev1.ConfigMap{}
	if err := admin.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "signature"}, deployed); err != nil {
		t.Error(err)
	}
	return installation
}

// kubeconfig is the access to the cluster, for Targets.
func kubeconfig(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(cluster.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// firstFile is the first Installation of the docs.
func firstFile(t *testing.T) string {
	t.Helper()
	root, err := lab.Root()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(root, "examples", "first-installation", "installation.yaml")
}

// removeFirst deletes the Installation and its Target, and waits until the program has removed all.
func removeFirst(t *testing.T, installation *v1alpha1.Installation) {
	t.Helper()
	if err := admin.Delete(t.Context(), installation); err != nil {
		t.Fatal(err)
	}
	await(t, installation, "deleted", func(now *v1alpha1.Installation) bool { return now == nil })
	target := &v1alpha1.Target{ObjectMeta: metav1.ObjectMeta{Namespace: installation.Namespace, Name: "first-cluster"}}
	if err := admin.Delete(t.Context(), target); err != nil {
		t.Error(err)
	}
}

// await watches an Installation until a condition holds; nil is one that does not exist.
func await(t *testing.T, installation *v1alpha1.Installation, what string, condition func(*v1alpha1.Installation) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	key := client.ObjectKeyFromObject(installation)
	for ctx.Err() == nil {
		events, err := admin.Watch(ctx, &v1alpha1.InstallationList{}, client.InNamespace(key.Namespace), client.MatchingFields{"metadata.name": key.Name})
		if err != nil {
			t.Fatal(err)
		}
		var now *v1alpha1.Installation
		if err := admin.Get(ctx, key, installation); err == nil {
			now = installation
		} else if !apierrors.IsNotFound(err) {
			t.Fatal(err)
		}
		for !condition(now) {
			event, open := <-events.ResultChan()
			if !open {
				break
			}
			if changed, ok := event.Object.(*v1alpha1.Installation); ok {
				changed.DeepCopyInto(installation)
				now = installation
			}
			if event.Type == "DELETED" {
				now = nil
			}
		}
		events.Stop()
		if condition(now) {
			return
		}
	}
	t.Fatalf("%s is not %s: %+v\n%s", key, what, installation.Status, pods(t))
}
