package local

import (
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cluster/login"
)

func newHandler(to io.Writer) slog.Handler { return slog.NewTextHandler(to, nil) }

// fill writes the objects to the resource cluster: what Installations need first, and the Installations
// with a request for their first job.
func (l *Landscape) fill() error {
	objects, err := l.prepared(l.options.Objects)
	if err != nil {
		return err
	}
	for _, object := range objects {
		if err := l.write(object); err != nil {
			return err
		}
	}
	return nil
}

// prepared returns the objects of the folder, and what was made up, in the order in which they are written.
func (l *Landscape) prepared(given []*unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	objects := make([]*unstructured.Unstructured, 0, len(given))
	for _, object := range given {
		objects = append(objects, object.DeepCopy())
	}
	objects = l.addMissing(objects)
	for _, object := range objects {
		if object.GetKind() == "Target" {
			if err := l.nameTarget(object, objects); err != nil {
				return nil, fmt.Errorf("Target %s: %w", object.GetName(), err) //nolint:staticcheck // the name of a kind
			}
		}
	}
	slices.SortStableFunc(objects, func(a, b *unstructured.Unstructured) int { return rank(a) - rank(b) })
	return objects, nil
}

// rank is the order in which objects are written.
func rank(object *unstructured.Unstructured) int {
	switch object.GetKind() {
	case "Namespace":
		return 0
	case "Installation":
		return 2
	}
	return 1
}

// Request asks for a job of an Installation, unless something else is asked for.
func Request(installation *unstructured.Unstructured) {
	annotations := installation.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	if annotations[v1alpha1.OperationAnnotation] == "" {
		annotations[v1alpha1.OperationAnnotation] = string(v1alpha1.ReconcileOperation)
	}
	installation.SetAnnotations(annotations)
}

// addMissing adds the Contexts and Targets that Installations name and that do not exist.
func (l *Landscape) addMissing(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	has := func(kind, namespace, name string) bool {
		return slices.ContainsFunc(objects, func(o *unstructured.Unstructured) bool {
			return o.GetKind() == kind && o.GetNamespace() == namespace && o.GetName() == name
		})
	}
	exported := map[string]bool{}
	var installations []*unstructured.Unstructured
	for _, object := range objects {
		if object.GetKind() == "Installation" {
			installations = append(installations, object)
			for _, name := range targetsOf(object, "exports") {
				exported[object.GetNamespace()+"/"+name] = true
			}
		}
	}
	for _, object := range installations {
		namespace := object.GetNamespace()
		context, _, _ := unstructured.NestedString(object.Object, "spec", "context")
		if context != "" && context != v1alpha1.DefaultContextName && !has("Context", namespace, context) {
			objects = append(objects, newObject("Context", namespace, context))
			l.note(fmt.Sprintf("Context %s is not in the folder: it is empty", context))
		}
		for _, name := range targetsOf(object, "imports") {
			if !has("Target", namespace, name) && !exported[namespace+"/"+name] {
				target := newObject("Target", namespace, name)
				target.Object["spec"] = map[string]any{"type": string(v1alpha1.KubernetesClusterTargetType)}
				objects = append(objects, target)
				l.note(fmt.Sprintf("Target %s is not in the folder: it leads to a cluster in memory", name))
			}
		}
	}
	return objects
}

// note notes something that was made up; once.
func (l *Landscape) note(text string) {
	if !slices.Contains(l.Notes, text) {
		l.Notes = append(l.Notes, text)
	}
}

func newObject(kind, namespace, name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": v1alpha1.GroupVersion.String(), "kind": kind, "metadata": map[string]any{"namespace": namespace, "name": name},
	}}
}

// targetsOf returns the names of the Targets that an Installation imports or exports.
func targetsOf(installation *unstructured.Unstructured, direction string) (names []string) {
	list, _, _ := unstructured.NestedSlice(installation.Object, "spec", direction, "targets")
	add := func(value any) {
		if name, isText := value.(string); isText && name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, item := range list {
		fields, _ := item.(map[string]any)
		add(fields["target"])
		several, _ := fields["targets"].([]any)
		for _, name := range several {
			add(name)
		}
		byKey, _ := fields["targetMap"].(map[string]any)
		for _, name := range byKey {
			add(name)
		}
	}
	return names
}

// nameTarget notes which address the cluster of a Target has. A Target without a kubeconfig that could be
// used gets one.
func (l *Landscape) nameTarget(target *unstructured.Unstructured, objects []*unstructured.Unstructured) error {
	kind, _, _ := unstructured.NestedString(target.Object, "spec", "type")
	if kind != string(v1alpha1.KubernetesClusterTargetType) {
		return nil
	}
	host := serverOf(kubeconfigOf(target, objects))
	if host == "" {
		host = fmt.Sprintf("%s.%s.target.invalid", target.GetName(), target.GetNamespace())
		unstructured.RemoveNestedField(target.Object, "spec", "secretRef")
		if err := unstructured.SetNestedField(target.Object, newKubeconfig(host), "spec", "config", "kubeconfig"); err != nil {
			return fmt.Errorf("spec.config is not a map: %w", err)
		}
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.names[host] == "" {
		l.names[host] = target.GetName()
	}
	return nil
}

// kubeconfigOf returns the kubeconfig of a Target, which may be in a Secret; empty without one.
func kubeconfigOf(target *unstructured.Unstructured, objects []*unstructured.Unstructured) string {
	text, _, _ := unstructured.NestedString(target.Object, "spec", "config", "kubeconfig")
	name, _, _ := unstructured.NestedString(target.Object, "spec", "secretRef", "name")
	key, _, _ := unstructured.NestedString(target.Object, "spec", "secretRef", "key")
	if text != "" || name == "" {
		return text
	}
	if key == "" {
		key = "kubeconfig"
	}
	for _, object := range objects {
		if object.GetKind() != "Secret" || object.GetName() != name || object.GetNamespace() != target.GetNamespace() {
			continue
		}
		if plain, found, _ := unstructured.NestedString(object.Object, "stringData", key); found {
			return plain
		}
		encoded, _, _ := unstructured.NestedString(object.Object, "data", key)
		decoded, _ := base64.StdEncoding.DecodeString(encoded)
		return string(decoded)
	}
	return ""
}

// serverOf returns the host of the API server that a kubeconfig leads to; empty if it could not be used.
func serverOf(kubeconfig string) string {
	if kubeconfig == "" {
		return ""
	}
	read, err := login.ReadKubeconfig([]byte(kubeconfig))
	if err != nil {
		return ""
	}
	address, err := url.Parse(read.Server())
	if err != nil || address.Scheme != "https" {
		return ""
	}
	return address.Host
}

func newKubeconfig(host string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: memory
contexts: [{name: memory, context: {cluster: memory, user: memory}}]
clusters: [{name: memory, cluster: {server: "https://%s"}}]
users: [{name: memory, user: {token: none}}]
`, host)
}
