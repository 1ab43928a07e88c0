package install

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// deployment gives the Deployment of a controller its image, flags and pod settings.
func (r *release) deployment(object *unstructured.Unstructured, o Options) error {
	template, found, err := unstructured.NestedMap(object.Object, "spec", "template")
	if err != nil || !found {
		return errors.Join(errors.New("no spec.template"), err)
	}
	labels, _, err := unstructured.NestedStringMap(template, "metadata", "labels")
	if err != nil || labels == nil {
		return errors.Join(errors.New("no labels in spec.template"), err)
	}
	r.label(labels, o)
	if err := unstructured.SetNestedStringMap(template, labels, "metadata", "labels"); err != nil {
		return err // the caller wraps the error
	}
	pod, ok := template["spec"].(map[string]any)
	if !ok {
		return errors.New("no spec.template.spec")
	}
	if err := container(pod, object.GetName(), o); err != nil {
		return err
	}
	pod["nodeSelector"] = map[string]any{"kubernetes.io/os": "linux"}
	if o.ImagePullSecret != "" {
		pod["imagePullSecrets"] = []any{map[string]any{"name": o.ImagePullSecret}}
	}
	var tolerations []any
	for _, key := range o.TolerationKeys {
		tolerations = append(tolerations, map[string]any{"key": key, "operator": "Exists"})
	}
	if len(tolerations) > 0 {
		pod["tolerations"] = tolerations
	}
	return unstructured.SetNestedMap(object.Object, template, "spec", "template") // the caller wraps the error
}

// container sets image and flags of the only container.
func container(pod map[string]any, component string, o Options) error {
	containers, ok := pod["containers"].([]any)
	if !ok || len(containers) != 1 {
		return fmt.Errorf("%d containers instead of one", len(containers))
	}
	manager, ok := containers[0].(map[string]any)
	if !ok {
		return errors.New("the container is not an object")
	}
	image, ok := manager["image"].(string)
	if !ok {
		return errors.New("the container has no image")
	}
	manager["image"] = o.Registry + "/" + image[strings.LastIndex(image, "/")+1:]
	args, _, err := unstructured.NestedStringSlice(manager, "args")
	if err != nil {
		return err // the caller wraps the error
	}
	return unstructured.SetNestedStringSlice(manager, flags(component, args, o), "args") // the caller wraps the error
}

// flags are the arguments of a controller. An existing flag keeps its position.
func flags(component string, args []string, o Options) []string {
	args = slices.Clone(args)
	set := func(name, value string) {
		flag := "--" + name + "=" + value
		for i, arg := range args {
			if arg == "--"+name || strings.HasPrefix(arg, "--"+name+"=") {
				args[i] = flag
				return
			}
		}
		args = append(args, flag)
	}
	if component != NotificationController {
		set("events-addr", eventsAddress(o))
	}
	set("watch-all-namespaces", strconv.FormatBool(o.WatchAllNamespaces))
	set("log-level", o.LogLevel)
	if component == SourceController || component == sourceWatcher {
		set("storage-adv-addr", component+".$(RUNTIME_NAMESPACE).svc."+o.ClusterDomain+".")
	}
	applies := component == KustomizeController || component == HelmController
	if applies && slices.Contains(o.Components, sourceWatcher) {
		set("feature-gates", "ExternalArtifact=true")
	}
	if o.Multitenant {
		for _, flag := range lockdown(component) {
			set(flag.name, flag.value)
		}
	}
	return args
}

// eventsAddress is where controllers send events; empty without a notification controller.
func eventsAddress(o Options) string {
	if !slices.Contains(o.Components, NotificationController) {
		return ""
	}
	return "http://" + NotificationController + "." + o.Namespace + ".svc." + o.ClusterDomain + "./"
}

type flag struct{ name, value string }

// lockdown are the flags of a controller that separate tenants. Controllers without references to
// other objects have no such flags.
func lockdown(component string) []flag {
	own := flag{"no-cross-namespace-refs", "true"}
	account := flag{"default-service-account", "default"}
	switch component {
	case KustomizeController:
		return []flag{own, {"no-remote-bases", "true"}, account}
	case HelmController:
		return []flag{own, account}
	case NotificationController, "image-reflector-controller", "image-automation-controller":
		return []flag{own}
	}
	return nil
}
