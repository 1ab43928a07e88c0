package cases

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/internal/base/expression"
	"go.landscaper.dev/internal/local"
)

// snapshots guards the files with snapshots: cases run at the same time.
var snapshots sync.Mutex

// compare returns what is not as expected.
func (e *Expect) compare(landscape *local.Landscape) []string {
	result := landscape.Result()
	failures := e.comparePhases(landscape, result)
	for _, name := range slices.Sorted(maps.Keys(e.Exports)) {
		failures = append(failures, compareExport(name, e.Exports[name], result.Exports)...)
	}
	for i, wanted := range e.Objects {
		failures = append(failures, wanted.compare(fmt.Sprintf("objects[%d]", i), landscape)...)
	}
	return append(failures, e.compareOrder(landscape)...)
}

// comparePhases compares phases and errors.
func (e *Expect) comparePhases(landscape *local.Landscape, result local.Result) (failures []string) {
	wanted := e.Phase
	if wanted == "" && len(e.Phases) == 0 && e.Waits == "" {
		wanted = "Succeeded"
	}
	for _, root := range landscape.Roots() {
		if wanted != "" && root.Phase != wanted {
			failures = append(failures, fmt.Sprintf("Installation %s: want phase %s, have %s %s", root.Name, wanted, root.Phase, root.Message))
		}
	}
	all := landscape.Phases()
	for _, name := range slices.Sorted(maps.Keys(e.Phases)) {
		if have, exists := all[name]; !exists {
			failures = append(failures, fmt.Sprintf("there is no Installation %s: there are %s", name, strings.Join(slices.Sorted(maps.Keys(all)), ", ")))
		} else if have != e.Phases[name] {
			failures = append(failures, fmt.Sprintf("Installation %s: want phase %s, have %s", name, e.Phases[name], have))
		}
	}
	if e.Error == "" {
		return failures
	}
	var messages []string
	for _, inst := range result.Installations {
		if local.Says(inst.Message, e.Error) {
			return failures
		}
		if inst.Message != "" {
			messages = append(messages, inst.Message)
		}
	}
	return append(failures, fmt.Sprintf("no error has %q: there are %q", e.Error, messages))
}

func compareExport(name string, wanted any, exports []local.Export) []string {
	var names []string
	for _, export := range exports {
		if export.Name == name || export.Name == objectName(name) {
			return whole("exports."+name, wanted, export.Value)
		}
		names = append(names, export.Name)
	}
	return []string{fmt.Sprintf("there is no export %s: there are %s", name, strings.Join(names, ", "))}
}

// compareOrder compares the order of creation: what is in between does not count.
func (e *Expect) compareOrder(landscape *local.Landscape) []string {
	created := landscape.Created()
	at := 0
	for _, wanted := range e.Order {
		found := slices.Index(created[at:], wanted)
		if found < 0 {
			return []string{fmt.Sprintf("order: %s is not created then: the order is %s", wanted, strings.Join(created, ", "))}
		}
		at += found + 1
	}
	return nil
}

// compare compares an object.
func (o *Object) compare(at string, landscape *local.Landscape) []string {
	wanted := unstructured.Unstructured{Object: o.Object}
	label := fmt.Sprintf("%s: %s %s", at, wanted.GetKind(), wanted.GetName())
	var others []string
	for _, cluster := range landscape.Clusters() {
		if o.Cluster != "" && o.Cluster != cluster.Name {
			continue
		}
		for _, object := range cluster.Objects() {
			have := unstructured.Unstructured{Object: object}
			if have.GetKind() != wanted.GetKind() || have.GetName() != wanted.GetName() || wanted.GetNamespace() != "" && have.GetNamespace() != wanted.GetNamespace() {
				others = append(others, have.GetKind()+" "+have.GetName())
				continue
			}
			if o.Absent {
				return []string{label + " is there, and should not be"}
			}
			return o.compareFields(label, object)
		}
	}
	if o.Absent {
		return nil
	}
	return []string{fmt.Sprintf("%s does not exist: there are %s", label, strings.Join(others, ", "))}
}

func (o *Object) compareFields(label string, have map[string]any) (failures []string) {
	for _, text := range o.Conditions {
		condition, err := expression.Parse(text)
		if err != nil {
			failures = append(failures, fmt.Sprintf("%s: the condition %q: %v", label, text, err))
			continue
		}
		if holds, err := condition.Holds(have); err != nil {
			failures = append(failures, fmt.Sprintf("%s: the condition %q: %v", label, text, err))
		} else if !holds {
			failures = append(failures, fmt.Sprintf("%s: the condition %q does not hold", label, text))
		}
	}
	if o.Whole {
		return append(failures, whole(label, plain(o.Object), plain(reduced(have)))...)
	}
	return append(failures, part(label, plain(o.Object), plain(have))...)
}

