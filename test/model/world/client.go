package world

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"go.landscaper.dev/test/model/store"
)

// ErrLost is an answer that never arrived, and errDown a request that never did.
var (
	ErrLost = errors.New("read answer: connection reset by peer")
	ErrDown = errors.New("connection refused")
)

// connection is the client of one controller instance. It reads caches unless it is
// live; it is cut when the instance crashes.
type connection struct {
	client.Client // what no controller uses
	world         *World
	process       *Process
	live          bool
	// Metadata says that it reads the metadata of Secrets from a cache; no other one does.
	Metadata bool
	// lane is the controller that it is for, and answers what that has been answered.
	lane    string
	answers *answers
}

// Connect returns what a controller of the process reads and writes by, and what it asks the API
// server by.
func (w *World) Connect(lane string) (cached, live *connection) {
	known := newAnswers()
	w.answers[lane] = known
	cached = &connection{world: w, process: w.Process, lane: lane, answers: known}
	live = &connection{world: w, process: w.Process, lane: lane, answers: known, live: true}
	return cached, live
}

// cached reports whether a kind is read from a cache.
func (c *connection) cached(k store.Kind) bool {
	_, cached := c.world.Caches[k]
	return cached && !c.live && (k != "Secret" || c.Metadata)
}

// view returns what is read of a kind.
func (c *connection) view(k store.Kind) map[types.NamespacedName]client.Object {
	if c.cached(k) {
		return c.world.Caches[k]
	}
	return c.world.Store.Objects[k]
}

func (c *connection) reads(ctx context.Context, k store.Kind) error {
	if c.cached(k) {
		return nil
	}
	c.world.Counts.Reads++
	c.arrive()
	if c.process.silenced() || c.world.Fault(FaultDown) {
		return ErrDown
	}
	c.meanwhile()
	return ctx.Err()
}

// meanwhile is what others do while a request is on its way.
func (c *connection) meanwhile() {
	if w := c.world; !w.Calm && w.around.Acts() && w.Random.Float64() < w.Rates.Haste {
		w.Note("meanwhile")
		w.around.Act()
	}
}

// arrive lets other workers continue while a request is on its way, or between a read of a
// controller and its next step: an object that did not exist a moment ago may exist before that
// step, and others may have changed it.
func (c *connection) arrive() {
	p := c.process
	if p.deposed {
		p = c.world.Process // the other replica is at work
	}
	c.world.Others(p)
}

// Get implements client.Reader.
func (c *connection) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	k := store.KindOf(into)
	if err := c.reads(ctx, k); err != nil {
		return err
	}
	if c.live {
		c.checkQuestion(ctx, k, key)
	}
	defer c.arrive()
	found, ok := c.view(k)[key]
	if !ok {
		return apierrors.NewNotFound(store.Resource(k), key.Name)
	}
	var wanted client.GetOptions
	wanted.ApplyOptions(options)
	if shares(wanted.UnsafeDisableDeepCopy) && !c.live {
		reflect.ValueOf(into).Elem().Set(reflect.ValueOf(found).Elem())
		return nil
	}
	store.Give(into, found)
	return nil
}

// shares says that a reader gets what the cache has itself, without a copy.
func shares(withoutCopy *bool) bool { return withoutCopy != nil && *withoutCopy }

// List implements client.Reader.
func (c *connection) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if metadata, ok := list.(*metav1.PartialObjectMetadataList); ok {
		return c.listMetadata(ctx, metadata, options)
	}
	items := reflect.ValueOf(list).Elem().FieldByName("Items")
	one := reflect.New(items.Type().Elem()).Interface().(client.Object)
	if err := c.reads(ctx, store.KindOf(one)); err != nil {
		return err
	}
	defer c.arrive()
	var wanted client.ListOptions
	wanted.ApplyOptions(options)
	all := c.view(store.KindOf(one))
	keys := matching(all, &wanted)
	found := reflect.MakeSlice(items.Type(), len(keys), len(keys))
	for i, key := range keys {
		if shares(wanted.UnsafeDisableDeepCopy) && !c.live {
			found.Index(i).Set(reflect.ValueOf(all[key]).Elem())
			continue
		}
		found.Index(i).Set(reflect.ValueOf(all[key].DeepCopyObject()).Elem())
	}
	items.Set(found)
	return nil
}

// matching returns the keys of the objects that a list is to have, in their order.
func matching(all map[types.NamespacedName]client.Object, wanted *client.ListOptions) []types.NamespacedName {
	var keys []types.NamespacedName
	for key, object := range all {
		if matches(object, wanted) {
			keys = append(keys, key)
		}
	}
	store.SortKeys(keys)
	return keys
}

// listMetadata lists what all kinds have.
func (c *connection) listMetadata(ctx context.Context, list *metav1.PartialObjectMetadataList, options []client.ListOption) error {
	k := store.Kind(strings.TrimSuffix(list.Kind, "List"))
	if err := c.reads(ctx, k); err != nil {
		return err
	}
	var wanted client.ListOptions
	wanted.ApplyOptions(options)
	all := c.view(k)
	defer c.arrive()
	for _, key := range matching(all, &wanted) {
		metadata := reflect.ValueOf(all[key]).Elem().FieldByName("ObjectMeta").Addr().Interface().(*metav1.ObjectMeta)
		list.Items = append(list.Items, metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{Kind: string(k), APIVersion: list.APIVersion}, ObjectMeta: *metadata.DeepCopy()})
	}
	return nil
}

