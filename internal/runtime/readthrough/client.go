package readthrough

import (
	"context"
	"fmt"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// maxList bounds the values of a list that are read from the API server, because a list holds all of
// them at the same time.
const maxList = 64 << 20

// NewClient makes a client on the caches that reads from the API server what Transform has left out.
func NewClient(config *rest.Config, options client.Options) (client.Client, error) {
	cached, err := client.New(config, options)
	if err != nil {
		return nil, err // says what is missing
	}
	options.Cache = nil
	live, err := client.New(config, options)
	if err != nil {
		return nil, err // says what is missing
	}
	return New(cached, live), nil
}

// New returns a client that reads from the API server what Transform has left out of the objects of a
// cache.
func New(cached client.Client, live client.Reader) client.Client {
	return &through{Client: cached, live: live}
}

// AsCached is an option for lists of which only the names, labels and owners are used: large values
// stay left out.
var AsCached asCached

type asCached struct{}

// ApplyToList implements client.ListOption.
func (asCached) ApplyToList(*client.ListOptions) {}

// through is a client on caches.
type through struct {
	client.Client
	live client.Reader
}

// Get implements client.Reader.
func (t *through) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	if err := t.Client.Get(ctx, key, into, options...); err != nil || !Omitted(into) {
		return err // the caller says what was read
	}
	return t.complete(ctx, into)
}

// complete reads an object from the API server. Its version may be newer than that of the cache.
func (t *through) complete(ctx context.Context, object client.Object) error {
	key := client.ObjectKeyFromObject(object)
	// An object of a cache may share its maps with it, and decoding writes into them.
	value := reflect.ValueOf(object).Elem()
	value.Set(reflect.Zero(value.Type()))
	if err := t.live.Get(ctx, key, object); err != nil {
		return err // the caller says what was read
	}
	object.SetManagedFields(nil)
	return nil
}

// List implements client.Reader. An object that was deleted meanwhile is left out.
func (t *through) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if err := t.Client.List(ctx, list, options...); err != nil {
		return err // the caller says what was read
	}
	for _, option := range options {
		if option == client.ListOption(AsCached) {
			return nil
		}
	}
	switch list.(type) {
	case *v1alpha1.DataObjectList, *v1alpha1.TargetList:
		return t.completeAll(ctx, list)
	}
	return nil
}

func (t *through) completeAll(ctx context.Context, list client.ObjectList) error {
	var kept []runtime.Object
	size, dropped := 0, false
	err := meta.EachListItem(list, func(item runtime.Object) error {
		object, ok := item.(client.Object)
		if !ok || !Omitted(object) {
			kept = append(kept, item)
			return nil
		}
		name := object.GetName()
		switch err := t.complete(ctx, object); {
		case apierrors.IsNotFound(err):
			dropped = true
			return nil
		case err != nil:
			return err // the caller says what was read
		}
		if size += sizeOfValue(object); size > maxList {
			return fmt.Errorf("the objects up to %s are larger than %d MiB together: delete those that are not needed", name, maxList>>20)
		}
		kept = append(kept, item)
		return nil
	})
	if err != nil || !dropped {
		return err // says what is too large; otherwise the caller says what was read
	}
	return meta.SetList(list, kept)
}

func sizeOfValue(object client.Object) int {
	size := sizeOf(object.GetAnnotations())
	switch object := object.(type) {
	case *v1alpha1.DataObject:
		size += len(object.Data.RawMessage)
	case *v1alpha1.Target:
		if object.Spec.Configuration != nil {
			size += len(object.Spec.Configuration.RawMessage)
		}
	}
	return size
}

// Update implements client.Writer. An object without its value must never replace the one with it.
func (t *through) Update(ctx context.Context, object client.Object, options ...client.UpdateOption) error {
	if err := refuse(object); err != nil {
		return err
	}
	return t.Client.Update(ctx, object, options...) // the caller says what is written
}

// Patch implements client.Writer.
func (t *through) Patch(ctx context.Context, object client.Object, patch client.Patch, options ...client.PatchOption) error {
	if err := refuse(object); err != nil {
		return err
	}
	return t.Client.Patch(ctx, object, patch, options...) // the caller says what is written
}

func refuse(object client.Object) error {
	if Omitted(object) {
		return fmt.Errorf("%s was read without its value, and must not be written: this is a bug of Landscaper", object.GetName())
	}
	return nil
}