// compare deletes the Installations, and compares what remains.
func (d *Deletion) compare(ctx context.Context, landscape *local.Landscape) ([]string, error) {
	if err := landscape.Delete(); err != nil {
		return nil, err
	}
	if !landscape.WaitDeleted(ctx) {
		return []string{"the deletion has not ended: " + describe(landscape)}, nil
	}
	remain := []string{}
	for _, cluster := range landscape.Clusters() {
		for _, object := range cluster.Objects() {
			if is := (unstructured.Unstructured{Object: object}); is.GetKind() != "Namespace" {
				remain = append(remain, is.GetKind()+" "+is.GetName())
			}
		}
	}
	slices.Sort(remain)
	wanted := slices.Sorted(slices.Values(d.Remain))
	if !slices.Equal(wanted, remain) {
		return []string{fmt.Sprintf("after the deletion: want %q, have %q", wanted, remain)}, nil
	}
	return nil, nil
}

// reduced is an object without what an API server and controllers add.
func reduced(object map[string]any) map[string]any {
	shown := unstructured.Unstructured{Object: object}
	kept := *shown.DeepCopy()
	for _, name := range []string{"uid", "resourceVersion", "creationTimestamp", "generation", "managedFields"} {
		unstructured.RemoveNestedField(kept.Object, "metadata", name)
	}
	labels := kept.GetLabels()
	for name := range labels {
		if strings.Contains(name, "deployer.landscaper.gardener.cloud") {
			delete(labels, name)
		}
	}
	if len(labels) == 0 {
		unstructured.RemoveNestedField(kept.Object, "metadata", "labels")
	} else {
		kept.SetLabels(labels)
	}
	delete(kept.Object, "status")
	return kept.Object
}

// normalised is a result in which nothing differs from one run to the next.
func normalised(result local.Result) map[string]any {
	clusters := map[string]any{}
	for _, cluster := range result.Clusters {
		objects := []any{}
		for _, object := range cluster.Objects {
			objects = append(objects, reduced(object))
		}
		clusters[cluster.Name] = objects
	}
	exports := map[string]any{}
	for _, export := range result.Exports {
		exports[export.Name] = export.Value
	}
	return map[string]any{"clusters": clusters, "exports": exports}
}

// plain returns a value as JSON decodes it.
func plain(value any) any {
	raw, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	var decoded any
	_ = json.Unmarshal(raw, &decoded) // it was just encoded
	return decoded
}

// part returns where a value lacks what is wanted; what it has more does not count.
func part(at string, wanted, have any) []string { return differences(at, wanted, have, false) }

// whole returns where two values differ.
func whole(at string, wanted, have any) []string {
	return differences(at, plain(wanted), plain(have), true)
}

func differences(at string, wanted, have any, exact bool) (all []string) {
	switch wanted := wanted.(type) {
	case map[string]any:
		fields, isMap := have.(map[string]any)
		if !isMap {
			break
		}
		for _, name := range slices.Sorted(maps.Keys(wanted)) {
			if inner, exists := fields[name]; exists {
				all = append(all, differences(at+"."+name, wanted[name], inner, exact)...)
			} else {
				all = append(all, fmt.Sprintf("%s.%s: want %s, it is missing", at, name, short(wanted[name])))
			}
		}
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			if _, known := wanted[name]; exact && !known {
				all = append(all, fmt.Sprintf("%s.%s: have %s, which is not wanted", at, name, short(fields[name])))
			}
		}
		return all
	case []any:
		list, isList := have.([]any)
		if !isList || len(list) != len(wanted) {
			break
		}
		for i := range wanted {
			all = append(all, differences(fmt.Sprintf("%s[%d]", at, i), wanted[i], list[i], exact)...)
		}
		return all
	default:
		if reflect.DeepEqual(wanted, have) {
			return nil
		}
	}
	return []string{fmt.Sprintf("%s: want %s, have %s", at, short(wanted), short(have))}
}

// short is a value in a message.
func short(value any) string {
	raw, _ := json.Marshal(value) // it was decoded
	const most = 300
	if len(raw) > most {
		return string(raw[:most]) + "..."
	}
	return string(raw)
}
