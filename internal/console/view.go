package console

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/inspect"
)

// Installations are what a visitor must be allowed to list in a namespace to see anything of it.
var Installations = resource("installations")

var (
	executions    = resource("executions")
	deployItems   = resource("deployitems")
	targetSyncsOf = resource(targetSyncs)
	// values are by the kinds that they have in a snapshot.
	values = map[string]schema.GroupResource{"DataObject": resource("dataobjects"), "Target": resource("targets")}
	events = corev1.Resource("events")
)

func resource(name string) schema.GroupResource {
	return v1alpha1.GroupVersion.WithResource(name).GroupResource()
}

// Parts are what a visitor may be allowed to list besides the Installations of a namespace.
func Parts() []schema.GroupResource {
	return []schema.GroupResource{executions, deployItems, values["DataObject"], values["Target"], targetSyncsOf, events}
}

var errHidden = errors.New("you may not")

// View is what a visitor may list. Its zero value is nothing.
type View struct {
	unrestricted bool
	allowed      map[place]bool
}

// place is a resource in a namespace, or in all if it is empty.
type place struct {
	resource  schema.GroupResource
	namespace string
}

// Unrestricted is the view of a user with whose rights everything was read.
func Unrestricted() View { return View{unrestricted: true} }

// Allow adds a resource in a namespace, or in all if it is empty.
func (v *View) Allow(resource schema.GroupResource, namespace string) {
	if v.allowed == nil {
		v.allowed = map[place]bool{}
	}
	v.allowed[place{resource, namespace}] = true
}

// Sees reports whether a resource of a namespace may be listed.
func (v View) Sees(resource schema.GroupResource, namespace string) bool {
	return v.unrestricted || v.allowed[place{resource, ""}] || namespace != "" && v.allowed[place{resource, namespace}]
}

// key is the same for views that show the same.
func (v View) key() string {
	if v.unrestricted {
		return "*"
	}
	var places []string
	for allowed := range v.allowed {
		// What is allowed everywhere is allowed in each namespace.
		if allowed.namespace == "" || !v.allowed[place{allowed.resource, ""}] {
			places = append(places, allowed.resource.String()+" "+allowed.namespace)
		}
	}
	slices.Sort(places)
	return strings.Join(places, "\n")
}

// of returns what is seen of a snapshot. What it does not name is not seen: a new kind of a snapshot
// has to be added here.
func (v View) of(snapshot inspect.Snapshot) inspect.Snapshot {
	if v.unrestricted {
		return snapshot
	}
	seen := inspect.Snapshot{
		Now:           snapshot.Now,
		Installations: seenOf(v, snapshot.Installations, func(*v1alpha1.Installation) schema.GroupResource { return Installations }),
		Executions:    seenOf(v, snapshot.Executions, func(*v1alpha1.Execution) schema.GroupResource { return executions }),
		DeployItems:   seenOf(v, snapshot.DeployItems, func(*v1alpha1.DeployItem) schema.GroupResource { return deployItems }),
		TargetSyncs:   seenOf(v, snapshot.TargetSyncs, func(*v1alpha1.TargetSync) schema.GroupResource { return targetSyncsOf }),
		Events:        seenOf(v, snapshot.Events, func(*corev1.Event) schema.GroupResource { return events }),
		Values:        seenOf(v, snapshot.Values, func(value *metav1.PartialObjectMetadata) schema.GroupResource { return values[value.Kind] }),
	}
	seen.Unreadable = append(slices.Clone(snapshot.Unreadable), v.hidden(namespaces(seen))...)
	return seen
}

// seenOf keeps what may be listed. In a namespace whose Installations are hidden, all is hidden.
func seenOf[T metav1.Object](v View, objects []T, resource func(T) schema.GroupResource) []T {
	var seen []T
	for _, object := range objects {
		if v.Sees(Installations, object.GetNamespace()) && v.Sees(resource(object), object.GetNamespace()) {
			seen = append(seen, object)
		}
	}
	return seen
}

// hidden says what the view lacks in namespaces whose Installations it has.
func (v View) hidden(namespaces []string) []*inspect.ReadError {
	var hidden []*inspect.ReadError
	for _, part := range Parts() {
		in := slices.DeleteFunc(slices.Clone(namespaces), func(namespace string) bool { return v.Sees(part, namespace) })
		switch len(in) {
		case 0:
		case 1:
			hidden = append(hidden, &inspect.ReadError{Resource: part, Namespace: in[0], Err: errHidden})
		default:
			hidden = append(hidden, &inspect.ReadError{Resource: part, Err: fmt.Errorf("%w in %s", errHidden, list(in))})
		}
	}
	return hidden
}

// list names some, and how many others there are.
func list(names []string) string {
	const most = 5
	if more := len(names) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), more)
	}
	return strings.Join(names, ", ")
}

// namespaces are those that a snapshot has Installations in.
func namespaces(snapshot inspect.Snapshot) []string {
	found := map[string]bool{}
	var names []string
	for _, installation := range snapshot.Installations {
		if !found[installation.Namespace] {
			found[installation.Namespace] = true
			names = append(names, installation.Namespace)
		}
	}
	slices.Sort(names)
	return names
}
