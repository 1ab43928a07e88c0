package rollout

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/export"
	"go.landscaper.dev/internal/deploy/target"
	"go.landscaper.dev/internal/landscape/diff"
)

// Forecast is what a deployment of an item would bring.
type Forecast struct {
	// Objects are those of the item, also those that stay as they are.
	Objects []diff.Object
	// Expected are objects that the item wants to exist, although they do not belong to it, as far as
	// its object does not say so.
	Expected []corev1.ObjectReference
	// Exports are the values that the item would export; nil without exports.
	Exports map[string]any
	// Unknown says why only a job can tell the exports; nil if they are known.
	Unknown error
}

// Outlook is what is known besides the item and its cluster.
type Outlook interface {
	// ClusterOf returns the cluster of another Target of the item's namespace.
	ClusterOf(ctx context.Context, targetName string) (target.Cluster, error)
	// Planned returns what the same job makes of an object before the item exports
	// anything; false if nothing.
	Planned(on target.Cluster, object corev1.ObjectReference) (diff.Object, bool)
	// Yields reports whether another item of the namespace, the holder, gives an object up.
	Yields(holder string, object corev1.ObjectReference) bool
	// IsTerminating reports whether another item of the namespace is being deleted.
	IsTerminating(item string) bool
	// IsNeighbor reports whether another item of the namespace exists.
	IsNeighbor(item string) bool
}

// read works out the values that an item would export.
func (f *Forecast) read(ctx context.Context, cluster target.Cluster, desiredState DesiredState, outlook Outlook) {
	if desiredState.Exports == nil {
		return
	}
	values := export.Copy(desiredState.Given)
	for _, object := range f.Objects {
		if object.Unknown != "" && !object.Beside && len(desiredState.Exports) > 0 {
			f.Unknown = fmt.Errorf("the item may not get as far as its exports: %s: %s", apply.Describe(object.Kind, object.Namespace, object.Name), object.Unknown)
			return
		}
	}
	for _, value := range desiredState.Exports {
		on := cluster
		if value.TargetName != "" {
			other, err := outlook.ClusterOf(ctx, value.TargetName)
			if err != nil {
				f.Unknown = fmt.Errorf("export %s: %w", value.Name, err)
				return
			}
			on = other
		}
		found, err := value.Predict(ctx, sources{forecast: f, own: cluster, on: on, outlook: outlook})
		if err != nil {
			f.Unknown = fmt.Errorf("export %s: %w", value.Name, err)
			return
		}
		value.Put(values, found)
	}
	f.Exports = values
}

// sources are the objects that exports are read from, as they would be.
type sources struct {
	forecast *Forecast
	own, on  target.Cluster
	outlook  Outlook
}

// Find implements export.Sources.
func (s sources) Find(ctx context.Context, object corev1.ObjectReference, at func(map[string]any) (any, bool), path string) (any, error) {
	if planned, ok := s.planned(object); ok {
		return valueOf(planned, at, path)
	}
	mapping, err := s.on.Mapping(ctx, schema.FromAPIVersionAndKind(object.APIVersion, object.Kind))
	if err != nil {
		return nil, fmt.Errorf("find kind %s: %w", object.Kind, err)
	}
	live, err := s.on.Get(ctx, mapping, object.Namespace, object.Name)
	name := apply.Describe(object.Kind, object.Namespace, object.Name)
	if apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("there is no %s yet", name)
	}
	if err != nil {
		return nil, fmt.Errorf("look at %s: %w", name, err)
	}
	if value, ok := at(live.Object); ok {
		return value, nil
	}
	return nil, fmt.Errorf("there is no value at %s of %s yet", path, name)
}

// planned is what the item itself, or another one before it, makes of an object.
func (s sources) planned(reference corev1.ObjectReference) (diff.Object, bool) {
	if s.own.Server() == s.on.Server() {
		for _, object := range s.forecast.Objects {
			if same(object, reference) && (object.Before != nil || object.After != nil) {
				return object, true
			}
		}
	}
	return s.outlook.Planned(s.on, reference)
}

func same(object diff.Object, reference corev1.ObjectReference) bool {
	return apply.Same(corev1.ObjectReference{APIVersion: object.APIVersion, Kind: object.Kind, Namespace: object.Namespace, Name: object.Name}, reference)
}

// valueOf is a value of an object after its change, if that is known.
func valueOf(object diff.Object, at func(map[string]any) (any, bool), path string) (any, error) {
	name := apply.Describe(object.Kind, object.Namespace, object.Name)
	switch {
	case object.Unknown != "":
		return nil, errors.New(name + ": " + object.Unknown)
	case object.After == nil:
		return nil, errors.New(name + " is deleted in the same job")
	case object.Before == nil, object.Replaced:
		if value, ok := at(decoded(object.Applied)); ok {
			return value, nil
		}
		return nil, fmt.Errorf("only the creation of %s shows what is at %s", name, path)
	}
	before, there := at(object.Before)
	if diff.Of(object, nil).Action == diff.Keep {
		if there {
			return before, nil
		}
		return nil, fmt.Errorf("there is no value at %s of %s yet", path, name)
	}
	if reported(path) {
		return nil, fmt.Errorf("%s changes, and only then is it known what is at %s", name, path)
	}
	if after, ok := at(object.Applied); ok {
		return after, nil
	}
	return nil, fmt.Errorf("there is no value at %s of %s yet", path, name)
}

// reported reports whether a value changes with others: what a controller reports, and the version
// of an object.
func reported(path string) bool {
	path = strings.TrimPrefix(strings.Trim(path, "{}"), ".")
	for _, field := range []string{"status", "metadata.resourceVersion", "metadata.generation", "metadata.managedFields"} {
		if path == field || strings.HasPrefix(path, field+".") || strings.HasPrefix(path, field+"[") {
			return true
		}
	}
	return false
}

// decoded puts the texts of a new Secret where an API server stores them.
func decoded(object map[string]any) map[string]any {
	texts, ok := object["stringData"].(map[string]any)
	if !ok || object["kind"] != "Secret" || object["apiVersion"] != "v1" {
		return object
	}
	copied := runtime.DeepCopyJSON(object)
	data, _ := copied["data"].(map[string]any)
	if data == nil {
		data = map[string]any{}
	}
	for key, text := range texts {
		if text, ok := text.(string); ok {
			data[key] = base64.StdEncoding.EncodeToString([]byte(text))
		}
	}
	copied["data"] = data
	delete(copied, "stringData")
	return copied
}
