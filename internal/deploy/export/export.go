// Package export reads the values that an item exports from objects of clusters. It waits for each
// of them without polling. Values never appear in a message.
package export

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/internal/cluster/answerlimit"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/fieldpath"
	"go.landscaper.dev/internal/deploy/target"
	"go.landscaper.dev/internal/runtime/job"
)

// MaxValues is what the values that an item exports may take in memory together, as an estimate. They
// are stored in a Secret, which holds 1 MiB.
const MaxValues = 32 << 20

// TooLarge is the error about values that no Secret can hold.
func TooLarge(what string) error {
	return job.AsTerminal(fmt.Errorf("%s cannot be exported: an export is stored in a Secret, which holds 1 MiB; choose a smaller part of the object by jsonPath", what))
}

// Value is one value to export whose configuration was checked.
type Value struct {
	// Name is the key as it was written.
	Name string
	// TargetName names another Target, or is empty.
	TargetName string
	// Timeout limits the wait inside the time of the item; 0 if it does not.
	Timeout time.Duration

	key    fieldpath.Key
	source deployer.TypedObjectReference
	path   fieldpath.Path
	second *hop
}

// hop is where a further object has the value.
type hop struct {
	kind schema.GroupVersionKind
	path fieldpath.Path
}

// Compile checks a configuration.
func Compile(spec *deployer.Exports) ([]Value, error) {
	if spec == nil {
		return nil, nil
	}
	var values []Value
	for i, entry := range spec.Exports {
		value, err := compile(entry)
		if err != nil {
			return nil, fmt.Errorf("exports.exports[%d]: %w", i, err)
		}
		limit := entry.Timeout
		if limit == nil {
			limit = spec.DefaultTimeout
		}
		if limit != nil {
			if value.Timeout, err = limit.Parsed(); err != nil {
				return nil, fmt.Errorf("exports.exports[%d].timeout: %w", i, err)
			}
		}
		values = append(values, value)
	}
	return values, nil
}

// CheckGiven checks an export whose value is in a document that is there already.
func CheckGiven(entry deployer.Export) error {
	if _, err := fieldpath.ParseKey(entry.Key); err != nil {
		return fmt.Errorf("key: %w", err)
	}
	if _, err := fieldpath.Parse(entry.JSONPath); err != nil {
		return fmt.Errorf("jsonPath: %w", err)
	}
	return nil
}

// Given takes values from a document that is there already, as for example the values of a chart.
func Given(entries []deployer.Export, document map[string]any) (exports map[string]any, err error) {
	exports = map[string]any{}
	var size int64
	for _, entry := range entries {
		more, err := given(entry, document, exports)
		if err != nil {
			return nil, fmt.Errorf("export %s: %w", entry.Key, err)
		}
		if size += more; size > MaxValues {
			return nil, TooLarge("the values up to key " + entry.Key)
		}
	}
	return exports, nil
}

// given puts one value into a map of exports. It returns an estimate of its memory.
func given(entry deployer.Export, document, exports map[string]any) (size int64, err error) {
	key, err := fieldpath.ParseKey(entry.Key)
	if err != nil {
		return 0, fmt.Errorf("key: %w", err)
	}
	path, err := fieldpath.Parse(entry.JSONPath)
	if err != nil {
		return 0, fmt.Errorf("jsonPath: %w", err)
	}
	found, err := path.Find(document)
	if err != nil || len(found) == 0 {
		return 0, fmt.Errorf("there is no value at %s", path)
	}
	if size = answerlimit.SizeOfValue(found[0]); size <= MaxValues {
		key.Put(exports, runtime.DeepCopyJSONValue(found[0]))
	}
	return size, nil
}

