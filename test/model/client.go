package model

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

func now() metav1.Time { return metav1.NewTime(time.Now().Truncate(time.Second)) }

// errLost is an answer that never arrived, and errDown a request that never did.
var (
	errLost = errors.New("read answer: connection reset by peer")
	errDown = errors.New("connection refused")
)

// connection is the client of one controller instance. It reads caches unless it is
// live; it is cut when the instance crashes.
type connection struct {
	client.Client // what no controller uses
	world         *world
	process       *process
	live          bool
	// metadata says that it reads the metadata of Secrets from a cache; no other one does.
	metadata bool
	// lane is the controller that it is for, and answers what that has been answered.
	lane    string
	answers *answers
}

// connect returns what a controller of the process reads and writes by, and what it asks the API
// server by.
func (w *world) connect(lane string) (cached, live *connection) {
	known := newAnswers()
	w.answers[lane] = known
	cached = &connection{world: w, process: w.process, lane: lane, answers: known}
	live = &connection{world: w, process: w.process, lane: lane, answers: known, live: true}
	return cached, live
}

// process ends with a crash. Code that still runs in it afterwards reaches no server.
type process struct {
	ctx  context.Context
	stop context.CancelFunc
	cut  bool
	// deposed says that another replica leads, which this one does not know yet, and left how many
	// requests it still makes.
	deposed bool
	left    int
}

func (w *world) newProcess() *process {
	ctx, stop := context.WithCancel(log.IntoContext(context.Background(), logr.New(logs{world: w})))
	return &process{ctx: ctx, stop: stop}
}

func (p *process) ended() bool { return p.cut || p.deposed || p.ctx.Err() != nil }

// depose lets another replica begin to lead while a request of this one is on its way. What this one
// does before it notices that reaches the server, among the requests of the other.
func (w *world) depose(p *process) {
	if p != w.process || p.ended() {
		return
	}
	w.note("another replica leads")
	p.deposed, p.left = true, w.random.IntN(4)
	w.counts.handovers++
	w.boot()
}

// silenced reports whether a request of a process reaches no server any more.
func (p *process) silenced() bool {
	if p.deposed && !p.cut {
		p.left--
		p.cut = p.left < 0
	}
	return p.cut
}

// cached reports whether a kind is read from a cache.
func (c *connection) cached(k kind) bool {
	_, cached := c.world.caches[k]
	return cached && !c.live && (k != "Secret" || c.metadata)
}

// view returns what is read of a kind.
func (c *connection) view(k kind) map[types.NamespacedName]client.Object {
	if c.cached(k) {
		return c.world.caches[k]
	}
	return c.world.store.objects[k]
}

func (c *connection) reads(ctx context.Context, k kind) error {
	if c.cached(k) {
		return nil
	}
	c.world.counts.reads++
	c.arrive()
	if c.process.silenced() || c.world.fault(faultDown) {
		return errDown
	}
	c.meanwhile()
	return ctx.Err()
}

// meanwhile is what others do while a request is on its way.
func (c *connection) meanwhile() {
	if w := c.world; !w.calm && w.users.left > 0 && w.random.Float64() < w.rates.haste {
		w.note("meanwhile")
		w.users.act()
	}
}

// arrive lets other workers continue while a request is on its way, or between a read of a
// controller and its next step: an object that did not exist a moment ago may exist before that
// step, and others may have changed it.
func (c *connection) arrive() {
	p := c.process
	if p.deposed {
		p = c.world.process // the other replica is at work
	}
	c.world.others(p)
}

// Get implements client.Reader.
func (c *connection) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	k := kindOf(into)
	if err := c.reads(ctx, k); err != nil {
		return err
	}
	if c.live {
		c.checkQuestion(ctx, k, key)
	}
	defer c.arrive()
	found, ok := c.view(k)[key]
	if !ok {
		return apierrors.NewNotFound(resource(k), key.Name)
	}
	var wanted client.GetOptions
	wanted.ApplyOptions(options)
	if shares(wanted.UnsafeDisableDeepCopy) && !c.live {
		reflect.ValueOf(into).Elem().Set(reflect.ValueOf(found).Elem())
		return nil
	}
	give(into, found)
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
	if err := c.reads(ctx, kindOf(one)); err != nil {
		return err
	}
	defer c.arrive()
	var wanted client.ListOptions
	wanted.ApplyOptions(options)
	all := c.view(kindOf(one))
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
	sortKeys(keys)
	return keys
}

// listMetadata lists what all kinds have.
func (c *connection) listMetadata(ctx context.Context, list *metav1.PartialObjectMetadataList, options []client.ListOption) error {
	k := kind(strings.TrimSuffix(list.Kind, "List"))
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
		if err != nil && object.GetName() == accessName {
			c.world.excuseRotation()
		}
	}()
	c.world.counts.writes++
	c.meanwhile()
	if c.world.fault(faultHandover) {
		c.world.depose(c.process)
	}
	c.arrive()
	defer c.arrive() // also before anybody sees the answer
	switch {
	case c.process.silenced() || c.world.fault(faultDown):
		return errDown
	case ctx.Err() != nil:
		return ctx.Err()
	case c.world.fault(faultStop):
		c.process.stop()
		return ctx.Err()
	case c.world.fault(faultCut):
		c.process.cut = true
		if c.world.random.IntN(2) == 0 {
			_ = c.carryOut(do)
		}
		return errDown
	}
	if c.world.fault(faultConflict) && object.GetResourceVersion() != "" {
		return apierrors.NewConflict(resource(kindOf(object)), object.GetName(), errors.New("another client was faster"))
	}
	if !c.world.fault(faultLost) {
		sent := object.GetResourceVersion()
		err := c.carryOut(do)
		c.checkAnswer(ctx, object, sent, err)
		return err
	}
	// The answer would change the object in memory; it never comes.
	before := object.DeepCopyObject().(client.Object)
	_ = c.carryOut(do)
	give(object, before)
	return errLost
}

// carryOut lets the server carry a request out, and the model know whose it is.
func (c *connection) carryOut(do func() error) error {
	c.world.writer = c.lane
	defer func() { c.world.writer = "" }()
	return do()
}

// Create implements client.Writer.
func (c *connection) Create(ctx context.Context, object client.Object, _ ...client.CreateOption) error {
	return c.write(ctx, object, func() error {
		err := c.world.store.create(object)
		if err == nil && c.process.deposed {
			c.world.seed.late[object.GetUID()] = true
		}
		return err
	})
}

// Update implements client.Writer.
func (c *connection) Update(ctx context.Context, object client.Object, _ ...client.UpdateOption) error {
	return c.write(ctx, object, func() error { return c.world.store.update(object, false) })
}

// Delete implements client.Writer.
func (c *connection) Delete(ctx context.Context, object client.Object, options ...client.DeleteOption) error {
	var wanted client.DeleteOptions
	wanted.ApplyOptions(options)
	err := c.write(ctx, object, func() error { return c.world.store.remove(object, wanted.Preconditions) })
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
	return c.write(ctx, object, func() error { return c.world.store.patch(object, data) })
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
	w.connection.world.counts.statusWrites++
	return w.connection.write(ctx, object, func() error { return w.connection.world.store.update(object, true) })
}

// Patch implements client.SubResourceWriter.
func (w *statusWriter) Patch(ctx context.Context, object client.Object, patch client.Patch, _ ...client.SubResourcePatchOption) error {
	w.connection.world.counts.statusWrites++
	data, err := patch.Data(object)
	if err != nil {
		return err
	}
	return w.connection.write(ctx, object, func() error { return w.connection.world.store.patchStatus(object, data) })
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
