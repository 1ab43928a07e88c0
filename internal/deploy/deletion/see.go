package deletion

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
)

// place is where one list shows objects.
type place struct{ resource, namespace string }

// see reads objects: several of one kind and namespace with one list by the label of the item.
// What a list does not show is read one by one.
func (d *Deletion) see(ctx context.Context, todo []*deletionObject) {
	at := map[place][]*deletionObject{}
	for _, object := range todo {
		if object.seen != nil || d.plan.Owner.Label == "" {
			continue
		}
		// A kind that cannot be found is reported when the object is deleted.
		if object.find(ctx) == nil && object.mapping != nil && !object.gone {
			where := place{object.mapping.Resource.String(), object.entry.Resource.Namespace}
			at[where] = append(at[where], object)
		}
	}
	for where, objects := range at {
		if len(objects) < 2 {
			continue
		}
		live, err := objects[0].cluster.List(ctx, objects[0].mapping, where.namespace, labels.Set{d.plan.Owner.Label: d.plan.Owner.Name})
		if err != nil {
			// A client without the right to list may still read one object.
			continue
		}
		byName := make(map[string]*unstructured.Unstructured, len(live))
		for _, object := range live {
			byName[object.GetName()] = object
		}
		for _, object := range objects {
			object.seen = byName[object.entry.Resource.Name]
		}
	}
}
