package inspect

import (
	"fmt"
	"reflect"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/api/v1alpha1"
)

// Snapshot holds the objects of a namespace, or of all, at one time.
type Snapshot struct {
	// Installations are the Installations.
	Installations []*v1alpha1.Installation
	// Executions are the Executions.
	Executions []*v1alpha1.Execution
	// DeployItems are the DeployItems.
	DeployItems []*v1alpha1.DeployItem
	// Events are the events, if the caller has asked for them.
	Events []*corev1.Event
	// Values are DataObjects and Targets without what they hold, if the caller has asked for them.
	Values []*metav1.PartialObjectMetadata
	// TargetSyncs are the TargetSyncs, if the caller has asked for them.
	TargetSyncs []*v1alpha1.TargetSync
	// Now is when the objects were read by those who look again and again; zero for a single look.
	Now time.Time
	// Unreadable lists the kinds that the reader may not see. Everything that is made from the
	// snapshot lacks them.
	Unreadable []*ReadError
}

// ReadError is the failure to read the objects of one kind.
type ReadError struct {
	// Resource is the kind, as a resource of the API.
	Resource schema.GroupResource
	// Namespace is where it was looked for; empty means everywhere.
	Namespace string
	// Err is the cause.
	Err error
}

// Error implements error.
func (e *ReadError) Error() string {
	if e.Namespace == "" {
		return fmt.Sprintf("list %s in all namespaces: %v", e.Resource, e.Err)
	}
	return fmt.Sprintf("list %s in namespace %s: %v", e.Resource, e.Namespace, e.Err)
}

// Unwrap returns the cause.
func (e *ReadError) Unwrap() error { return e.Err }

// Add takes an object into the snapshot, and sets its kind, which lists and watches leave out and
// printers need.
func (s *Snapshot) Add(object runtime.Object) error {
	switch object := object.(type) {
	case *v1alpha1.Installation:
		object.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(string(KindInstallation)))
		s.Installations = append(s.Installations, object)
	case *v1alpha1.Execution:
		object.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(string(KindExecution)))
		s.Executions = append(s.Executions, object)
	case *v1alpha1.DeployItem:
		object.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(string(KindDeployItem)))
		s.DeployItems = append(s.DeployItems, object)
	case *v1alpha1.TargetSync:
		object.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("TargetSync"))
		s.TargetSyncs = append(s.TargetSyncs, object)
	case *corev1.Event:
		s.Events = append(s.Events, object)
	case *metav1.PartialObjectMetadata:
		s.Values = append(s.Values, object)
	default:
		return fmt.Errorf("a snapshot takes no objects of kind %s", reflect.Indirect(reflect.ValueOf(object)).Type().Name())
	}
	return nil
}