func compile(entry deployer.Export) (Value, error) {
	value := Value{Name: entry.Key}
	var err error
	if value.key, err = fieldpath.ParseKey(entry.Key); err != nil {
		return value, fmt.Errorf("key: %w", err)
	}
	if value.path, err = fieldpath.Parse(entry.JSONPath); err != nil {
		return value, fmt.Errorf("jsonPath: %w", err)
	}
	from := entry.FromResource
	if from == nil {
		return value, errors.New("fromResource is missing: name the object that has the value")
	}
	if from.APIVersion == "" || from.Kind == "" || from.Name == "" {
		return value, errors.New("fromResource must have apiVersion, kind and name")
	}
	value.source = *from
	if entry.TargetName != nil {
		value.TargetName = *entry.TargetName
	}
	if ref := entry.FromObjectReference; ref != nil {
		if ref.APIVersion == "" || ref.Kind == "" {
			return value, errors.New("fromObjectRef must have apiVersion and kind")
		}
		path, err := fieldpath.Parse(ref.JSONPath)
		if err != nil {
			return value, fmt.Errorf("fromObjectRef.jsonPath: %w", err)
		}
		value.second = &hop{kind: schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind), path: path}
	}
	return value, nil
}

// Put stores the value in a map of exports.
func (v Value) Put(exports map[string]any, value any) { v.key.Put(exports, value) }

// Copy returns a map of exports to which others can be added.
func Copy(exports map[string]any) map[string]any {
	if exports == nil {
		return map[string]any{}
	}
	return runtime.DeepCopyJSON(exports)
}

// Reading waits for one value.
type Reading struct {
	value   Value
	cluster target.Cluster
	wake    func()

	first, second *target.Sight
	// kind is that of the first object.
	kind schema.GroupVersionKind
	// at is where the second sight looks.
	at   place
	done bool
	// awaited is the object that was read last, of which only the name is known; absent says that it
	// did not exist.
	awaited *unstructured.Unstructured
	absent  bool
	// nowhere says that the object has no namespace although its kind needs one.
	nowhere bool
	// result may be anything, also nil; size is an estimate of its memory.
	result any
	size   int64
	// places is how many places of objects the last look has come to.
	places int
}

type place struct{ namespace, name string }

// Begin begins to wait for a value on a cluster.
func (v Value) Begin(cluster target.Cluster, wake func()) *Reading {
	return &Reading{value: v, cluster: cluster, wake: wake}
}

// Look looks for the value. As long as it is not there it returns what is missing.
//
// The first look is a read. Only what is missing is watched, so that values which are there
// cost one request and no watch.
func (r *Reading) Look(ctx context.Context) (missing string, err error) {
	r.places = 0
	if r.done || ctx.Err() != nil {
		// What a watch knows costs no request that would notice the end.
		return "", ctx.Err()
	}
	if r.first == nil {
		mapping, err := r.mapping(ctx, schema.FromAPIVersionAndKind(r.value.source.APIVersion, r.value.source.Kind))
		if err != nil {
			return "", err
		}
		r.first = target.SightOf(r.cluster, mapping, r.value.source.Namespace, r.value.source.Name, r.wake)
		r.kind = mapping.GroupVersionKind
		r.nowhere = r.value.source.Namespace == "" && mapping.Scope.Name() == meta.RESTScopeNameNamespace
	}
	found, missing, err := r.look(ctx, r.first, r.value.path, r.named(r.kind, place{r.value.source.Namespace, r.value.source.Name}), r.source())
	if err != nil || missing != "" {
		return missing, err
	}
	if r.value.second != nil {
		if found, missing, err = r.hop(ctx, found); err != nil || missing != "" {
			return missing, err
		}
	}
	if r.size = answerlimit.SizeOfValue(found); r.size > MaxValues {
		return "", TooLarge(fmt.Sprintf("the value at %s of %s", r.value.path, r.source()))
	}
	r.done, r.result = true, runtime.DeepCopyJSONValue(found)
	r.Close()
	return "", nil
}

// hop looks for the value in the object that was named by the first one.
func (r *Reading) hop(ctx context.Context, reference any) (found any, missing string, err error) {
	at, ok := placeOf(reference, r.value.source.Namespace)
	if !ok {
		// The reference may still be written.
		return nil, fmt.Sprintf("a reference with a name at %s of %s", r.value.path, r.source()), follow(r.first)
	}
	if r.second != nil && r.at != at {
		r.second.Close()
		r.second = nil
	}
	if r.second == nil {
		mapping, err := r.mapping(ctx, r.value.second.kind)
		if err != nil {
			return nil, "", err
		}
		r.second, r.at = target.SightOf(r.cluster, mapping, at.namespace, at.name, r.wake), at
	}
	found, missing, err = r.look(ctx, r.second, r.value.second.path, r.named(r.value.second.kind, at), r.describe(r.value.second.kind.Kind, at.namespace, at.name))
	if missing != "" && err == nil {
		// The reference itself may change, too.
		err = follow(r.first)
	}
	return found, missing, err
}