func matches(object client.Object, wanted *client.ListOptions) bool {
	if wanted.Namespace != "" && wanted.Namespace != object.GetNamespace() {
		return false
	}
	if wanted.LabelSelector != nil && !wanted.LabelSelector.Matches(labelsOf(object)) {
		return false
	}
	if wanted.FieldSelector != nil {
		for _, requirement := range wanted.FieldSelector.Requirements() {
			index, ok := indexes[requirement.Field]
			if !ok {
				panic(fmt.Sprintf("there is no index %q: add it to the model", requirement.Field))
			}
			if !slices.Contains(index(object), requirement.Value) {
				return false
			}
		}
	}
	return true
}

// write carries a request out, or loses it, or its answer.
func (c *connection) write(ctx context.Context, object client.Object, do func() error) (err error) {
	defer func() {
		if err != nil {
			c.world.around.Refused(object)
		}
	}()
	c.world.Counts.Writes++
	c.meanwhile()
	if c.world.Fault(FaultHandover) {
		c.world.depose(c.process)
	}
	c.arrive()
	defer c.arrive() // also before anybody sees the answer
	switch {
	case c.process.silenced() || c.world.Fault(FaultDown):
		return ErrDown
	case ctx.Err() != nil:
		return ctx.Err()
	case c.world.Fault(FaultStop):
		c.process.stop()
		return ctx.Err()
	case c.world.Fault(FaultCut):
		c.process.cut = true
		if c.world.Random.IntN(2) == 0 {
			_ = c.carryOut(do)
		}
		return ErrDown
	}
	if c.world.Fault(FaultConflict) && object.GetResourceVersion() != "" {
		return apierrors.NewConflict(store.Resource(store.KindOf(object)), object.GetName(), errors.New("another client was faster"))
	}
	if !c.world.Fault(FaultLost) {
		sent := object.GetResourceVersion()
		err := c.carryOut(do)
		c.checkAnswer(ctx, object, sent, err)
		return err
	}
	// The answer would change the object in memory; it never comes.
	before := object.DeepCopyObject().(client.Object)
	_ = c.carryOut(do)
	store.Give(object, before)
	return ErrLost
}

// carryOut lets the server carry a request out, and the model know whose it is.
func (c *connection) carryOut(do func() error) error {
	c.world.Writer = c.lane
	defer func() { c.world.Writer = "" }()
	return do()
}

// Create implements client.Writer.
func (c *connection) Create(ctx context.Context, object client.Object, _ ...client.CreateOption) error {
	return c.write(ctx, object, func() error {
		err := c.world.Store.Create(object)
		if err == nil && c.process.deposed {
			c.world.around.Replaced(object)
		}
		return err
	})
}

// Update implements client.Writer.
func (c *connection) Update(ctx context.Context, object client.Object, _ ...client.UpdateOption) error {
	return c.write(ctx, object, func() error { return c.world.Store.Update(object, false) })
}

// Delete implements client.Writer.
func (c *connection) Delete(ctx context.Context, object client.Object, options ...client.DeleteOption) error {
	var wanted client.DeleteOptions
	wanted.ApplyOptions(options)
	err := c.write(ctx, object, func() error { return c.world.Store.Remove(object, wanted.Preconditions) })
	if err == nil {
		c.noteDeleted(ctx, object)
	}
	return err
}

// Patch implements client.Writer.
func (c *connection) Patch(ctx context.Context, object client.Object, patch client.Patch, _ ...client.PatchOption) error {
	if patch.Type() != types.MergePatchType {
		panic(fmt.Sprintf("no controller uses patches of type %s: add them to the model", patch.Type()))
	}
	data, err := patch.Data(object)
	if err != nil {
		return err
	}
	return c.write(ctx, object, func() error { return c.world.Store.Patch(object, data) })
}

// Status implements client.StatusClient.
func (c *connection) Status() client.SubResourceWriter { return &statusWriter{connection: c} }

// statusWriter writes the status alone.
type statusWriter struct {
	client.SubResourceWriter // what no controller uses
	connection               *connection
}

// Update implements client.SubResourceWriter.
func (w *statusWriter) Update(ctx context.Context, object client.Object, _ ...client.SubResourceUpdateOption) error {
	w.connection.world.Counts.statusWrites++
	return w.connection.write(ctx, object, func() error { return w.connection.world.Store.Update(object, true) })
}

// Patch implements client.SubResourceWriter.
func (w *statusWriter) Patch(ctx context.Context, object client.Object, patch client.Patch, _ ...client.SubResourcePatchOption) error {
	w.connection.world.Counts.statusWrites++
	data, err := patch.Data(object)
	if err != nil {
		return err
	}
	return w.connection.write(ctx, object, func() error { return w.connection.world.Store.PatchStatus(object, data) })
}

// Scheme implements client.Client.
func (c *connection) Scheme() *runtime.Scheme { return scheme }

// RESTMapper implements client.Client.
func (c *connection) RESTMapper() meta.RESTMapper { return mapper }

// GroupVersionKindFor implements client.Client.
func (c *connection) GroupVersionKindFor(object runtime.Object) (gvk schemaKind, err error) {
	return apiutil.GVKForObject(object, scheme)
}

// IsObjectNamespaced implements client.Client.
func (c *connection) IsObjectNamespaced(runtime.Object) (bool, error) { return true, nil }
