package exactness

import (
	"strings"

	"go.landscaper.dev/test/landscape"
)

// show is how a value of an object is written.
type show func(object *Object, key, value string) string

// inBlueprint writes imports as a template of a blueprint.
func inBlueprint(_ *Object, _, value string) string {
	if name, isImport := strings.CutPrefix(value, "@"); isImport {
		return "{{ .imports." + name + " }}"
	}
	return value
}

// inChart refers to the values of a chart.
func inChart(object *Object, key, _ string) string {
	return "{{ .Values." + valueName(object, key) + " }}"
}

func valueName(object *Object, key string) string {
	return strings.NewReplacer("-", "", ".", "").Replace(object.Name) + key
}

func (o *Object) apiVersion() string {
	switch o.Kind {
	case "Role", "ClusterRole":
		return "rbac.authorization.k8s.io/v1"
	case "CronJob":
		return "batch/v1"
	case "NetworkPolicy":
		return "networking.k8s.io/v1"
	}
	return "v1"
}

func (o *Object) manifest(space string, show show) map[string]any {
	values := map[string]any{}
	for key, value := range o.Values {
		values[key] = show(o, key, value)
	}
	metadata, annotations := map[string]any{"name": o.Name}, map[string]any{}
	if namespace := o.namespace(space); namespace != "" {
		metadata["namespace"] = namespace
	}
	object := map[string]any{"apiVersion": o.apiVersion(), "kind": o.Kind, "metadata": metadata}
	switch o.Kind {
	case "ConfigMap":
		object["data"] = values
	case "Secret":
		object["stringData"] = values
	default:
		for key, value := range values {
			annotations["example.org/"+key] = value
		}
		o.rest(object)
	}
	if o.Immutable {
		object["immutable"] = true
	}
	if o.Stays {
		annotations["helm.sh/resource-policy"] = "keep"
	}
	if o.Hook != "" {
		annotations["helm.sh/hook"] = o.Hook
	}
	if len(annotations) > 0 {
		metadata["annotations"] = annotations
	}
	return object
}

// rest is what objects without data consist of, with much that an API server fills in.
func (o *Object) rest(object map[string]any) {
	switch o.Kind {
	case "Service":
		object["spec"] = map[string]any{"ports": []any{map[string]any{"port": 80}}, "selector": map[string]any{"app": o.Name}}
	case "Role", "ClusterRole":
		object["rules"] = []any{map[string]any{"apiGroups": []any{""}, "resources": []any{"configmaps"}, "verbs": []any{"get"}}}
	case "CronJob":
		container := map[string]any{"name": "a", "image": "example.org/a:1"}
		pod := map[string]any{"containers": []any{container}, "restartPolicy": "Never"}
		object["spec"] = map[string]any{"schedule": "0 0 1 1 *", "suspend": true, "jobTemplate": map[string]any{
			"spec": map[string]any{"template": map[string]any{"spec": pod}},
		}}
	case "NetworkPolicy":
		object["spec"] = map[string]any{"podSelector": map[string]any{}}
	}
}

// chart packs the objects of an item as a chart.
func (i *Item) chart(space string) string {
	files := map[string]string{}
	for _, object := range i.Objects {
		files["templates/"+object.Name+".yaml"] = encoded(object.manifest(space, inChart))
	}
	archive, err := landscape.Chart("made", "1.0.0", "", files)
	if err != nil {
		panic(err) // it is packed in memory
	}
	return archive
}
