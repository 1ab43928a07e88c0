package reading

import (
	"context"
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/pager"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/inspect"
)

// Source is a kind of objects in a snapshot.
type Source struct {
	version  schema.GroupVersion
	kind     inspect.Kind
	resource string
	newList  func() client.ObjectList
	newOne   func() client.Object
	// optional says that a cluster may not have the kind.
	optional bool
}

// Events makes the events of a namespace a part of a snapshot.
var Events = Source{
	version: corev1.SchemeGroupVersion, kind: "Event", resource: "events",
	newList: func() client.ObjectList { return &corev1.EventList{} }, newOne: func() client.Object { return &corev1.Event{} },
}

// TargetSyncs makes the TargetSyncs of a namespace a part of a snapshot, where there is the kind.
var TargetSyncs = Source{
	version: v1alpha1.GroupVersion, kind: "TargetSync", resource: "targetsyncs", optional: true,
	newList: func() client.ObjectList { return &v1alpha1.TargetSyncList{} }, newOne: func() client.Object { return &v1alpha1.TargetSync{} },
}

// Values makes DataObjects and Targets a part of a snapshot: their metadata only. What they hold may
// be secret, and is never asked for.
var Values = []Source{metadata("DataObject", "dataobjects"), metadata("Target", "targets")}

func metadata(kind inspect.Kind, resource string) Source {
	return Source{
		version: v1alpha1.GroupVersion, kind: kind, resource: resource,
		newList: func() client.ObjectList {
			list := &metav1.PartialObjectMetadataList{}
			list.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(string(kind) + "List"))
			return list
		},
		newOne: func() client.Object { return &metav1.PartialObjectMetadata{} },
	}
}

// hides reports that an error only says that the snapshot lacks a kind: the reader may not see it, or the
// cluster does not have it.
func (s Source) hides(err error) bool {
	return apierrors.IsForbidden(err) && s.kind != inspect.KindInstallation || s.optional && (apierrors.IsNotFound(err) || meta.IsNoMatchError(err))
}

func (s Source) groupResource() schema.GroupResource {
	return s.version.WithResource(s.resource).GroupResource()
}

// sources are the three kinds of every snapshot.
var sources = []Source{
	{version: v1alpha1.GroupVersion, kind: inspect.KindInstallation, resource: "installations", newList: func() client.ObjectList { return &v1alpha1.InstallationList{} }, newOne: func() client.Object { return &v1alpha1.Installation{} }},
	{version: v1alpha1.GroupVersion, kind: inspect.KindExecution, resource: "executions", newList: func() client.ObjectList { return &v1alpha1.ExecutionList{} }, newOne: func() client.Object { return &v1alpha1.Execution{} }},
	{version: v1alpha1.GroupVersion, kind: inspect.KindDeployItem, resource: "deployitems", newList: func() client.ObjectList { return &v1alpha1.DeployItemList{} }, newOne: func() client.Object { return &v1alpha1.DeployItem{} }},
}

// Collect reads a snapshot of a namespace, or of all if it is empty, with one list per kind. A user
// with rights to Installations only gets a snapshot of those. More sources are read besides the
// three kinds of every snapshot.
//
// The lists are of different moments, so that a child may be ahead of its parent.
func Collect(ctx context.Context, reader client.Reader, namespace string, more ...Source) (inspect.Snapshot, error) {
	sources := slices.Concat(sources, more)
	lists := make([]runtime.Object, len(sources))
	failures := make([]error, len(sources))
	var group sync.WaitGroup
	for i := range sources {
		group.Go(func() { lists[i], failures[i] = sources[i].list(ctx, reader, namespace) })
	}
	group.Wait()

	var snapshot inspect.Snapshot
	for i, source := range sources {
		if err := failures[i]; err != nil {
			failure := &inspect.ReadError{Resource: source.groupResource(), Namespace: namespace, Err: err}
			if !source.hides(err) {
				return inspect.Snapshot{}, failure
			}
			snapshot.Unreadable = append(snapshot.Unreadable, failure)
			continue
		}
		if err := meta.EachListItem(lists[i], snapshot.Add); err != nil {
			return inspect.Snapshot{}, fmt.Errorf("read the list of %s: %w", source.resource, err)
		}
	}
	return snapshot, nil
}

// pageSize is the number of objects in an answer: a usual landscape comes in one, and
// none is so large that the API server suffers.
const pageSize = 2500

// list reads in pages, so that a large landscape does not burden the API server.
func (s Source) list(ctx context.Context, reader client.Reader, namespace string) (runtime.Object, error) {
	pages := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		list := s.newList()
		return list, reader.List(ctx, list, listOptions(namespace, options))
	})
	pages.PageSize = pageSize
	list, _, err := pages.List(ctx, metav1.ListOptions{})
	return list, err
}

func listOptions(namespace string, options metav1.ListOptions) *client.ListOptions {
	return &client.ListOptions{Namespace: namespace, Limit: options.Limit, Continue: options.Continue, Raw: &options}
}