// placeOf reads a reference to an object.
func placeOf(reference any, namespace string) (place, bool) {
	content, _ := reference.(map[string]any)
	name, _ := content["name"].(string)
	if own, _ := content["namespace"].(string); own != "" {
		namespace = own
	}
	return place{namespace, name}, name != ""
}

func (r *Reading) mapping(ctx context.Context, kind schema.GroupVersionKind) (*meta.RESTMapping, error) {
	mapping, err := r.cluster.Mapping(ctx, kind)
	if err != nil {
		return nil, fmt.Errorf("find kind %s%s: %w", kind.Kind, target.Place(r.cluster), err)
	}
	return mapping, nil
}

// look looks for a value in an object and follows the object while it is missing.
func (r *Reading) look(ctx context.Context, sight *target.Sight, path fieldpath.Path, named *unstructured.Unstructured, object string) (found any, missing string, err error) {
	r.awaited, r.absent = named, false
	objects, err := sight.Look(ctx)
	if err != nil {
		return nil, "", fmt.Errorf("read %s: %w", object, err)
	}
	if len(objects) == 0 {
		r.absent = true
		return nil, object, follow(sight)
	}
	r.places += path.Places(objects[0].Object)
	found, ok := first(objects[0], path)
	if !ok {
		return nil, fmt.Sprintf("a value at %s of %s", path, object), follow(sight)
	}
	why, err := worthless(ctx, r.cluster, objects[0])
	if err != nil {
		return nil, "", fmt.Errorf("look at what %s belongs to: %w", object, err)
	}
	if why != "" {
		return nil, fmt.Sprintf("a value at %s of %s that counts: %s", path, object, why), follow(sight)
	}
	return found, "", nil
}

// named is an object of which only the name is known.
func (r *Reading) named(kind schema.GroupVersionKind, at place) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	object.SetNamespace(at.namespace)
	object.SetName(at.name)
	return object
}

// Awaited is the object whose value is missing, by its name, and whether it does not exist;
// nil if nothing is missing, or if it is not known yet which object that is.
func (r *Reading) Awaited() (object *unstructured.Unstructured, absent bool) {
	if r.done {
		return nil, false
	}
	return r.awaited, r.absent
}

// Restart begins to wait for the same value, and ends this wait.
func (r *Reading) Restart() *Reading {
	r.Close()
	return r.value.Begin(r.cluster, r.wake)
}

// source names the object that has the value, or a reference to the one that has it.
func (r *Reading) source() string {
	from := r.value.source
	if r.nowhere {
		return r.describe(from.Kind, "", from.Name) + ", for which fromResource names no namespace"
	}
	return r.describe(from.Kind, from.Namespace, from.Name)
}

func (r *Reading) describe(kind, namespace, name string) string {
	return apply.Describe(kind, namespace, name) + target.Place(r.cluster)
}

func follow(sight *target.Sight) error { return sight.Follow() }

// first returns the first value at a path.
func first(object *unstructured.Unstructured, path fieldpath.Path) (any, bool) {
	values, err := path.Find(object.Object)
	if err != nil || len(values) == 0 {
		return nil, false
	}
	return values[0], true
}

// Size is what the value takes in memory once it was found, as an estimate.
func (r *Reading) Size() int64 { return r.size }

// Places is how many places of objects the last look has come to, as an estimate.
func (r *Reading) Places() int { return r.places }

// Result is the value once it was found.
func (r *Reading) Result() any { return r.result }

// Value is what is read.
func (r *Reading) Value() Value { return r.value }

// Close ends all watches.
func (r *Reading) Close() {
	for _, sight := range []*target.Sight{r.first, r.second} {
		if sight != nil {
			sight.Close()
		}
	}
}
